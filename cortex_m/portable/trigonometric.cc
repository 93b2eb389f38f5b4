// Circular functions and their inverses, and the error function.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/unary_float.h"

namespace cortex_m {

using namespace portable;

namespace {

struct AngleOf {
  template <typename T>
  static T Of(T y, T x) {
    return static_cast<T>(Atan2(static_cast<double>(y), static_cast<double>(x)));
  }
};

}  // namespace

Status aten::sin_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Sin>(self, out); }
Status aten::cos_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Cos>(self, out); }
Status aten::tan_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Tan>(self, out); }
Status aten::asin_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Asin>(self, out); }
Status aten::acos_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Acos>(self, out); }
Status aten::atan_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Atan>(self, out); }
Status aten::erf_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Erf>(self, out); }
Status aten::atan2_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Elementwise(kFloatLane<AngleOf, 2>, Result::kFloat, {self, other}, out);
}

}  // namespace cortex_m
