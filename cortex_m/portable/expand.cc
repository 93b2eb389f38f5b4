// Repetition: expand repeats dimensions of size 1, repeat repeats any.

#include "cortex_m/portable/broadcast.h"
#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {

using namespace portable;

// An entry of -1 in `size` keeps the size of that dimension.
Status aten::expand_copy_out(KernelContext&, const Tensor& self, IntList size, bool, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (size.size != out.rank || self.rank > out.rank) return Refuse(kWrongOutSizes);
  const int missing = out.rank - self.rank;
  for (int i = 0; i < out.rank; ++i) {
    int64_t wanted = size[static_cast<size_t>(i)];
    if (wanted == -1 && i >= missing) wanted = self.sizes[i - missing];
    if (wanted != out.sizes[i]) return Refuse(kWrongOutSizes);
  }
  int32_t strides[kMaxRank];
  if (!BroadcastStrides(self, out.sizes, out.rank, strides)) {
    return Refuse("only dimensions of size 1 can be expanded");
  }
  CopyInto(out, self.data, 0, strides);
  return Status();
}

Status aten::repeat_out(KernelContext&, const Tensor& self, IntList repeats, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (repeats.size != out.rank || self.rank > out.rank) return Refuse("repeats must have an entry for each dimension");
  int32_t self_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  StridesOf(self, self_strides);
  StridesOf(out, out_strides);
  const int missing = out.rank - self.rank;
  for (int i = 0; i < out.rank; ++i) {
    const int64_t size = i < missing ? 1 : self.sizes[i - missing];
    const int64_t times = repeats[static_cast<size_t>(i)];
    if (!FitsInt32(times) || times * size != out.sizes[i]) return Refuse(kWrongOutSizes);
  }
  Loops loops(2);
  for (int i = 0; i < out.rank; ++i) {
    const int dim = out.dim_order[i];
    const int32_t size = dim < missing ? 1 : self.sizes[dim - missing];
    const int32_t stride = dim < missing ? 0 : self_strides[dim - missing];
    loops.Add(static_cast<int32_t>(repeats[static_cast<size_t>(dim)]), {size * out_strides[dim], 0});
    loops.Add(size, {out_strides[dim], stride});
  }
  if (!loops.empty()) CopyStrided(loops, out.data, self.data, ElementSize(out.dtype));
  return Status();
}

}  // namespace cortex_m
