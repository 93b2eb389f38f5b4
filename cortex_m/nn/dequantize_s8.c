#include "additional.h"
#include "isa.h"
#include "mve.h"
#include "quantize_s8.h"

void cortex_m_nn_dequantize_scalar(const int8_t *input, int32_t step, float *output, int32_t count,
                                   const cortex_m_nn_quantization *quantization) {
  const cortex_m_nn_quantization q = *quantization;  // which the stores cannot change
  for (; count > 0; --count, input += step) {
    *output++ = cortex_m_nn_dequantize(*input, &q);
  }
}

// The product of an integer of at most 8 bits and a mantissa of 24 fits 32 bits, so it is exact until it is rounded.
void cortex_m_nn_dequantize_integer(const int8_t *input, int32_t step, float *output, int32_t count,
                                    const cortex_m_nn_quantization *quantization) {
  const int32_t zero_point = quantization->zero_point;
  const uint32_t scale = cortex_m_nn_bits(quantization->scale);
  const uint32_t mantissa = (scale & 0x7FFFFFu) | 0x800000u;
  const uint32_t exponent = (scale >> 23) + 7;  // of a product of 32 bits, less the one that its leading bit adds
  if (exponent > 253) {                         // it may overflow
    cortex_m_nn_dequantize_scalar(input, step, output, count, quantization);
    return;
  }
  for (; count > 0; --count, input += step) {
    const int32_t value = *input - zero_point;
    uint32_t bits = 0;
    if (value != 0) {
      const uint32_t product = (uint32_t)(value < 0 ? -value : value) * mantissa;
      const uint32_t zeros = (uint32_t)__builtin_clz(product);
      const uint32_t wide = product << zeros, kept = wide >> 8;
      const uint32_t up = (wide & 0xFF) + (kept & 1) > 0x80;  // half to even
      bits = ((uint32_t)value & 0x80000000u) + ((exponent - zeros) << 23) + kept + up;
    }
    *output++ = cortex_m_nn_float(bits);
  }
}

#if CORTEX_M_NN_MVE_FLOAT
static inline __attribute__((always_inline)) float32x4_t scaled_mve(int32x4_t value, int32_t zero_point, float scale) {
  return vmulq_n_f32(vcvtq_f32_s32(vsubq_n_s32(value, zero_point)), scale);
}

static __attribute__((noinline)) void cortex_m_nn_dequantize_mve(const int8_t *input, int32_t step, float *output,
                                                                 int32_t count,
                                                                 const cortex_m_nn_quantization *quantization) {
  const float scale = quantization->scale;
  const int32_t zero_point = quantization->zero_point;
  const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)step);
#ifndef __OPTIMIZE_SIZE__
  for (; count >= 4; count -= 4, input += 4 * step, output += 4) {
    vstrwq_f32(output, scaled_mve(vldrbq_gather_offset_s32(input, places), zero_point, scale));
  }
#endif
  for (; count > 0; count -= 4, input += 4 * step, output += 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)count);
    const int32x4_t value = vldrbq_gather_offset_z_s32(input, places, lanes);
    vstrwq_p_f32(output, scaled_mve(value, zero_point, scale), lanes);
  }
}
#endif

void cortex_m_nn_dequantize_s8(const int8_t *input, int32_t step, float *output, int32_t count,
                               const cortex_m_nn_quantization *quantization) {
#if CORTEX_M_NN_MVE_FLOAT
  cortex_m_nn_dequantize_mve(input, step, output, count, quantization);
#elif !CORTEX_M_NN_FPU && defined(__arm__)
  cortex_m_nn_dequantize_integer(input, step, output, count, quantization);
#else
  cortex_m_nn_dequantize_scalar(input, step, output, count, quantization);
#endif
}
