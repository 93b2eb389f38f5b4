// One affine quantization, and its arithmetic for one value: float32, and the same bits on every core (docs/numerics.md).
#ifndef CORTEX_M_NN_QUANTIZATION_H_
#define CORTEX_M_NN_QUANTIZATION_H_

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  float scale;         // 2^-125..2^126
  float inverse;       // 1 / scale, rounded to float32
  int32_t zero_point;  // min..max
  int32_t min, max;    // of the quantized values: in the range of int8 or int16
} cortex_m_nn_quantization;

static inline uint32_t cortex_m_nn_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float cortex_m_nn_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// A product that is rounded before anything else happens to it: no fused multiply-add, whatever the compiler's flags.
static inline float cortex_m_nn_rounded(float product) {
  uint32_t bits = cortex_m_nn_bits(product);
  __asm__("" : "+r"(bits));
  return cortex_m_nn_float(bits);
}

// zero_point + round_half_even(x / scale), saturated to min..max; NaN becomes the zero point.
static inline int32_t cortex_m_nn_quantize(float x, const cortex_m_nn_quantization *q) {
  const float low = (float)(q->min - q->zero_point), high = (float)(q->max - q->zero_point);  // exact
  float value = cortex_m_nn_rounded(x * q->inverse);
  if (value != value) return q->zero_point;
  if (value < low) value = low;
  if (value > high) value = high;
  // |value| < 2^17 now. Adding 1.5 * 2^23 leaves no room for a fraction, so the addition itself rounds, half to even; the
  // integer stands in the low bits of the sum.
  const float magic = 12582912.0f;
  return (int32_t)(cortex_m_nn_bits(value + magic) - cortex_m_nn_bits(magic)) + q->zero_point;
}

static inline float cortex_m_nn_dequantize(int32_t value, const cortex_m_nn_quantization *q) {
  return (float)(value - q->zero_point) * q->scale;
}

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_NN_QUANTIZATION_H_
