// A part along one dimension, taken (slice, narrow, select) or replaced (slice_scatter, select_scatter).

#include "cortex_m/portable/slice.h"

#include "cortex_m/portable/declarations.h"

namespace cortex_m {
namespace {

using namespace portable;

Status MakeSelection(const Tensor& tensor, int64_t dim, int64_t index, Slice& slice) {
  if (tensor.rank == 0) return Refuse("nothing can be selected from a tensor without dimensions");
  if (!NormalizeDim(dim, tensor.rank)) return Refuse(kDimOutOfRange);
  const int64_t size = tensor.sizes[dim];
  if (index < -size || index >= size) return Refuse("index is out of range");
  slice = {static_cast<int>(dim), index < 0 ? index + size : index, 1, 1};
  return Status();
}

// out = self with `src` in place of the slice.
Status Scatter(const Tensor& self, const Tensor& src, const Slice& slice, bool dropped, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(src, out));
  if (!HasSliceSizes(src, self, slice, dropped)) return Refuse("src does not have the sizes of the slice");
  CopySameSizes(out, self);
  return CopyToSlice(src, out, slice, dropped);
}

}  // namespace

Status aten::slice_copy_Tensor_out(KernelContext&, const Tensor& self, int64_t dim, const int64_t* start,
                                   const int64_t* end, int64_t step, Tensor& out) {
  Slice slice;
  CORTEX_M_RETURN_IF_ERROR(MakeSlice(self, dim, start, end, step, slice));
  return CopySlice(self, slice, false, out);
}

Status aten::narrow_copy_out(KernelContext&, const Tensor& self, int64_t dim, int64_t start, int64_t length,
                             Tensor& out) {
  if (self.rank == 0 || !NormalizeDim(dim, self.rank)) return Refuse(kDimOutOfRange);
  const int64_t size = self.sizes[dim];
  if (start < -size || start > size) return Refuse("start is out of range");
  if (start < 0) start += size;
  if (length < 0 || length > size - start) return Refuse("the part goes beyond the end of the dimension");
  return CopySlice(self, {static_cast<int>(dim), start, 1, length}, false, out);
}

Status aten::select_copy_int_out(KernelContext&, const Tensor& self, int64_t dim, int64_t index, Tensor& out) {
  Slice slice;
  CORTEX_M_RETURN_IF_ERROR(MakeSelection(self, dim, index, slice));
  return CopySlice(self, slice, true, out);
}

Status aten::slice_scatter_out(KernelContext&, const Tensor& self, const Tensor& src, int64_t dim, const int64_t* start,
                               const int64_t* end, int64_t step, Tensor& out) {
  Slice slice;
  CORTEX_M_RETURN_IF_ERROR(MakeSlice(self, dim, start, end, step, slice));
  return Scatter(self, src, slice, false, out);
}

Status aten::select_scatter_out(KernelContext&, const Tensor& self, const Tensor& src, int64_t dim, int64_t index,
                                Tensor& out) {
  Slice slice;
  CORTEX_M_RETURN_IF_ERROR(MakeSelection(self, dim, index, slice));
  return Scatter(self, src, slice, true, out);
}

}  // namespace cortex_m
