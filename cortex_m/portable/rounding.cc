// To whole numbers: floor, ceil, trunc, round (half to even; also to decimals). Integers stay as they are.

#include <cmath>
#include <type_traits>

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/elementwise.h"

namespace cortex_m {
namespace {

using namespace portable;

template <float (*kFunction)(float)>
struct Rounded {
  template <typename T>
  static T Of(T x) {
    if constexpr (std::is_same_v<T, float>)
      return kFunction(x);
    else
      return x;
  }
};

float Floor(float x) { return std::floor(x); }
float Ceil(float x) { return std::ceil(x); }
float Trunc(float x) { return std::trunc(x); }
float NearestEven(float x) { return std::nearbyint(x); }

// At a power of ten, which is scaled to the units and back.
struct RoundScaled {
  template <typename T>
  static T Of(T x, T power, T up) {
    return up != 0 ? std::nearbyint(x * power) / power : std::nearbyint(x / power) * power;
  }
};

template <float (*kFunction)(float)>
Status Round(const Tensor& self, Tensor& out) {
  if (self.dtype == ScalarType::kBool) return Refuse("bools cannot be rounded");
  return Elementwise(kAllLanes<Rounded<kFunction>, 1>, Result::kPromoted, {self}, out);
}

}  // namespace

Status aten::floor_out(KernelContext&, const Tensor& self, Tensor& out) { return Round<Floor>(self, out); }
Status aten::ceil_out(KernelContext&, const Tensor& self, Tensor& out) { return Round<Ceil>(self, out); }
Status aten::trunc_out(KernelContext&, const Tensor& self, Tensor& out) { return Round<Trunc>(self, out); }
Status aten::round_out(KernelContext&, const Tensor& self, Tensor& out) { return Round<NearestEven>(self, out); }
Status aten::round_decimals_out(KernelContext&, const Tensor& self, int64_t decimals, Tensor& out) {
  if (decimals == 0) return Round<NearestEven>(self, out);
  if (!IsFloat(self.dtype)) return Refuse("only float32 is rounded to decimals");
  if (decimals < -38 || decimals > 38) return Refuse("float32 has no such power of ten");
  Scalar power{Tag::kDouble, {0}};
  power.as_double = 1;
  for (int64_t i = 0; i < (decimals < 0 ? -decimals : decimals); ++i) power.as_double *= 10;
  return Elementwise(kFloatLane<RoundScaled, 3>, Result::kPromoted,
                     {self, Operand::Parameter(power), Operand::Parameter(IntScalar(decimals > 0 ? 1 : 0))}, out);
}

}  // namespace cortex_m
