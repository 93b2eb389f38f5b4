#include "elementwise_s8.h"
#include "requantize.h"

void cortex_m_nn_add_scalar(const cortex_m_nn_add_call *call) {
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
