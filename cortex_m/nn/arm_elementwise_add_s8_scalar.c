#include "elementwise_s8.h"
#include "requantize.h"

static void add_any(const cortex_m_nn_add_call *call) {
  const cortex_m_nn_add_input a = call->a, b = call->b;
  const int32_t one = (int32_t)1 << call->left_shift;
  for (int32_t i = 0; i < call->count; ++i) {
    const int32_t x = arm_nn_requantize((a.values[i] + a.offset) * one, a.multiplier, a.shift);
    const int32_t y = arm_nn_requantize((b.values[i] + b.offset) * one, b.multiplier, b.shift);
    call->output[i] = cortex_m_nn_requantize_to_s8(cortex_m_nn_wrapping_add(x, y), call->multiplier, call->shift,
                                                   call->output_offset, call->activation.min, call->activation.max);
  }
}

// Where rescaling rounds nothing, x * factor + offset is the result (cortex_m_nn_add_exact_factor); else it is twice the
// input, so that the upper word of a product is what is wanted (requantize.h).
typedef struct {
  int32_t factor;
  int32_t offset;  // times factor
  int32_t multiplier;
  int32_t right;
  int32_t half;  // of the unit that the shift to the right leaves
} quick_input;

static quick_input quick_input_of(const cortex_m_nn_add_input *input, int32_t left_shift, const bool exact) {
  const int32_t factor = exact ? cortex_m_nn_add_exact_factor(input, left_shift) : (int32_t)1 << (left_shift + 1);
  const quick_input quick = {factor, input->offset * factor, input->multiplier, -input->shift,
                             input->shift == 0 ? 0 : (int32_t)1 << (-input->shift - 1)};
  return quick;
}

static inline __attribute__((always_inline)) int32_t rescale(int32_t value, const quick_input *q, const bool exact) {
  const int32_t wide = value * q->factor + q->offset;
  if (exact) {
    return wide;
  }
  const int32_t scaled = cortex_m_nn_quick_high_mult(wide, q->multiplier);
  return (scaled + (scaled >> 31) + q->half) >> q->right;
}

static inline __attribute__((always_inline)) void add_quick(const cortex_m_nn_add_call *call, const bool a_exact,
                                                            const bool b_exact, const bool full) {
  const quick_input a = quick_input_of(&call->a, call->left_shift, a_exact);
  const quick_input b = quick_input_of(&call->b, call->left_shift, b_exact);
  const cortex_m_nn_quick_params out = cortex_m_nn_quick_params_of(call->multiplier, call->shift, call->output_offset);
  const int32_t min = call->activation.min, max = call->activation.max;
  const int32_t offset = a.offset + b.offset;
  const int8_t *x = call->a.values, *y = call->b.values;
  int8_t *to = call->output;
  for (int32_t i = call->count; i > 0; --i) {
    const int32_t sum = a_exact && b_exact ? *x++ * a.factor + (*y++ * b.factor + offset)
                                           : rescale(*x++, &a, a_exact) + rescale(*y++, &b, b_exact);
    *to++ = cortex_m_nn_quick_requantize_to_s8(sum, &out, min, max, full);
  }
}

static bool is_quick(int32_t shift) { return shift >= CORTEX_M_NN_QUICK_MIN_SHIFT && shift < 0; }

void cortex_m_nn_add_scalar(const cortex_m_nn_add_call *call) {
  const bool a_exact = cortex_m_nn_add_exact_factor(&call->a, call->left_shift) != 0;
  const bool b_exact = cortex_m_nn_add_exact_factor(&call->b, call->left_shift) != 0;
  const bool full = call->activation.min == -128 && call->activation.max == 127;
  // Up to a left shift of 20 the sum of both stays below 2^30.
  if (!(a_exact || is_quick(call->a.shift)) || !(b_exact || is_quick(call->b.shift)) || !is_quick(call->shift) ||
      call->left_shift > 20) {
    add_any(call);
  } else if (a_exact && b_exact) {
    if (full) {
      add_quick(call, true, true, true);
    } else {
      add_quick(call, true, true, false);
    }
  } else if (a_exact && full) {
    add_quick(call, true, false, true);
  } else if (b_exact && full) {
    add_quick(call, false, true, true);
  } else if (!a_exact && !b_exact && full) {
    add_quick(call, false, false, true);
  } else {
    add_any(call);
  }
}
