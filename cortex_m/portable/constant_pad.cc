// constant_pad_nd: a constant around a tensor; a negative padding crops.

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/convert.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {

using namespace portable;

// pad: (before, after) of the last dimension, then of the one before it, and so on.
Status aten::constant_pad_nd_out(KernelContext&, const Tensor& self, IntList pad, Scalar value, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(Check(self));
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (pad.size % 2 != 0 || pad.size > 2u * self.rank) {
    return Refuse("pad must have two entries a dimension, of as many as there are");
  }
  if (out.rank != self.rank) return Refuse(kWrongOutSizes);
  uint64_t element;
  if (!ScalarToElement(value, out.dtype, element)) return Refuse("value is out of range of the element type");

  int32_t self_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  StridesOf(self, self_strides);
  StridesOf(out, out_strides);
  int32_t kept[kMaxRank];
  ptrdiff_t from = 0;
  ptrdiff_t to = 0;
  bool nothing_kept = false;
  for (int i = 0; i < self.rank; ++i) {
    const size_t at = 2 * static_cast<size_t>(self.rank - 1 - i);
    const int64_t before = at < pad.size ? pad[at] : 0;
    const int64_t after = at < pad.size ? pad[at + 1] : 0;
    if (!FitsInt32(before) || !FitsInt32(after) || before + self.sizes[i] + after != out.sizes[i]) {
      return Refuse(kWrongOutSizes);
    }
    const int64_t cropped = (before < 0 ? before : 0) + (after < 0 ? after : 0);
    kept[i] = static_cast<int32_t>(self.sizes[i] + cropped);
    if (kept[i] <= 0) nothing_kept = true;
    if (before < 0) {
      from -= static_cast<ptrdiff_t>(before) * self_strides[i];
    } else {
      to += static_cast<ptrdiff_t>(before) * out_strides[i];
    }
  }
  Fill(out, &element);
  if (nothing_kept) return Status();
  Loops loops(2);
  for (int i = 0; i < out.rank; ++i) {
    const int dim = out.dim_order[i];
    loops.Add(kept[dim], {out_strides[dim], self_strides[dim]});
  }
  const size_t element_size = ElementSize(self.dtype);
  CopyStrided(loops, At(out.data, to, element_size), At(self.data, from, element_size), element_size);
  return Status();
}

}  // namespace cortex_m
