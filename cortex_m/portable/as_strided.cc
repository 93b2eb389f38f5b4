// Regular patterns of elements: as_strided, diagonal, unfold.

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {

using namespace portable;

// Strides count elements of self's memory, which must be in logical order, so that PyTorch would see the same memory.
Status aten::as_strided_copy_out(KernelContext&, const Tensor& self, IntList size, IntList stride,
                                 const int64_t* storage_offset, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (!IsContiguous(self)) return Refuse("as_strided takes a contiguous input");
  if (size.size != stride.size) return Refuse("size and stride differ in length");
  if (!HasSizes(out, size.data, static_cast<int>(size.size))) return Refuse(kWrongOutSizes);
  if (ElementCount(out) == 0) return Status();
  const int64_t count = static_cast<int64_t>(ElementCount(self));
  int64_t last = storage_offset == nullptr ? 0 : *storage_offset;
  if (last < 0 || last >= count) return Refuse("storage_offset is outside of the input");
  const ptrdiff_t first = static_cast<ptrdiff_t>(last);
  int32_t strides[kMaxRank];
  for (size_t i = 0; i < size.size; ++i) {
    if (stride[i] < 0) return Refuse("strides must not be negative");
    if (stride[i] > 0 && size[i] - 1 > (count - 1 - last) / stride[i]) {
      return Refuse("the pattern goes beyond the end of the input");
    }
    last += (size[i] - 1) * stride[i];
    strides[i] = size[i] == 1 ? 0 : static_cast<int32_t>(stride[i]);
  }
  CopyInto(out, self.data, first, strides);
  return Status();
}

Status aten::diagonal_copy_out(KernelContext&, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2,
                               Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (self.rank < 2 || !NormalizeDim(dim1, self.rank) || !NormalizeDim(dim2, self.rank)) return Refuse(kDimOutOfRange);
  if (dim1 == dim2) return Refuse("a diagonal needs two different dims");
  int32_t own[kMaxRank];
  StridesOf(self, own);
  const int64_t rows = self.sizes[dim1], columns = self.sizes[dim2];
  int64_t length = offset >= 0 ? (columns - offset < rows ? columns - offset : rows)
                               : (rows + offset < columns ? rows + offset : columns);
  if (length < 0) length = 0;
  int32_t strides[kMaxRank];
  int at = 0;
  if (out.rank != self.rank - 1 || out.sizes[out.rank - 1] != length) return Refuse(kWrongOutSizes);
  for (int i = 0; i < self.rank; ++i) {
    if (i == dim1 || i == dim2) continue;
    if (out.sizes[at] != self.sizes[i]) return Refuse(kWrongOutSizes);
    strides[at++] = own[i];
  }
  strides[at] = own[dim1] + own[dim2];
  if (ElementCount(out) == 0) return Status();
  const ptrdiff_t first = static_cast<ptrdiff_t>(offset >= 0 ? offset * own[dim2] : -offset * own[dim1]);
  CopyInto(out, self.data, first, strides);
  return Status();
}

// Windows of `size` elements, `step` apart, along one dimension; the window is a new last dimension.
Status aten::unfold_copy_out(KernelContext&, const Tensor& self, int64_t dimension, int64_t size, int64_t step,
                             Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (self.rank == 0 || !NormalizeDim(dimension, self.rank)) return Refuse(kDimOutOfRange);
  if (step <= 0) return Refuse("step must be positive");
  if (size < 0 || size > self.sizes[dimension]) return Refuse("the window is larger than the dimension");
  const int64_t windows = (self.sizes[dimension] - size) / step + 1;
  if (out.rank != self.rank + 1 || out.sizes[self.rank] != size) return Refuse(kWrongOutSizes);
  int32_t own[kMaxRank];
  int32_t strides[kMaxRank];
  StridesOf(self, own);
  for (int i = 0; i < self.rank; ++i) {
    if (out.sizes[i] != (i == dimension ? windows : self.sizes[i])) return Refuse(kWrongOutSizes);
    strides[i] = i == dimension && windows > 1 ? own[i] * static_cast<int32_t>(step) : own[i];
  }
  strides[self.rank] = own[dimension];
  CopyInto(out, self.data, 0, strides);
  return Status();
}

}  // namespace cortex_m
