// What concerns sign and kind of a number: abs, neg, sign, isnan, isinf.

#include <cmath>
#include <type_traits>

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"

namespace cortex_m {
namespace {

using namespace portable;

struct Abs {
  template <typename T>
  static T Of(T x) {
    if constexpr (std::is_same_v<T, float>)
      return std::fabs(x);
    else
      return x < 0 ? Minus(T{0}, x) : x;
  }
};
struct Negate {
  template <typename T>
  static T Of(T x) {
    if constexpr (std::is_same_v<T, float>)
      return -x;
    else
      return Minus(T{0}, x);
  }
};
struct Sign {
  template <typename T>
  static T Of(T x) {
    return static_cast<T>((x > 0) - (x < 0));
  }
};
struct IsNaN {
  template <typename T>
  static T Of(T x) {
    return static_cast<T>(x != x);
  }
};
struct IsInf {
  template <typename T>
  static T Of(T x) {
    if constexpr (std::is_same_v<T, float>)
      return std::isinf(x) ? 1.0f : 0.0f;
    else
      return static_cast<T>(x != x);
  }
};

}  // namespace

Status aten::abs_out(KernelContext&, const Tensor& self, Tensor& out) {
  if (self.dtype == ScalarType::kBool) return Refuse("bools have no absolute value");
  return Elementwise(kAllLanes<Abs, 1>, Result::kPromoted, {self}, out);
}
Status aten::neg_out(KernelContext&, const Tensor& self, Tensor& out) {
  if (self.dtype == ScalarType::kBool) return Refuse("bools have no negative; use logical_not");
  return Elementwise(kAllLanes<Negate, 1>, Result::kPromoted, {self}, out);
}
Status aten::sign_out(KernelContext&, const Tensor& self, Tensor& out) {
  return Elementwise(kAllLanes<Sign, 1>, Result::kPromoted, {self}, out);
}
Status aten::isnan_out(KernelContext&, const Tensor& self, Tensor& out) {
  return Elementwise(kAllLanes<IsNaN, 1>, Result::kBool, {self}, out);
}
Status aten::isinf_out(KernelContext&, const Tensor& self, Tensor& out) {
  return Elementwise(kAllLanes<IsInf, 1>, Result::kBool, {self}, out);
}

}  // namespace cortex_m
