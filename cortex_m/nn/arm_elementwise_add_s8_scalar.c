#include "elementwise_s8.h"
#include "requantize.h"

static void add_any(const cortex_m_nn_add_call *call) {
  const cortex_m_nn_add_input a = call->a, b = call->b;
  const int32_t one = (int32_t)1 << call->left_shift;
  for (int32_t i = 0; i < call->count; ++i) {
    const int32_t x = arm_nn_requantize((a.values[i] + a.offset) * one, a.multiplier, a.shift);
    const int32_t y = arm_nn_requantize((b.values[i] + b.offset) * one, b.multiplier, b.shift);
    call->output[i] =
        cortex_m_nn_requantize_to_s8(cortex_m_nn_wrapping_add(x, y), call->multiplier, call->shift, call->output_offset,
                                     call->activation.min, call->activation.max);
  }
}

// Twice the input, so that the upper word of a product is what is wanted (requantize.h).
typedef struct {
  int32_t factor;   // 2^(left_shift + 1)
  int32_t offset;   // times factor
  int32_t multiplier;
  int32_t right;
  int32_t half;     // of the unit that the shift to the right leaves
} quick_input;

static quick_input quick_input_of(const cortex_m_nn_add_input *input, int32_t left_shift) {
  const int32_t factor = (int32_t)1 << (left_shift + 1);
  const quick_input quick = {factor, input->offset * factor, input->multiplier, -input->shift,
                             input->shift == 0 ? 0 : (int32_t)1 << (-input->shift - 1)};
  return quick;
}

static inline __attribute__((always_inline)) int32_t rescale(int32_t value, const quick_input *q, const bool shifts) {
  const int32_t scaled = cortex_m_nn_quick_high_mult(value * q->factor + q->offset, q->multiplier);
  return shifts ? (scaled + (scaled >> 31) + q->half) >> q->right : scaled;
}

static inline __attribute__((always_inline)) void add_quick(const cortex_m_nn_add_call *call, const bool a_shifts,
                                                            const bool b_shifts, const bool full) {
  const quick_input a = quick_input_of(&call->a, call->left_shift), b = quick_input_of(&call->b, call->left_shift);
  const cortex_m_nn_quick_params out =
      cortex_m_nn_quick_params_of(call->multiplier, call->shift, call->output_offset);
  const int32_t min = call->activation.min, max = call->activation.max;
  const int8_t *x = call->a.values, *y = call->b.values;
  int8_t *to = call->output;
  for (int32_t i = call->count; i > 0; --i) {
    const int32_t sum = rescale(*x++, &a, a_shifts) + rescale(*y++, &b, b_shifts);
    *to++ = cortex_m_nn_quick_requantize_to_s8(sum, &out, min, max, full);
  }
}

static bool is_quick(int32_t shift) { return shift >= CORTEX_M_NN_QUICK_MIN_SHIFT && shift < 0; }

void cortex_m_nn_add_scalar(const cortex_m_nn_add_call *call) {
  // Up to a left shift of 20 the sum of both stays below 2^30.
  const bool inputs = (is_quick(call->a.shift) || call->a.shift == 0) && (is_quick(call->b.shift) || call->b.shift == 0);
  if (!inputs || !is_quick(call->shift) || call->left_shift > 20) {
    add_any(call);
    return;
  }
  if (call->activation.min != -128 || call->activation.max != 127) {
    if (call->a.shift != 0 && call->b.shift != 0) {
      add_quick(call, true, true, false);
    } else {
      add_any(call);
    }
  } else if (call->a.shift == 0 && call->b.shift == 0) {
    add_quick(call, false, false, true);
  } else if (call->a.shift == 0) {
    add_quick(call, false, true, true);
  } else if (call->b.shift == 0) {
    add_quick(call, true, false, true);
  } else {
    add_quick(call, true, true, true);
  }
}
