#include "elementwise_s8.h"
#include "requantize.h"

void cortex_m_nn_mul_scalar(const cortex_m_nn_mul_call *call) {
  for (int32_t i = 0; i < call->count; ++i) {
    const int32_t product = (call->a[i] + call->a_offset) * (call->b[i] + call->b_offset);
    call->output[i] = cortex_m_nn_requantize_to_s8(product, call->multiplier, call->shift, call->output_offset,
                                                   call->activation.min, call->activation.max);
  }
}
