// Choice by a condition: where, masked_fill.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"

namespace cortex_m {
namespace {

using namespace portable;

struct Where {
  template <typename T>
  static T Of(T condition, T yes, T no) {
    return condition != 0 ? yes : no;
  }
};

Status CheckCondition(const Tensor& condition) {
  if (condition.dtype != ScalarType::kBool && condition.dtype != ScalarType::kByte) {
    return Refuse("a condition must be bool");
  }
  return Status();
}

}  // namespace

Status aten::where_self_out(KernelContext&, const Tensor& condition, const Tensor& self, const Tensor& other,
                            Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckCondition(condition));
  return Elementwise(kAllLanes<Where, 3>, Result::kPromoted, {Operand::Condition(condition), self, other}, out);
}

// The value is converted to self's type.
Status aten::masked_fill_Scalar_out(KernelContext&, const Tensor& self, const Tensor& mask, Scalar value, Tensor& out) {
  if (mask.dtype != ScalarType::kBool) return Refuse("a mask must be bool");
  if (!Fits(value, self.dtype)) return Refuse("the value is out of range of the element type");
  return Elementwise(kAllLanes<Where, 3>, Result::kPromoted,
                     {Operand::Condition(mask), Operand::Parameter(value), self}, out);
}

}  // namespace cortex_m
