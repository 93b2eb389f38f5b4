#include <stddef.h>

#include "additional.h"
#include "requantize.h"
#include "transpose_conv_taps.h"

#define UNROLL _Pragma("GCC unroll 4")

static inline __attribute__((always_inline)) void dot(const int8_t *x, const int8_t *w, int32_t row_bytes,
                                                      int32_t depth, int32_t offset, const int32_t rows,
                                                      uint32_t acc[4]) {
  if (rows == 1) {
    uint32_t sum = acc[0];
    for (int32_t i = 0; i < depth; ++i) {
      sum += (uint32_t)((x[i] + offset) * w[i]);
    }
    acc[0] = sum;
    return;
  }
  const int8_t *w1 = w + row_bytes, *w2 = w1 + row_bytes, *w3 = w2 + row_bytes;
  uint32_t sum0 = acc[0], sum1 = acc[1], sum2 = acc[2], sum3 = acc[3];
  for (int32_t i = 0; i < depth; ++i) {
    const int32_t value = x[i] + offset;
    sum0 += (uint32_t)(value * w[i]);
    sum1 += (uint32_t)(value * w1[i]);
    sum2 += (uint32_t)(value * w2[i]);
    sum3 += (uint32_t)(value * w3[i]);
  }
  acc[0] = sum0;
  acc[1] = sum1;
  acc[2] = sum2;
  acc[3] = sum3;
}

#define FUNCTION cortex_m_nn_transpose_conv_scalar
#include "transpose_conv_s8.h"
