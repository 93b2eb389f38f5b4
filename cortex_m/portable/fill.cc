// Tensors made from a number: full, zeros, ones, their _like forms, fill, scalar_tensor, and empty (which is made of
// zeros, so that a program that reads it gives the same on each run).

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/convert.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_convert.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {
namespace {

using namespace portable;

Status FillWith(Scalar value, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(Check(out));
  uint64_t element;
  if (!ScalarToElement(value, out.dtype, element)) return Refuse("the value is out of range of the element type");
  Fill(out, &element);
  return Status();
}

Status FillSizes(IntList size, Scalar value, Tensor& out) {
  if (!HasSizes(out, size.data, static_cast<int>(size.size))) return Refuse(kWrongOutSizes);
  return FillWith(value, out);
}

Status FillLike(const Tensor& self, Scalar value, Tensor& out) {
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  return FillWith(value, out);
}

}  // namespace

Status aten::full_out(KernelContext&, IntList size, Scalar fill_value, Tensor& out) {
  return FillSizes(size, fill_value, out);
}
Status aten::zeros_out(KernelContext&, IntList size, Tensor& out) { return FillSizes(size, IntScalar(0), out); }
Status aten::ones_out(KernelContext&, IntList size, Tensor& out) { return FillSizes(size, IntScalar(1), out); }
Status aten::empty_out(KernelContext&, IntList size, const int64_t*, Tensor& out) {
  return FillSizes(size, IntScalar(0), out);
}
Status dim_order_ops::_empty_dim_order_out(KernelContext&, IntList size, const IntList*, Tensor& out) {
  return FillSizes(size, IntScalar(0), out);
}
Status aten::full_like_out(KernelContext&, const Tensor& self, Scalar fill_value, const int64_t*, Tensor& out) {
  return FillLike(self, fill_value, out);
}
Status aten::zeros_like_out(KernelContext&, const Tensor& self, const int64_t*, Tensor& out) {
  return FillLike(self, IntScalar(0), out);
}
Status aten::ones_like_out(KernelContext&, const Tensor& self, const int64_t*, Tensor& out) {
  return FillLike(self, IntScalar(1), out);
}
Status aten::fill_Scalar_out(KernelContext&, const Tensor& self, Scalar value, Tensor& out) {
  if (self.dtype != out.dtype) return Refuse("the out tensor has another element type than self");
  return FillLike(self, value, out);
}
Status aten::fill_Tensor_out(KernelContext&, const Tensor& self, const Tensor& value, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckAll({&self, &value, &out}));
  if (value.rank != 0) return Refuse("the value must be a tensor without dimensions");
  if (self.dtype != out.dtype) return Refuse("the out tensor has another element type than self");
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  int32_t strides[kMaxRank];
  StridesOf(out, strides);
  Loops loops(2);
  for (int i = 0; i < out.rank; ++i) loops.Add(out.sizes[i], {strides[i], 0});
  ConvertStrided(loops, out.data, out.dtype, value.data, value.dtype);
  return Status();
}
Status aten::scalar_tensor_out(KernelContext&, Scalar s, Tensor& out) {
  if (out.rank != 0) return Refuse(kWrongOutSizes);
  return FillWith(s, out);
}

}  // namespace cortex_m
