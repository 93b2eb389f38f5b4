// sqrt, rsqrt and reciprocal: each operation rounded by itself, as IEEE 754 says.

#include <cmath>

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"

namespace cortex_m {
namespace {

using namespace portable;

struct SquareRoot {
  template <typename T>
  static T Of(T x) {
    return std::sqrt(x);
  }
};
struct ReciprocalRoot {
  template <typename T>
  static T Of(T x) {
    return 1 / std::sqrt(x);
  }
};
struct Reciprocal {
  template <typename T>
  static T Of(T x) {
    return 1 / x;
  }
};

}  // namespace

Status aten::sqrt_out(KernelContext&, const Tensor& self, Tensor& out) {
  return Elementwise(kFloatLane<SquareRoot, 1>, Result::kFloat, {self}, out);
}
Status aten::rsqrt_out(KernelContext&, const Tensor& self, Tensor& out) {
  return Elementwise(kFloatLane<ReciprocalRoot, 1>, Result::kFloat, {self}, out);
}
Status aten::reciprocal_out(KernelContext&, const Tensor& self, Tensor& out) {
  return Elementwise(kFloatLane<Reciprocal, 1>, Result::kFloat, {self}, out);
}

}  // namespace cortex_m
