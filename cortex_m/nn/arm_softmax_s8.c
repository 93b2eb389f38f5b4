#include <stddef.h>

#include "arm_nnfunctions.h"
#include "fixed_point.h"

enum {
  kAccumulatorIntegerBits = 12,  // the sum of exponentials is Q12.19
  kMaxRowSize = 8191,            // 8191 * 2^19 is the largest sum below 2^32
};

static int32_t leading_zeros(uint32_t value) {  // value != 0
  return __builtin_clz(value);
}

static void softmax_row(const int8_t *x, int32_t size, int32_t multiplier, int32_t shift, int32_t diff_min, int8_t *out) {
  int32_t max = x[0];
  for (int32_t i = 1; i < size; ++i) {
    max = x[i] > max ? x[i] : max;
  }
  const int32_t one = (int32_t)1 << shift;
  uint32_t sum = 0;
  for (int32_t i = 0; i < size; ++i) {
    const int32_t diff = x[i] - max;
    if (diff >= diff_min) {
      const int32_t scaled = cortex_m_nn_saturating_high_mul(cortex_m_nn_wrapping_mul(diff, one), multiplier);
      sum += (uint32_t)arm_nn_divide_by_power_of_two(cortex_m_nn_exp_on_negative_values(scaled),
                                                     kAccumulatorIntegerBits);
    }
  }
  // sum = (1 + fraction) * 2^(31 - headroom); the maximum itself contributes 2^19, so sum is not 0.
  const int32_t headroom = leading_zeros(sum);
  const int32_t fraction = (int32_t)((sum << headroom) - ((uint32_t)1 << 31));
  const int32_t reciprocal = cortex_m_nn_one_over_one_plus(fraction);
  const int32_t exponent = kAccumulatorIntegerBits - headroom + 31 - 8;
  for (int32_t i = 0; i < size; ++i) {
    const int32_t diff = x[i] - max;
    int32_t value = -128;
    if (diff >= diff_min && exponent <= 31) {
      const int32_t scaled = cortex_m_nn_saturating_high_mul(cortex_m_nn_wrapping_mul(diff, one), multiplier);
      const int32_t probability =
          cortex_m_nn_saturating_high_mul(reciprocal, cortex_m_nn_exp_on_negative_values(scaled));
      value += arm_nn_divide_by_power_of_two(probability, exponent);
    }
    out[i] = (int8_t)cortex_m_nn_clamp(value, -128, 127);  // exponent > 31: every probability is below 1/512
  }
}

void arm_softmax_s8(const int8_t *input, int32_t num_rows, int32_t row_size, int32_t mult, int32_t shift,
                    int32_t diff_min, int8_t *output) {
  if (input == NULL || output == NULL || row_size < 1 || row_size > kMaxRowSize || shift < 0 ||
      shift > CORTEX_M_NN_MAX_SHIFT || mult < 0 || diff_min > 0) {
    return;
  }
  for (int32_t row = 0; row < num_rows; ++row) {
    softmax_row(input, row_size, mult, shift, diff_min, output);
    input += row_size;
    output += row_size;
  }
}
