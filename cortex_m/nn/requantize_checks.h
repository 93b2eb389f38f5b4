// Whether multipliers and shifts are ones that all kernels take alike. Kernels ask it of the channels at each call, and a
// small layer has a channel for every few products: so it has no branch for each.
#ifndef CORTEX_M_NN_REQUANTIZE_CHECKS_H_
#define CORTEX_M_NN_REQUANTIZE_CHECKS_H_

#include <stdbool.h>
#include <stdint.h>

#include "isa.h"
#include "requantize.h"

#if CORTEX_M_NN_MVE && !CORTEX_M_NN_SMALL
#include <arm_mve.h>
#endif

// [count] each. -2^31 is no multiplier: Helium's doubling multiplication saturates where both factors are -2^31, and
// other cores wrap.
static inline bool cortex_m_nn_requantization_is_valid(const int32_t *multipliers, const int32_t *shifts,
                                                       int32_t count) {
#if CORTEX_M_NN_MVE && !CORTEX_M_NN_SMALL
  int32x4_t multiplier = vdupq_n_s32(0);
  int32x4_t low = multiplier;
  int32x4_t high = multiplier;
  for (int32_t i = 0; i < count; i += 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)(count - i));  // behind the last: 0, which is valid
    const int32x4_t shift = vldrwq_z_s32(shifts + i, lanes);
    low = vminq_s32(low, shift);
    high = vmaxq_s32(high, shift);
    multiplier = vminq_s32(multiplier, vldrwq_z_s32(multipliers + i, lanes));
  }
  return vminvq_s32(0, multiplier) > INT32_MIN && vminvq_s32(0, low) >= CORTEX_M_NN_MIN_SHIFT &&
         vmaxvq_s32(0, high) <= CORTEX_M_NN_MAX_SHIFT;
#else
  int32_t multiplier = 0;
  uint32_t wrong = 0;  // its sign: of a shift minus the smallest, or of the largest minus a shift
  for (int32_t i = 0; i < count; ++i) {
    const uint32_t shift = (uint32_t)shifts[i];
    wrong |= (shift - (uint32_t)CORTEX_M_NN_MIN_SHIFT) | ((uint32_t)CORTEX_M_NN_MAX_SHIFT - shift);
    multiplier = multiplier < multipliers[i] ? multiplier : multipliers[i];
  }
  return multiplier > INT32_MIN && wrong >> 31 == 0;
#endif
}

static inline bool cortex_m_nn_shifts_are_valid(const int32_t *shifts, int32_t count) {
  return cortex_m_nn_requantization_is_valid(shifts, shifts, count);  // what is a valid shift is no -2^31 either
}

#endif  // CORTEX_M_NN_REQUANTIZE_CHECKS_H_
