// To whole numbers: floor, ceil, trunc, round (half to even). Integers stay as they are.

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
    if constexpr (std::is_same_v<T, float>) return kFunction(x);
    else return x;
  }
};

float Floor(float x) { return std::floor(x); }
float Ceil(float x) { return std::ceil(x); }
float Trunc(float x) { return std::trunc(x); }
float NearestEven(float x) { return std::nearbyint(x); }

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

}  // namespace cortex_m
