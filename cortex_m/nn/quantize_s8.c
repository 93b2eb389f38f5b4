#include "quantize_s8.h"

#include "additional.h"
#include "isa.h"
#include "mve.h"
#include "requantize.h"

void cortex_m_nn_quantize_scalar(const float *input, int8_t *output, int32_t step, int32_t count,
                                 const cortex_m_nn_quantization *quantization) {
  const cortex_m_nn_quantization q = *quantization;  // which the stores cannot change
  for (; count > 0; --count, output += step) {
    *output = (int8_t)cortex_m_nn_quantize(*input++, &q);
  }
}

// `full`: the range is all of int8.
static inline __attribute__((always_inline)) int8_t limited(int32_t value, const cortex_m_nn_quantization *q,
                                                            const bool full) {
  return (int8_t)(full ? cortex_m_nn_clamp_to_s8(value) : cortex_m_nn_clamp(value, q->min, q->max));
}

static bool is_full(const cortex_m_nn_quantization *q) { return q->min == -128 && q->max == 127; }

// Fixed point: the magnitude of x / scale with 22 bits of fraction, from the upper word of the product of both mantissas.
// Two units of it may be lost here, and float32 rounds what is below 2^9 by no more than 2^6 units: that matters beside a
// tie alone. So all that lies farther from one is rounded at once, and the few others by the definition.
#define FRACTION_BITS 22
#define WINDOW_BITS 8  // units to both sides of a tie

static inline
    __attribute__((always_inline)) void by_integers(const float *input, int8_t *output, int32_t step, int32_t count,
                                                    const cortex_m_nn_quantization *quantization, const bool full) {
  const cortex_m_nn_quantization q = *quantization;
  const uint32_t inverse = cortex_m_nn_bits(q.inverse);
  const uint32_t factor = (inverse << 7 | 0x40000000u) & 0x7FFFFFFFu;  // the mantissa, in 31 bits
  const int32_t top = 261 - (int32_t)(inverse >> 23);
  for (; count > 0; --count, output += step) {
    const uint32_t bits = cortex_m_nn_bits(*input++);
    const uint32_t shift = (uint32_t)(top - (int32_t)(bits >> 23 & 0xFF));
    int32_t value;
    if (shift <= 31) {  // below 2^9
      const uint32_t mantissa = (bits << 8 | 0x80000000u) >> shift;
      const uint32_t magnitude = (uint32_t)((uint64_t)mantissa * factor >> 32);
      const uint32_t sum = magnitude + ((1u << (FRACTION_BITS - 1)) + (1u << WINDOW_BITS));
      if ((sum & ((1u << FRACTION_BITS) - (2u << WINDOW_BITS))) != 0) {
        const int32_t sign = (int32_t)bits >> 31;
        value = ((int32_t)(sum >> FRACTION_BITS) ^ sign) - sign + q.zero_point;
      } else {
        value = cortex_m_nn_quantize(input[-1], &q);
      }
    } else if ((int32_t)shift > 0 || (bits & 0x7FFFFFFFu) > 0x7F800000u) {  // next to nothing, or no number
      value = q.zero_point;
    } else {  // 2^8 and above
      value = (bits >> 31) != 0 ? q.min : q.max;
    }
    *output = limited(value, &q, full);
  }
}

void cortex_m_nn_quantize_integer(const float *input, int8_t *output, int32_t step, int32_t count,
                                  const cortex_m_nn_quantization *quantization) {
  if (cortex_m_nn_bits(quantization->inverse) >> 23 <= 6) {  // even infinity would be in the range of the shifts
    cortex_m_nn_quantize_scalar(input, output, step, count, quantization);
  } else if (is_full(quantization)) {
    by_integers(input, output, step, count, quantization, true);
  } else {
    by_integers(input, output, step, count, quantization, false);
  }
}

#if CORTEX_M_NN_FPU && !CORTEX_M_NN_MVE_FLOAT
// VCVTR rounds half to even, saturates, and makes 0 of what is no number.
static inline __attribute__((always_inline)) void by_floats(const float *input, int8_t *output, int32_t step,
                                                            int32_t count, const cortex_m_nn_quantization *quantization,
                                                            const bool full) {
  const cortex_m_nn_quantization q = *quantization;
  for (; count > 0; --count, output += step) {
    int32_t value;
    __asm__("vcvtr.s32.f32 %0, %1" : "=t"(value) : "t"(*input++ * q.inverse));
    __asm__("ssat %0, #16, %1" : "=r"(value) : "r"(value));  // so that the sum does not wrap
    *output = limited(value + q.zero_point, &q, full);
  }
}

static __attribute__((noinline)) void cortex_m_nn_quantize_fpu(const float *input, int8_t *output, int32_t step,
                                                               int32_t count,
                                                               const cortex_m_nn_quantization *quantization) {
  if (is_full(quantization)) {
    by_floats(input, output, step, count, quantization, true);
  } else {
    by_floats(input, output, step, count, quantization, false);
  }
}
#endif

#if CORTEX_M_NN_MVE_FLOAT
// VCVTN rounds half to even, saturates, and makes 0 of what is no number.
static inline __attribute__((always_inline)) int32x4_t rounded_mve(float32x4_t x, float inverse) {
  return vcvtnq_s32_f32(vmulq_n_f32(x, inverse));
}

static inline __attribute__((always_inline)) void store_mve(int8_t *output, uint16x8_t places, int16x8_t values,
                                                            const bool dense) {
  if (dense) {
    vstrbq_s16(output, values);
  } else {
    vstrbq_scatter_offset_s16(output, places, values);
  }
}

// Eight values at a time. Returns how many are left.
static inline __attribute__((always_inline)) int32_t eights_mve(const float **input, int8_t **output, int32_t step,
                                                                int32_t count, const cortex_m_nn_quantization *q,
                                                                const bool dense) {
  const float inverse = q->inverse;
  const int16_t zero_point = (int16_t)q->zero_point;
  const int16x8_t min = vdupq_n_s16((int16_t)q->min), max = vdupq_n_s16((int16_t)q->max);
  const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)step);
  const float *from = *input;
  int8_t *to = *output;
  for (int32_t i = count / 8; i > 0; --i, from += 8, to += dense ? 8 : 8 * step) {
    const float32x4x2_t x = vld2q_f32(from);  // even and odd places
    int16x8_t value = vqmovnbq_s32(vuninitializedq_s16(), rounded_mve(x.val[0], inverse));
    value = vqaddq_n_s16(vqmovntq_s32(value, rounded_mve(x.val[1], inverse)), zero_point);
    store_mve(to, places, vminq_s16(vmaxq_s16(value, min), max), dense);
  }
  *input = from;
  *output = to;
  return count % 8;
}

static __attribute__((noinline)) void cortex_m_nn_quantize_mve(const float *input, int8_t *output, int32_t step,
                                                               int32_t count,
                                                               const cortex_m_nn_quantization *quantization) {
  const cortex_m_nn_quantization q = *quantization;
#ifndef __OPTIMIZE_SIZE__
  if (step == 1) {
    count = eights_mve(&input, &output, step, count, &q, true);
  } else if (step <= UINT16_MAX / 7) {  // the last place of a vector
    count = eights_mve(&input, &output, step, count, &q, false);
  }
#endif
  const int32x4_t min = vdupq_n_s32(q.min), max = vdupq_n_s32(q.max);
  const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)step);
  for (; count > 0; count -= 4, input += 4, output += 4 * step) {
    const mve_pred16_t lanes = vctp32q((uint32_t)count);
    const int32x4_t value = vqaddq_n_s32(rounded_mve(vldrwq_z_f32(input, lanes), q.inverse), q.zero_point);
    vstrbq_scatter_offset_p_s32(output, places, vminq_s32(vmaxq_s32(value, min), max), lanes);
  }
}
#endif

void cortex_m_nn_quantize_s8(const float *input, int8_t *output, int32_t step, int32_t count,
                             const cortex_m_nn_quantization *quantization) {
#if CORTEX_M_NN_MVE_FLOAT
  cortex_m_nn_quantize_mve(input, output, step, count, quantization);
#elif CORTEX_M_NN_FPU
  cortex_m_nn_quantize_fpu(input, output, step, count, quantization);
#elif defined(__arm__)
  cortex_m_nn_quantize_integer(input, output, step, count, quantization);
#else
  cortex_m_nn_quantize_scalar(input, output, step, count, quantization);
#endif
}
