#include "pool_s8.h"
#include "requantize.h"

// Integer mean, halves away from zero.
static int8_t mean(int32_t sum, int32_t count, const cmsis_nn_activation *activation) {
  const int32_t value = sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
  return (int8_t)cortex_m_nn_clamp(value, activation->min, activation->max);
}

// All channels of one output pixel.
static void average(const cortex_m_nn_pool_window *window, int32_t channels, const cmsis_nn_activation *activation,
                    int8_t *out) {
  const int32_t count = window->rows * window->columns;
  int32_t c = 0;
  for (; c + 4 <= channels; c += 4) {
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (int32_t ky = 0; ky < window->rows; ++ky) {
      const int8_t *value = window->input + ky * window->row_step + c;
      for (int32_t kx = 0; kx < window->columns; ++kx, value += channels) {
        sum0 += value[0];
        sum1 += value[1];
        sum2 += value[2];
        sum3 += value[3];
      }
    }
    out[c] = mean(sum0, count, activation);
    out[c + 1] = mean(sum1, count, activation);
    out[c + 2] = mean(sum2, count, activation);
    out[c + 3] = mean(sum3, count, activation);
  }
  for (; c < channels; ++c) {
    int32_t sum = 0;
    for (int32_t ky = 0; ky < window->rows; ++ky) {
      for (int32_t kx = 0; kx < window->columns; ++kx) {
        sum += window->input[ky * window->row_step + kx * channels + c];
      }
    }
    out[c] = mean(sum, count, activation);
  }
}

void cortex_m_nn_avgpool_scalar(const cortex_m_nn_pool_call *call) {
  const cmsis_nn_dims *output = call->output_dims;
  int8_t *out = call->output;
  for (int32_t n = 0; n < output->n; ++n) {
    for (int32_t y = 0; y < output->h; ++y) {
      for (int32_t x = 0; x < output->w; ++x, out += output->c) {
        const cortex_m_nn_pool_window window = cortex_m_nn_pool_window_at(call, n, y, x);
        average(&window, output->c, &call->params->activation, out);
      }
    }
  }
}
