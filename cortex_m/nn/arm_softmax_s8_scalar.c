// A difference to the maximum has 256 values at most, and its exponential costs some hundred instructions: each is
// computed once and kept, in 1 KiB of stack.
#include <stdbool.h>

#include "fixed_point.h"
#include "softmax_s8.h"

enum { kUnknown = -1 };  // no exponential is negative

typedef struct {
  int32_t multiplier;
  int32_t one;          // 2^shift
  int32_t smallest;     // difference that counts
  int32_t values[256];  // by minus the difference
} exponentials;

static __attribute__((noinline)) int32_t compute(exponentials *e, int32_t diff) {
  const int32_t scaled = cortex_m_nn_saturating_high_mul(cortex_m_nn_wrapping_mul(diff, e->one), e->multiplier);
  return e->values[-diff] = cortex_m_nn_exp_on_negative_values(scaled);
}

static inline int32_t exponential(exponentials *e, int32_t diff) {
  const int32_t known = e->values[-diff];
  return known != kUnknown ? known : compute(e, diff);
}

static void softmax_row(exponentials *e, const int8_t *x, int32_t size, int8_t *out) {
  int32_t max = x[0];
  for (int32_t i = 1; i < size; ++i) {
    max = x[i] > max ? x[i] : max;
  }
  const int32_t smallest = max + e->smallest;
  uint32_t sum = 0;
  for (int32_t i = 0; i < size; ++i) {
    if (x[i] >= smallest) {
      sum += (uint32_t)arm_nn_divide_by_power_of_two(exponential(e, x[i] - max), kCortexMNnSoftmaxIntegerBits);
    }
  }
  // sum = (1 + fraction) * 2^(31 - headroom); the maximum itself contributes 2^19, so sum is not 0.
  const int32_t headroom = __builtin_clz(sum);
  const int32_t fraction = (int32_t)((sum << headroom) - ((uint32_t)1 << 31));
  const int32_t reciprocal = cortex_m_nn_one_over_one_plus(fraction);
  const int32_t exponent = kCortexMNnSoftmaxIntegerBits - headroom + 31 - 8;
  for (int32_t i = 0; i < size; ++i) {
    int32_t value = -128;
    if (x[i] >= smallest && exponent <= 31) {  // exponent > 31: every probability is below 1/512
      const int32_t probability = arm_nn_doubling_high_mult_no_sat(reciprocal, exponential(e, x[i] - max));
      value += arm_nn_divide_by_power_of_two(probability, exponent);
    }
    out[i] = (int8_t)cortex_m_nn_clamp(value, -128, 127);
  }
}

void cortex_m_nn_softmax_scalar(const cortex_m_nn_softmax_call *call) {
  exponentials e;
  e.multiplier = call->multiplier;
  e.one = (int32_t)1 << call->shift;
  e.smallest = call->diff_min < -255 ? -255 : call->diff_min;
  for (int32_t i = 0; i <= -e.smallest; ++i) {
    e.values[i] = kUnknown;
  }
  const int8_t *in = call->input;
  int8_t *out = call->output;
  for (int32_t row = 0; row < call->rows; ++row) {
    softmax_row(&e, in, call->row_size, out);
    in += call->row_size;
    out += call->row_size;
  }
}
