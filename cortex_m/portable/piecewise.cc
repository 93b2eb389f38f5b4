// Activations of float32 that are made of straight lines: leaky_relu, hardsigmoid, hardswish.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"

namespace cortex_m {
namespace {

using namespace portable;

struct LeakyRelu {
  template <typename T>
  static T Of(T x, T slope) {
    return x > 0 ? x : x * slope;
  }
};

// x + 3 between 0 and 6.
template <typename T>
T Shifted(T x) {
  const T shifted = x + 3;
  if (shifted < 0) return 0;
  return shifted > 6 ? 6 : shifted;
}
struct Hardsigmoid {
  template <typename T>
  static T Of(T x) {
    return Shifted(x) / 6;
  }
};
struct Hardswish {
  template <typename T>
  static T Of(T x) {
    return x * Shifted(x) / 6;
  }
};

Status Run(const ElementwiseKernel& kernel, Operands operands, Tensor& out) {
  if (!IsFloat(operands.begin()->tensor()->dtype)) return Refuse("the activation is defined for float32 only");
  return Elementwise(kernel, Result::kPromoted, operands, out);
}

}  // namespace

Status aten::leaky_relu_out(KernelContext&, const Tensor& self, Scalar negative_slope, Tensor& out) {
  return Run(kFloatLane<LeakyRelu, 2>, {self, Operand::Parameter(negative_slope)}, out);
}
Status aten::hardsigmoid_out(KernelContext&, const Tensor& self, Tensor& out) {
  return Run(kFloatLane<Hardsigmoid, 1>, {self}, out);
}
Status aten::hardswish_out(KernelContext&, const Tensor& self, Tensor& out) {
  return Run(kFloatLane<Hardswish, 1>, {self}, out);
}

}  // namespace cortex_m
