// Building blocks of the MVE (Helium) kernels; empty for other instruction sets.
#ifndef CORTEX_M_NN_MVE_H_
#define CORTEX_M_NN_MVE_H_

#include "isa.h"

#if CORTEX_M_NN_MVE

#include <arm_mve.h>
#include <stdbool.h>
#include <stdint.h>

// arm_nn_divide_by_power_of_two for exponents -shift >= 1 in every lane: VRSHL rounds halves up, so that taking one
// from a negative dividend first sends its halves down, away from zero.
static inline __attribute__((always_inline)) int32x4_t cortex_m_nn_divide_right_mve(int32x4_t value, int32x4_t shift) {
  return vrshlq_s32(vaddq_s32(value, vshrq_n_s32(value, 31)), shift);
}

// The same where a lane's shift may be 0, which divides by one and needs no correction.
static inline __attribute__((always_inline)) int32x4_t cortex_m_nn_divide_mve(int32x4_t value, int32x4_t shift) {
  const int32x4_t correction = vshrq_n_s32(vandq_s32(value, shift), 31);
  return vrshlq_s32(vaddq_s32(value, correction), shift);
}

// arm_nn_requantize. `right`: every shift is negative. Without it, any shift.
static inline __attribute__((always_inline)) int32x4_t cortex_m_nn_requantize_mve(int32x4_t value, int32x4_t multiplier,
                                                                                  int32x4_t shift, const bool right) {
  if (right) {
    return cortex_m_nn_divide_right_mve(vqrdmulhq_s32(value, multiplier), shift);
  }
  const int32x4_t zero = vdupq_n_s32(0);
  const int32x4_t scaled = vqrdmulhq_s32(vshlq_s32(value, vmaxq_s32(shift, zero)), multiplier);
  return cortex_m_nn_divide_mve(scaled, vminq_s32(shift, zero));
}

// The same with one multiplier and shift for all lanes.
static inline __attribute__((always_inline)) int32x4_t cortex_m_nn_requantize_n_mve(int32x4_t value, int32_t multiplier,
                                                                                    int32_t shift, const bool right) {
  if (right) {
    const int32x4_t scaled = vqrdmulhq_n_s32(value, multiplier);
    return vrshlq_n_s32(vaddq_s32(scaled, vshrq_n_s32(scaled, 31)), shift);
  }
  if (shift < 0) {
    const int32x4_t scaled = vqrdmulhq_n_s32(value, multiplier);
    return vrshlq_n_s32(vaddq_s32(scaled, vshrq_n_s32(scaled, 31)), shift);
  }
  return vqrdmulhq_n_s32(vshlq_r_s32(value, shift), multiplier);
}

// Core registers to lanes. The compiler's own way takes one instruction a lane.
static inline __attribute__((always_inline)) int32x4_t cortex_m_nn_lanes_mve(int32_t a, int32_t b, int32_t c,
                                                                             int32_t d) {
  int32x4_t lanes;
  __asm__("vmov %e0, %1, %2" : "=w"(lanes) : "r"(a), "r"(b));  // the lower doubleword
  __asm__("vmov %f0, %1, %2" : "+w"(lanes) : "r"(c), "r"(d));
  return lanes;
}

// Bytes below are moved 16 at a time, the rest by predication: nothing outside is read or written.
static inline void cortex_m_nn_copy_mve(int8_t *to, const int8_t *from, int32_t bytes) {
  for (; bytes >= 16; bytes -= 16, to += 16, from += 16) {
    vstrbq_s8(to, vldrbq_s8(from));
  }
  if (bytes > 0) {
    const mve_pred16_t p = vctp8q((uint32_t)bytes);
    vstrbq_p_s8(to, vldrbq_z_s8(from, p), p);
  }
}

static inline void cortex_m_nn_fill_mve(int8_t *to, int8_t value, int32_t bytes) {
  const int8x16_t values = vdupq_n_s8(value);
  for (; bytes >= 16; bytes -= 16, to += 16) {
    vstrbq_s8(to, values);
  }
  if (bytes > 0) {
    vstrbq_p_s8(to, values, vctp8q((uint32_t)bytes));
  }
}

static inline int32_t cortex_m_nn_sum_mve(const int8_t *values, int32_t count) {
  int32_t sum = 0;
  for (; count >= 16; count -= 16, values += 16) {
    sum = vaddvaq_s8(sum, vldrbq_s8(values));
  }
  if (count > 0) {
    sum = vaddvaq_s8(sum, vldrbq_z_s8(values, vctp8q((uint32_t)count)));
  }
  return sum;
}

#endif  // MVE

#endif  // CORTEX_M_NN_MVE_H_
