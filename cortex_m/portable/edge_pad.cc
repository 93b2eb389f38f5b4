// Padding with the tensor's own elements, of the last one, two or three dimensions: mirrored at the edge (reflection),
// or the edge itself (replication).
//
// Each padded dimension is three runs: the part before (backwards, or standing still), the tensor, the part after. A
// tensor padded in n dimensions is 3^n strided copies.

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {
namespace {

using namespace portable;

struct RunOfDim {
  int32_t out_begin, in_begin, in_step, length;
};

void RunsOf(int32_t size, int32_t before, int32_t after, bool reflect, RunOfDim (&runs)[3]) {
  if (reflect) {
    runs[0] = {0, before, -1, before};
    runs[2] = {before + size, size - 2, -1, after};
  } else {
    runs[0] = {0, 0, 0, before};
    runs[2] = {before + size, size - 1, 0, after};
  }
  runs[1] = {before, 0, 1, size};
  // A negative padding crops the tensor; then there is nothing on that side.
  if (before < 0) {
    runs[0].length = 0;
    runs[1] = {0, -before, 1, size + before};
  }
  if (after < 0) {
    runs[2].length = 0;
    runs[1].length += after;
  }
}

Status Pad(const Tensor& self, IntList padding, int padded, bool reflect, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (padding.size != 2u * static_cast<unsigned>(padded)) {
    return Refuse("padding must have two entries for each padded dimension");
  }
  if (self.rank != padded + 1 && self.rank != padded + 2) {
    return Refuse("the input must have the padded dimensions, a channel, and perhaps a batch");
  }
  if (out.rank != self.rank) return Refuse(kWrongOutSizes);
  const int first = self.rank - padded;
  RunOfDim runs[3][3];
  for (int dim = 0; dim < self.rank; ++dim) {
    if (dim < first) {
      if (out.sizes[dim] != self.sizes[dim]) return Refuse(kWrongOutSizes);
      continue;
    }
    const size_t at = 2 * static_cast<size_t>(self.rank - 1 - dim);
    const int64_t before = padding[at];
    const int64_t after = padding[at + 1];
    const int64_t size = self.sizes[dim];
    if (size == 0) return Refuse("a dimension without elements cannot be padded with its own");
    if (!FitsInt32(before) || !FitsInt32(after) || before + size + after != out.sizes[dim]) {
      return Refuse(kWrongOutSizes);
    }
    if (reflect && (before >= size || after >= size)) {
      return Refuse("a reflection padding must be smaller than the dimension");
    }
    if (before + size <= 0 || after + size <= 0) return Refuse("a negative padding leaves nothing of the dimension");
    RunsOf(self.sizes[dim], static_cast<int32_t>(before), static_cast<int32_t>(after), reflect, runs[dim - first]);
  }
  int32_t self_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  StridesOf(self, self_strides);
  StridesOf(out, out_strides);
  const size_t element_size = ElementSize(self.dtype);
  int pick[3] = {};  // the run of each padded dimension
  for (;;) {
    Loops loops(2);
    ptrdiff_t from = 0;
    ptrdiff_t to = 0;
    for (int i = 0; i < out.rank; ++i) {
      const int dim = out.dim_order[i];
      if (dim < first) {
        loops.Add(out.sizes[dim], {out_strides[dim], self_strides[dim]});
        continue;
      }
      const RunOfDim& run = runs[dim - first][pick[dim - first]];
      from += static_cast<ptrdiff_t>(run.in_begin) * self_strides[dim];
      to += static_cast<ptrdiff_t>(run.out_begin) * out_strides[dim];
      loops.Add(run.length < 0 ? 0 : run.length, {out_strides[dim], run.in_step * self_strides[dim]});
    }
    if (!loops.empty()) {
      CopyStrided(loops, At(out.data, to, element_size), At(self.data, from, element_size), element_size);
    }
    int at = padded - 1;
    while (at >= 0 && ++pick[at] == 3) pick[at--] = 0;
    if (at < 0) return Status();
  }
}

}  // namespace

Status aten::reflection_pad1d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return Pad(self, padding, 1, true, out);
}
Status aten::reflection_pad2d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return Pad(self, padding, 2, true, out);
}
Status aten::reflection_pad3d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return Pad(self, padding, 3, true, out);
}
Status aten::replication_pad1d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return Pad(self, padding, 1, false, out);
}
Status aten::replication_pad2d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return Pad(self, padding, 2, false, out);
}
Status aten::replication_pad3d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return Pad(self, padding, 3, false, out);
}

}  // namespace cortex_m
