// The arithmetic of quantize and dequantize, in float32 and the same bits on every core (docs/numerics.md).
#ifndef CORTEX_M_OPS_QUANTIZATION_H_
#define CORTEX_M_OPS_QUANTIZATION_H_

#include <cstdint>
#include <cstring>

#include "cortex_m/runtime/kernel.h"

namespace cortex_m::ops {

// Parameters of one affine quantization, checked.
struct Quantization {
  float scale = 1;
  float inverse = 1;          // 1 / scale, rounded to float32
  int32_t zero_point = 0;
  float low = 0, high = 0;    // quant_min - zero_point, quant_max - zero_point: exact in float32
};

// dtype: of the quantized tensor, int8 or int16.
Status ReadQuantization(KernelContext& context, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max,
                        ScalarType dtype, Quantization* quantization);

// A product that is rounded before anything else happens to it: no fused multiply-add, whatever the compiler's flags.
inline float Rounded(float product) {
  uint32_t bits;
  std::memcpy(&bits, &product, sizeof bits);
  __asm__("" : "+r"(bits));
  std::memcpy(&product, &bits, sizeof bits);
  return product;
}

// zero_point + round_half_even(x / scale), saturated to quant_min..quant_max; NaN becomes the zero point.
inline int32_t QuantizeValue(float x, const Quantization& q) {
  float value = Rounded(x * q.inverse);
  if (value != value) return q.zero_point;
  if (value < q.low) value = q.low;
  if (value > q.high) value = q.high;
  // |value| < 2^17 now. Adding 1.5 * 2^23 leaves no room for a fraction, so the addition itself rounds, half to even; the
  // integer stands in the low bits of the sum.
  constexpr float kMagic = 12582912.0f;
  constexpr uint32_t kMagicBits = 0x4B400000;
  const float sum = value + kMagic;
  uint32_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  return static_cast<int32_t>(bits - kMagicBits) + q.zero_point;
}

inline float DequantizeValue(int32_t value, const Quantization& q) {
  return static_cast<float>(value - q.zero_point) * q.scale;
}

}  // namespace cortex_m::ops

#endif  // CORTEX_M_OPS_QUANTIZATION_H_
