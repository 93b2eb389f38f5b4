#include "elementwise_s8.h"
#include "requantize.h"

static inline __attribute__((always_inline)) void mul_quick(const cortex_m_nn_mul_call *call, const bool full) {
  const cortex_m_nn_quick_params out = cortex_m_nn_quick_params_of(call->multiplier, call->shift, call->output_offset);
  const int32_t a_offset = call->a_offset, b_offset = call->b_offset;
  const int32_t min = call->activation.min, max = call->activation.max;
  const int8_t *x = call->a, *y = call->b;
  int8_t *to = call->output;
  for (int32_t i = call->count; i > 0; --i) {
    *to++ = cortex_m_nn_quick_requantize_to_s8((*x++ + a_offset) * (*y++ + b_offset), &out, min, max, full);
  }
}

void cortex_m_nn_mul_scalar(const cortex_m_nn_mul_call *call) {
  if (call->shift >= CORTEX_M_NN_QUICK_MIN_SHIFT && call->shift < 0) {
    if (call->activation.min == -128 && call->activation.max == 127) {
      mul_quick(call, true);
    } else {
      mul_quick(call, false);
    }
    return;
  }
  for (int32_t i = 0; i < call->count; ++i) {
    const int32_t product = (call->a[i] + call->a_offset) * (call->b[i] + call->b_offset);
    call->output[i] = cortex_m_nn_requantize_to_s8(product, call->multiplier, call->shift, call->output_offset,
                                                   call->activation.min, call->activation.max);
  }
}
