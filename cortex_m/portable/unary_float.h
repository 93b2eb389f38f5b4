// Functions of one float32; integers are converted first. Results are nearest float32s (math.h) or, where math.h is not
// needed, what IEEE 754 says.
#ifndef CORTEX_M_PORTABLE_UNARY_FLOAT_H_
#define CORTEX_M_PORTABLE_UNARY_FLOAT_H_

#include "cortex_m/portable/elementwise.h"
#include "cortex_m/portable/math.h"

namespace cortex_m::portable {

template <double (*kFunction)(double)>
struct OfDouble {
  template <typename T>
  static T Of(T x) {
    return static_cast<T>(kFunction(static_cast<double>(x)));
  }
};

// Integers and bool are promoted to float32.
template <double (*kFunction)(double)>
Status UnaryFloat(const Tensor& self, Tensor& out) {
  return Elementwise(kFloatLane<OfDouble<kFunction>, 1>, Result::kFloat, {self}, out);
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_UNARY_FLOAT_H_
