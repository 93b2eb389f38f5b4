// add, sub, rsub and mul of tensors and numbers.
//
// alpha * other is rounded before it is added: PyTorch fuses the two in its vectorized loop, and so may differ in the
// last place for an alpha that is no power of two.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"

namespace cortex_m {
namespace {

using namespace portable;

struct AddScaled {
  template <typename T>
  static T Of(T a, T b, T alpha) {
    return Plus(a, Times(alpha, b));
  }
};
struct SubtractScaled {
  template <typename T>
  static T Of(T a, T b, T alpha) {
    return Minus(a, Times(alpha, b));
  }
};
struct Multiply {
  template <typename T>
  static T Of(T a, T b) {
    return Times(a, b);
  }
};

Status CheckAlpha(const Operand& self, const Operand& other, const Scalar& alpha) {
  const ScalarType common = CommonType({self, other});
  if (!IsFloat(common) && alpha.tag == Tag::kDouble) return Refuse("alpha of integer tensors must be an integer");
  if (common != ScalarType::kBool && alpha.tag == Tag::kBool) {
    return Refuse("alpha may be a bool for bool tensors only");
  }
  return Status();
}

Status Add(const Operand& self, const Operand& other, const Scalar& alpha, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckAlpha(self, other, alpha));
  return Elementwise(kAllLanes<AddScaled, 3>, Result::kPromoted, {self, other, Operand::Parameter(alpha)}, out);
}

Status Subtract(const Operand& self, const Operand& other, const Scalar& alpha, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckAlpha(self, other, alpha));
  const auto is_bool = [](const Operand& operand) {
    return (operand.tensor() != nullptr ? operand.tensor()->dtype : TypeOf(operand.scalar())) == ScalarType::kBool;
  };
  if (is_bool(self) || is_bool(other)) return Refuse("bools cannot be subtracted; use logical_xor");
  return Elementwise(kAllLanes<SubtractScaled, 3>, Result::kPromoted, {self, other, Operand::Parameter(alpha)}, out);
}

}  // namespace

Status aten::add_out(KernelContext&, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out) {
  return Add(self, other, alpha, out);
}
Status aten::add_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Scalar alpha, Tensor& out) {
  return Add(self, other, alpha, out);
}
Status aten::sub_out(KernelContext&, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out) {
  return Subtract(self, other, alpha, out);
}
Status aten::sub_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Scalar alpha, Tensor& out) {
  return Subtract(self, other, alpha, out);
}
Status aten::rsub_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out) {
  return Subtract(other, self, alpha, out);
}
Status aten::rsub_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Scalar alpha, Tensor& out) {
  return Subtract(other, self, alpha, out);
}
Status aten::mul_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Elementwise(kAllLanes<Multiply, 2>, Result::kPromoted, {self, other}, out);
}
Status aten::mul_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Elementwise(kAllLanes<Multiply, 2>, Result::kPromoted, {self, other}, out);
}

}  // namespace cortex_m
