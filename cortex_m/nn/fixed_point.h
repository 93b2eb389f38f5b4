// Fixed-point functions of the TensorFlow Lite quantization reference (gemmlowp's fixedpoint), as needed by softmax.
// A number Qm.n below has m integer bits, n = 31 - m fractional bits and a sign, in an int32.
#ifndef CORTEX_M_NN_FIXED_POINT_H_
#define CORTEX_M_NN_FIXED_POINT_H_

#include <stdint.h>

#include "requantize.h"

// a * b for Q0.31 numbers, rounded; the one product that does not fit (-1 * -1) becomes the largest number.
static inline int32_t cortex_m_nn_saturating_high_mul(int32_t a, int32_t b) {
  return a == INT32_MIN && b == INT32_MIN ? INT32_MAX : arm_nn_doubling_high_mult_no_sat(a, b);
}

// value * 2^exponent, saturating; exponent 0..30.
static inline int32_t cortex_m_nn_saturating_shift_left(int32_t value, int32_t exponent) {
  const int64_t shifted = (int64_t)value * ((int64_t)1 << exponent);
  return shifted > INT32_MAX ? INT32_MAX : shifted < INT32_MIN ? INT32_MIN : (int32_t)shifted;
}

// exp(a) for a in [-1/4, 0), Q0.31 to Q0.31: Taylor series of fourth order around -1/8.
static inline int32_t cortex_m_nn_exp_quarter(int32_t a) {
  const int32_t exp_minus_one_eighth = 1895147668;  // exp(-1/8) * 2^31
  const int32_t one_third = 715827883;
  const int32_t x = a + (1 << 28);
  const int32_t x2 = cortex_m_nn_saturating_high_mul(x, x);
  const int32_t x3 = cortex_m_nn_saturating_high_mul(x2, x);
  const int32_t x4_over_4 = arm_nn_divide_by_power_of_two(cortex_m_nn_saturating_high_mul(x2, x2), 2);
  const int32_t x4_over_12_plus_x3_over_3 = cortex_m_nn_saturating_high_mul(x4_over_4 + x3, one_third);
  const int32_t higher_terms = arm_nn_divide_by_power_of_two(x4_over_12_plus_x3_over_3 + x2, 1);
  return exp_minus_one_eighth + cortex_m_nn_saturating_high_mul(exp_minus_one_eighth, x + higher_terms);
}

// exp(a) for a <= 0, Q5.26 to Q0.31: exp of the part below 1/4, times exp(-2^k) for each bit k of the rest.
static inline int32_t cortex_m_nn_exp_on_negative_values(int32_t a) {
  static const int32_t kExpMinusPowers[7] = {// exp(-2^k) * 2^31, k = -2 .. 4
                                             1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  if (a == 0) {
    return INT32_MAX;
  }
  const int32_t quarter = 1 << 24;
  const int32_t low = (a & (quarter - 1)) - quarter;
  const int32_t rest = low - a;
  int32_t result = cortex_m_nn_exp_quarter(low * 32);  // Q5.26 to Q0.31: |low| <= 2^24
  for (int k = 0; k < 7; ++k) {
    if (rest & (quarter << k)) {
      result = cortex_m_nn_saturating_high_mul(result, kExpMinusPowers[k]);
    }
  }
  return result;
}

// 1 / (1 + a) for a in [0, 1), Q0.31 to Q0.31: three steps of Newton's division of 1/2 by (1 + a) / 2.
static inline int32_t cortex_m_nn_one_over_one_plus(int32_t a) {
  const int32_t forty_eight_seventeenths = 1515870810;        // Q2.29
  const int32_t minus_thirty_two_seventeenths = -1010580540;  // Q2.29
  const int32_t one = 1 << 29;                                // Q2.29
  const int32_t half_denominator = (int32_t)(((int64_t)a + INT32_MAX + 1) / 2);
  int32_t x =
      forty_eight_seventeenths + cortex_m_nn_saturating_high_mul(half_denominator, minus_thirty_two_seventeenths);
  for (int i = 0; i < 3; ++i) {
    const int32_t error = one - cortex_m_nn_saturating_high_mul(half_denominator, x);
    x += cortex_m_nn_saturating_shift_left(cortex_m_nn_saturating_high_mul(x, error), 2);
  }
  return cortex_m_nn_saturating_shift_left(x, 1);
}

#endif  // CORTEX_M_NN_FIXED_POINT_H_
