// minimum, maximum and clamp. A NaN among the operands is the result.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"

namespace cortex_m {
namespace {

using namespace portable;

struct Minimum {
  template <typename T>
  static T Of(T a, T b) {
    return a != a || a < b ? a : b;
  }
};
struct Maximum {
  template <typename T>
  static T Of(T a, T b) {
    return a != a || a > b ? a : b;
  }
};
// The upper bound wins where the bounds have changed places.
struct Clamp {
  template <typename T>
  static T Of(T x, T low, T high) {
    return Minimum::Of(Maximum::Of(x, low), high);
  }
};

// An integer outside of the element type's range would wrap around, and bound something else.
Status CheckBound(const std::optional<Scalar>& bound, ScalarType common) {
  if (bound.has_value() && !Fits(*bound, common)) return Refuse("a bound is out of range of the element type");
  return Status();
}

}  // namespace

Status aten::minimum_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Elementwise(kAllLanes<Minimum, 2>, Result::kPromoted, {self, other}, out);
}
Status aten::maximum_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Elementwise(kAllLanes<Maximum, 2>, Result::kPromoted, {self, other}, out);
}

Status aten::clamp_out(KernelContext&, const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max,
                       Tensor& out) {
  if (!min.has_value() && !max.has_value()) return Refuse("clamp needs a bound");
  const ScalarType common = CommonType({self, min.has_value() ? *min : *max, max.has_value() ? *max : *min});
  if (common == ScalarType::kBool) return Refuse("bools cannot be clamped");
  CORTEX_M_RETURN_IF_ERROR(CheckBound(min, common));
  CORTEX_M_RETURN_IF_ERROR(CheckBound(max, common));
  if (!max.has_value()) return Elementwise(kAllLanes<Maximum, 2>, Result::kPromoted, {self, *min}, out);
  if (!min.has_value()) return Elementwise(kAllLanes<Minimum, 2>, Result::kPromoted, {self, *max}, out);
  return Elementwise(kAllLanes<Clamp, 3>, Result::kPromoted, {self, *min, *max}, out);
}

Status aten::clamp_Tensor_out(KernelContext&, const Tensor& self, const Tensor* min, const Tensor* max, Tensor& out) {
  if (min == nullptr && max == nullptr) return Refuse("clamp needs a bound");
  if (max == nullptr) return Elementwise(kAllLanes<Maximum, 2>, Result::kPromoted, {self, *min}, out);
  if (min == nullptr) return Elementwise(kAllLanes<Minimum, 2>, Result::kPromoted, {self, *max}, out);
  return Elementwise(kAllLanes<Clamp, 3>, Result::kPromoted, {self, *min, *max}, out);
}

// Bounds do not change the type: of an integer tensor they are truncated.
Status aten::hardtanh_out(KernelContext&, const Tensor& self, Scalar min_val, Scalar max_val, Tensor& out) {
  if (self.dtype == ScalarType::kBool) return Refuse("bools cannot be clamped");
  if (self.dtype == ScalarType::kByte && (min_val.ToDouble() < 0 || max_val.ToDouble() < 0)) {
    return Refuse("an unsigned type has no negative bounds");
  }
  CORTEX_M_RETURN_IF_ERROR(CheckBound(min_val, self.dtype));
  CORTEX_M_RETURN_IF_ERROR(CheckBound(max_val, self.dtype));
  return Elementwise(kAllLanes<Clamp, 3>, Result::kPromoted,
                     {self, Operand::Parameter(min_val), Operand::Parameter(max_val)}, out);
}

Status aten::relu_out(KernelContext&, const Tensor& self, Tensor& out) {
  if (self.dtype == ScalarType::kBool) return Refuse("bools have no relu");
  return Elementwise(kAllLanes<Maximum, 2>, Result::kPromoted, {self, Operand::Parameter(IntScalar(0))}, out);
}

}  // namespace cortex_m
