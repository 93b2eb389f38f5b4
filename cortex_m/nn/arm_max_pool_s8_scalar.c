#include "pool_s8.h"
#include "requantize.h"

void cortex_m_nn_max_pool_scalar(const cortex_m_nn_pool_call *call) {
  const cmsis_nn_dims *output = call->output_dims;
  const cmsis_nn_activation *activation = &call->params->activation;
  const int32_t channels = output->c;
  int8_t *out = call->output;
  for (int32_t n = 0; n < output->n; ++n) {
    for (int32_t y = 0; y < output->h; ++y) {
      for (int32_t x = 0; x < output->w; ++x) {
        const cortex_m_nn_pool_window window = cortex_m_nn_pool_window_at(call, n, y, x);
        for (int32_t c = 0; c < channels; ++c) {
          int32_t max = -128;
          for (int32_t ky = 0; ky < window.rows; ++ky) {
            const int8_t *value = window.input + ky * window.row_step + c;
            for (int32_t kx = window.columns; kx > 0; --kx, value += channels) {
              max = *value > max ? *value : max;
            }
          }
          *out++ = (int8_t)cortex_m_nn_clamp(max, activation->min, activation->max);
        }
      }
    }
  }
}
