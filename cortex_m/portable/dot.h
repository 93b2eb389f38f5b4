// The inner product that matrix products and convolutions are made of.
//
// Products are added to `sum` one after the other, from index 0 on, each product and each sum rounded to float32: the
// result does not depend on the core. The error is at most `count` times 2^-24 of the sum of magnitudes, and usually
// its square root. Integers are exact modulo 2^64, and wrap around when they are stored.
#ifndef CORTEX_M_PORTABLE_DOT_H_
#define CORTEX_M_PORTABLE_DOT_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/portable/convert.h"
#include "cortex_m/portable/math.h"

namespace cortex_m::portable {

// A run of `count` elements of a tensor.
struct Run {
  const Tensor* tensor;
  ptrdiff_t offset;
  int32_t stride;
};

inline float Dot(const Run& a, const Run& b, int32_t count, float sum) {
  const float* x = a.tensor->as<float>() + a.offset;
  const float* y = b.tensor->as<float>() + b.offset;
  for (int32_t i = 0; i < count; ++i) {
    sum += *x * *y;
    x += a.stride;
    y += b.stride;
  }
  return sum;
}

inline int64_t Dot(const Run& a, const Run& b, int32_t count, int64_t sum) {
  constexpr int32_t kBuffer = 32;
  int64_t x[kBuffer];
  int64_t y[kBuffer];
  for (int32_t begin = 0; begin < count; begin += kBuffer) {
    const size_t step = static_cast<size_t>(count - begin < kBuffer ? count - begin : kBuffer);
    Load(a.tensor->dtype, a.tensor->data, a.offset + static_cast<ptrdiff_t>(begin) * a.stride, a.stride, step, x);
    Load(b.tensor->dtype, b.tensor->data, b.offset + static_cast<ptrdiff_t>(begin) * b.stride, b.stride, step, y);
    for (size_t i = 0; i < step; ++i) {
      sum =
          static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x[i]) * static_cast<uint64_t>(y[i]));
    }
  }
  return sum;
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_DOT_H_
