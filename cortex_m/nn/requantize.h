// Fixed-point rescaling of 32-bit accumulators, and the last step of each kernel. Every variant of every kernel rounds
// here.
//
//   real factor = multiplier * 2^shift / 2^31, multiplier any int32, shift -31..30
//   requantize(x) = round_away(round_up((x * 2^max(shift, 0)) * multiplier / 2^31) / 2^max(-shift, 0))
//
// where round_up sends halves towards plus infinity and round_away sends them away from zero ("double rounding").
// The left shift and the sums wrap modulo 2^32: written with unsigned types, so that nothing here is undefined.
#ifndef CORTEX_M_NN_REQUANTIZE_H_
#define CORTEX_M_NN_REQUANTIZE_H_

#include <stdbool.h>
#include <stdint.h>

#define CORTEX_M_NN_MIN_SHIFT (-31)
#define CORTEX_M_NN_MAX_SHIFT 30

static inline bool cortex_m_nn_shift_is_valid(int32_t shift) {
  return shift >= CORTEX_M_NN_MIN_SHIFT && shift <= CORTEX_M_NN_MAX_SHIFT;
}

// Modulo 2^32. The conversion back to int32_t is the implementation's; every compiler we use defines it as wrapping.
static inline int32_t cortex_m_nn_wrapping_add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
static inline int32_t cortex_m_nn_wrapping_mul(int32_t a, int32_t b) { return (int32_t)((uint32_t)a * (uint32_t)b); }

// a * b / 2^31, halves up. Only INT32_MIN * INT32_MIN does not fit, and wraps.
static inline int32_t arm_nn_doubling_high_mult_no_sat(int32_t a, int32_t b) {
  return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31);
}

// dividend / 2^exponent, halves away from zero; exponent 0..31.
static inline int32_t arm_nn_divide_by_power_of_two(int32_t dividend, int32_t exponent) {
  const int32_t mask = (int32_t)(((uint32_t)1 << exponent) - 1);
  const int32_t remainder = dividend & mask;
  const int32_t quotient = dividend >> exponent;
  const int32_t threshold = (mask >> 1) + (dividend < 0);
  return quotient + (remainder > threshold);
}

static inline int32_t arm_nn_requantize(int32_t value, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0;
  const int32_t right = shift > 0 ? 0 : -shift;
  const int32_t scaled = arm_nn_doubling_high_mult_no_sat((int32_t)((uint32_t)value << left), multiplier);
  return arm_nn_divide_by_power_of_two(scaled, right);
}

static inline int32_t cortex_m_nn_clamp(int32_t value, int32_t min, int32_t max) {
  return value < min ? min : value > max ? max : value;
}

// From accumulator to output value.
static inline int8_t cortex_m_nn_requantize_to_s8(int32_t accumulator, int32_t multiplier, int32_t shift,
                                                  int32_t offset, int32_t min, int32_t max) {
  const int32_t value = cortex_m_nn_wrapping_add(arm_nn_requantize(accumulator, multiplier, shift), offset);
  return (int8_t)cortex_m_nn_clamp(value, min, max);
}

// ---- The same in fewer instructions, for the parameters that programs have.
//
// With |accumulator| < 2^30 the product of twice the accumulator has its rounded result in the upper word, and with
// -22 <= shift < 0 the output offset can be added before the shift to the right.

#define CORTEX_M_NN_QUICK_MIN_SHIFT (-22)
#define CORTEX_M_NN_QUICK_MAX_BIAS (1 << 29)
#define CORTEX_M_NN_QUICK_MAX_DEPTH \
  (1 << 14)  // so many products of two int8, one of them with an offset, are below 2^29

typedef struct {
  int32_t multiplier;
  int32_t right;  // -shift
  int32_t added;  // half of the unit, and the offset, before the shift
} cortex_m_nn_quick_params;

static inline bool cortex_m_nn_quick_biases_are_valid(const int32_t *bias, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (bias[i] > CORTEX_M_NN_QUICK_MAX_BIAS || bias[i] < -CORTEX_M_NN_QUICK_MAX_BIAS) {
      return false;
    }
  }
  return true;
}

// bias may be null.
static inline bool cortex_m_nn_quick_params_are_valid(const int32_t *shifts, const int32_t *bias, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (shifts[i] < CORTEX_M_NN_QUICK_MIN_SHIFT || shifts[i] >= 0) {
      return false;
    }
  }
  return bias == 0 || cortex_m_nn_quick_biases_are_valid(bias, count);
}

static inline cortex_m_nn_quick_params cortex_m_nn_quick_params_of(int32_t multiplier, int32_t shift, int32_t offset) {
  const uint32_t unit = (uint32_t)1 << (-shift & 31);
  const cortex_m_nn_quick_params params = {multiplier, -shift, (int32_t)((uint32_t)offset * unit + unit / 2)};
  return params;
}

static inline int32_t cortex_m_nn_clamp_to_s8(int32_t value) {
#if defined(__ARM_FEATURE_SAT)
  __asm__("ssat %0, #8, %1" : "=r"(value) : "r"(value));  // GCC 12 compares and moves, in six instructions
  return value;
#else
  return cortex_m_nn_clamp(value, -128, 127);
#endif
}

// a * b / 2^32, halves up.
static inline int32_t cortex_m_nn_quick_high_mult(int32_t a, int32_t b) {
#if defined(__ARM_FEATURE_DSP)
  int32_t result;
  __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  const int64_t product = (int64_t)a * b;
  return (int32_t)(product >> 32) + (int32_t)((uint32_t)product >> 31);
#endif
}

// `full`: min is -128 and max is 127.
static inline int8_t cortex_m_nn_quick_requantize_to_s8(int32_t accumulator, const cortex_m_nn_quick_params *params,
                                                        int32_t min, int32_t max, bool full) {
  const int32_t scaled = cortex_m_nn_quick_high_mult(accumulator * 2, params->multiplier);
  const int32_t value = (scaled + (scaled >> 31) + params->added) >> params->right;
  return (int8_t)(full ? cortex_m_nn_clamp_to_s8(value) : cortex_m_nn_clamp(value, min, max));
}

#endif  // CORTEX_M_NN_REQUANTIZE_H_
