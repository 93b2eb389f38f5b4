// flip reverses dimensions, roll turns them round.

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {

using namespace portable;

Status aten::flip_out(KernelContext&, const Tensor& self, IntList dims, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  uint32_t flipped;
  CORTEX_M_RETURN_IF_ERROR(DimSet(dims, self.rank, flipped));
  int32_t strides[kMaxRank];
  StridesOf(self, strides);
  ptrdiff_t offset = 0;
  for (int i = 0; i < self.rank; ++i) {
    if ((flipped >> i & 1) == 0) continue;
    offset += static_cast<ptrdiff_t>(self.sizes[i] - 1) * strides[i];
    strides[i] = -strides[i];
  }
  CopyInto(out, self.data, offset, strides);
  return Status();
}

namespace {

// `steps` of at most kMaxRank dimensions, each in 0 .. size - 1. A turned dimension is two runs: 2^n copies for n
// dimensions.
void Roll(const Tensor& self, const int32_t* steps, Tensor& out) {
  int32_t self_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  StridesOf(self, self_strides);
  StridesOf(out, out_strides);
  uint32_t turned = 0;
  for (int i = 0; i < self.rank; ++i) turned |= steps[i] != 0 ? 1u << i : 0;
  // `tails` runs through the subsets of `turned`: the dimensions whose tail, which goes to the front, is copied.
  uint32_t tails = 0;
  do {
    Loops loops(2);
    ptrdiff_t from = 0;
    ptrdiff_t to = 0;
    for (int i = 0; i < out.rank; ++i) {
      const int dim = out.dim_order[i];
      const bool tail = (tails >> dim & 1) != 0;
      const int32_t kept = self.sizes[dim] - steps[dim];
      if (tail) {
        from += static_cast<ptrdiff_t>(kept) * self_strides[dim];
      } else {
        to += static_cast<ptrdiff_t>(steps[dim]) * out_strides[dim];
      }
      loops.Add(tail ? steps[dim] : kept, {out_strides[dim], self_strides[dim]});
    }
    const size_t element_size = ElementSize(self.dtype);
    CopyStrided(loops, At(out.data, to, element_size), At(self.data, from, element_size), element_size);
    tails = (tails - turned) & turned;
  } while (tails != 0);
}

int32_t Modulo(int64_t value, int64_t size) {
  const int64_t rest = value % size;
  return static_cast<int32_t>(rest < 0 ? rest + size : rest);
}

}  // namespace

// Without dims the elements turn round in logical order, as if the tensor had one dimension.
Status aten::roll_out(KernelContext&, const Tensor& self, IntList shifts, IntList dims, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  if (shifts.size == 0) return Refuse("roll needs at least one shift");
  if (shifts.size != dims.size && !(dims.size == 0 && shifts.size == 1)) {
    return Refuse("shifts and dims differ in length");
  }
  int32_t steps[kMaxRank] = {};
  if (dims.size == 0) {
    if (ElementCount(self) == 0) return Status();
    if (!IsContiguous(self) || !IsContiguous(out)) return Refuse("roll without dims takes contiguous tensors");
    const int32_t count = static_cast<int32_t>(ElementCount(self));
    static constexpr uint8_t kOrder[] = {0};
    Tensor flat = self;
    Tensor flat_out = out;
    flat.rank = flat_out.rank = 1;
    flat.sizes = flat_out.sizes = &count;
    flat.dim_order = flat_out.dim_order = kOrder;
    steps[0] = Modulo(shifts[0], count);
    Roll(flat, steps, flat_out);
    return Status();
  }
  for (size_t i = 0; i < dims.size; ++i) {
    int64_t dim = dims[i];
    if (self.rank == 0 || !NormalizeDim(dim, self.rank)) return Refuse(kDimOutOfRange);
    if (ElementCount(self) == 0) continue;
    steps[dim] = Modulo(steps[dim] + shifts[i] % self.sizes[dim], self.sizes[dim]);  // a dim may be given twice
  }
  if (ElementCount(self) == 0) return Status();
  Roll(self, steps, out);
  return Status();
}

}  // namespace cortex_m
