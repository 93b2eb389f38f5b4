// Smooth activations of float32: computed in float64 (math.h) and rounded once.

#include <cstring>

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"
#include "cortex_m/portable/math.h"

namespace cortex_m {
namespace {

using namespace portable;

struct Gelu {
  template <typename T>
  static T Of(T x) {
    constexpr double kSqrtHalf = 0.70710678118654752440;
    return static_cast<T>(0.5 * x * Erfc(-x * kSqrtHalf));  // 1 + erf(z) = erfc(-z), without its cancellation
  }
};
struct GeluTanh {
  template <typename T>
  static T Of(T x) {
    constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
    const double wide = x;
    // (1 + tanh z) / 2 = sigmoid(2 z)
    return static_cast<T>(wide * Sigmoid(2 * kSqrtTwoOverPi * (wide + 0.044715 * wide * wide * wide)));
  }
};
struct Elu {
  template <typename T>
  static T Of(T x, T alpha, T scale, T input_scale) {
    if (!(x <= 0)) return x * scale;
    return static_cast<T>(Expm1(static_cast<double>(x) * input_scale) * (static_cast<double>(alpha) * scale));
  }
};
struct Silu {
  template <typename T>
  static T Of(T x) {
    return static_cast<T>(x / (1 + Exp(-static_cast<double>(x))));
  }
};
struct Softplus {
  template <typename T>
  static T Of(T x, T beta, T threshold) {
    const double scaled = static_cast<double>(x) * beta;
    return scaled > threshold ? x : static_cast<T>(Log1p(Exp(scaled)) / beta);
  }
};
struct Mish {
  template <typename T>
  static T Of(T x) {
    return static_cast<T>(x * Tanh(Log1p(Exp(static_cast<double>(x)))));
  }
};

// PyTorch has these for float types alone.
Status Run(const ElementwiseKernel& kernel, Operands operands, Tensor& out) {
  const Tensor& self = *operands.begin()->tensor();
  if (!IsFloat(self.dtype)) return Refuse("the activation is defined for float32 only");
  return Elementwise(kernel, Result::kPromoted, operands, out);
}

}  // namespace

Status aten::gelu_out(KernelContext&, const Tensor& self, Span<const char> approximate, Tensor& out) {
  const auto is = [&](const char* name) {
    return approximate.size == std::strlen(name) && std::memcmp(approximate.data, name, approximate.size) == 0;
  };
  if (is("none")) return Run(kFloatLane<Gelu, 1>, {self}, out);
  if (is("tanh")) return Run(kFloatLane<GeluTanh, 1>, {self}, out);
  return Refuse("approximate must be none or tanh");
}
Status aten::elu_out(KernelContext&, const Tensor& self, Scalar alpha, Scalar scale, Scalar input_scale, Tensor& out) {
  return Run(kFloatLane<Elu, 4>,
             {self, Operand::Parameter(alpha), Operand::Parameter(scale), Operand::Parameter(input_scale)}, out);
}
Status aten::silu_out(KernelContext&, const Tensor& self, Tensor& out) { return Run(kFloatLane<Silu, 1>, {self}, out); }
Status aten::softplus_out(KernelContext&, const Tensor& self, Scalar beta, Scalar threshold, Tensor& out) {
  return Run(kFloatLane<Softplus, 3>, {self, Operand::Parameter(beta), Operand::Parameter(threshold)}, out);
}
Status aten::mish_out(KernelContext&, const Tensor& self, Tensor& out) { return Run(kFloatLane<Mish, 1>, {self}, out); }

}  // namespace cortex_m
