// Powers of floats (math.h; for the exponents that PyTorch treats on their own, the same products and roots) and of
// integers.

#include <cmath>
#include <type_traits>

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"
#include "cortex_m/portable/math.h"

namespace cortex_m {
namespace {

using namespace portable;

template <typename T>
T IntegerPower(T base, T exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return (exponent & 1) != 0 ? -1 : 1;
    return 0;  // the true value is a fraction
  }
  T power = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power = Times(power, base);
    base = Times(base, base);
  }
  return power;
}

struct Power {
  template <typename T>
  static T Of(T base, T exponent) {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<T>(Pow(static_cast<double>(base), static_cast<double>(exponent)));
    else
      return IntegerPower(base, exponent);
  }
};

struct PowerOfNumber {
  template <typename T>
  static T Of(T base, T exponent) {
    if constexpr (std::is_same_v<T, float>) {
      if (exponent == 0.5f) return std::sqrt(base);
      if (exponent == 2.0f) return base * base;
      if (exponent == 3.0f) return base * base * base;
      if (exponent == -0.5f) return 1 / std::sqrt(base);
      if (exponent == -1.0f) return 1 / base;
      if (exponent == -2.0f) return 1 / (base * base);
    }
    return Power::Of(base, exponent);
  }
};

}  // namespace

Status aten::pow_Tensor_Tensor_out(KernelContext&, const Tensor& self, const Tensor& exponent, Tensor& out) {
  if (CommonType({self, exponent}) == ScalarType::kBool) return Refuse("bools have no powers");
  return Elementwise(kAllLanes<Power, 2>, Result::kPromoted, {self, exponent}, out);
}
Status aten::pow_Tensor_Scalar_out(KernelContext&, const Tensor& self, Scalar exponent, Tensor& out) {
  const ScalarType common = CommonType({self, exponent});
  if (common == ScalarType::kBool) return Refuse("bools have no powers");
  if (!IsFloat(common) && ScalarAs<int64_t>(exponent) < 0) return Refuse("an integer tensor has no negative powers");
  return Elementwise(kAllLanes<PowerOfNumber, 2>, Result::kPromoted, {self, exponent}, out);
}
Status aten::pow_Scalar_out(KernelContext&, Scalar self, const Tensor& exponent, Tensor& out) {
  if (CommonType({self, exponent}) == ScalarType::kBool) return Refuse("bools have no powers");
  return Elementwise(kAllLanes<Power, 2>, Result::kPromoted, {self, exponent}, out);
}

}  // namespace cortex_m
