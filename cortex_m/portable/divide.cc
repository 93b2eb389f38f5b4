// Division: true, towards zero, towards minus infinity; and the two remainders that go with the latter.
//
// An integer division by zero is refused, as PyTorch raises.

#include <cmath>
#include <cstring>
#include <type_traits>

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"

namespace cortex_m {
namespace {

using namespace portable;

// The lowest integer has no positive counterpart: / and % by -1 would be undefined there.
template <typename T>
T Quotient(T a, T b) {
  return b == -1 ? Minus(T{0}, a) : a / b;
}
template <typename T>
T Rest(T a, T b) {
  return b == -1 ? T{0} : a % b;
}

struct Divide {
  template <typename T>
  static T Of(T a, T b) {
    return a / b;
  }
};

struct DivideTrunc {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::is_same_v<T, float>)
      return std::trunc(a / b);
    else
      return Quotient(a, b);
  }
};

struct Fmod {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::is_same_v<T, float>)
      return std::fmod(a, b);
    else
      return Rest(a, b);
  }
};

// The remainder that has the divisor's sign.
struct Remainder {
  template <typename T>
  static T Of(T a, T b) {
    const T rest = Fmod::Of(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
};

struct DivideFloor {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::is_same_v<T, float>) {
      // a - fmod(a, b) is a multiple of b but for rounding: floor(a / b) alone can be one too large.
      if (b == 0) return a / b;
      const float rest = std::fmod(a, b);
      float quotient = (a - rest) / b;
      if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
      if (quotient == 0) return std::copysign(0.0f, a / b);
      const float below = std::floor(quotient);
      return quotient - below > 0.5f ? below + 1 : below;
    } else {
      const T quotient = Quotient(a, b);
      const T rest = Rest(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
    }
  }
};

template <typename Functor, typename Lane>
const char* UnlessZero(const Lane* const* in, Lane* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (in[1][i] == 0) return "an integer is divided by zero";
    out[i] = Functor::template Of<Lane>(in[0][i], in[1][i]);
  }
  return nullptr;
}

template <typename Functor>
constexpr ElementwiseKernel kDivision = {elementwise::Apply<Functor, float, 2>, UnlessZero<Functor, int32_t>,
                                         UnlessZero<Functor, int64_t>};

template <typename Functor>
Status Run(const Operand& self, const Operand& other, Tensor& out) {
  // PyTorch has no integer division of two bools.
  if (CommonType({self, other}) == ScalarType::kBool) {
    return Refuse("two bools cannot be divided with an integer result");
  }
  return Elementwise(kDivision<Functor>, Result::kPromoted, {self, other}, out);
}

Status TrueDivide(const Operand& self, const Operand& other, Tensor& out) {
  return Elementwise(kFloatLane<Divide, 2>, Result::kFloat, {self, other}, out);
}

Status DivideMode(const Operand& self, const Operand& other, const std::optional<Span<const char>>& mode, Tensor& out) {
  if (!mode.has_value()) return TrueDivide(self, other, out);
  const auto is = [&](const char* name) {
    return mode->size == std::strlen(name) && std::memcmp(mode->data, name, mode->size) == 0;
  };
  if (is("trunc")) return Run<DivideTrunc>(self, other, out);
  if (is("floor")) return Run<DivideFloor>(self, other, out);
  return Refuse("rounding_mode must be None, trunc or floor");
}

}  // namespace

Status aten::div_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return TrueDivide(self, other, out);
}
Status aten::div_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return TrueDivide(self, other, out);
}
Status aten::div_out_mode(KernelContext&, const Tensor& self, const Tensor& other,
                          std::optional<Span<const char>> rounding_mode, Tensor& out) {
  return DivideMode(self, other, rounding_mode, out);
}
Status aten::div_Scalar_mode_out(KernelContext&, const Tensor& self, Scalar other,
                                 std::optional<Span<const char>> rounding_mode, Tensor& out) {
  return DivideMode(self, other, rounding_mode, out);
}
Status aten::floor_divide_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Run<DivideFloor>(self, other, out);
}
Status aten::fmod_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Run<Fmod>(self, other, out);
}
Status aten::fmod_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Run<Fmod>(self, other, out);
}
Status aten::remainder_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return Run<Remainder>(self, other, out);
}
Status aten::remainder_Scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return Run<Remainder>(self, other, out);
}

}  // namespace cortex_m
