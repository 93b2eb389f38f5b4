// Four channels at a time in sums of 16 bits; a window of more than 255 values is the scalar variant's.
#include "dsp.h"
#include "isa.h"
#include "pool_s8.h"
#include "requantize.h"

#if CORTEX_M_NN_DSP

static inline int32_t mean(int32_t sum, int32_t half, int32_t count) {
  return (sum + (sum > 0 ? half : -half)) / count;
}

static inline __attribute__((always_inline)) void store(int8_t *out, int32_t value, int32_t min, int32_t max,
                                                        const bool full) {
  *out = (int8_t)(full ? value : cortex_m_nn_clamp(value, min, max));  // a mean of int8 is one
}

static inline __attribute__((always_inline)) void average(const cortex_m_nn_pool_window *window, int32_t channels,
                                                          int32_t min, int32_t max, int8_t *out, const bool full) {
  const int32_t rows = window->rows, columns = window->columns, row_step = window->row_step;
  const int32_t count = rows * columns, half = count / 2;
  const int8_t *first = window->input;
  int32_t left = channels;
  for (; left >= 4; left -= 4, first += 4, out += 4) {
    uint32_t even = 0, odd = 0;
    const int8_t *row = first;
    for (int32_t ky = rows; ky > 0; --ky, row += row_step) {
      const int8_t *x = row;
      for (int32_t kx = columns; kx > 0; --kx, x += channels) {
        const uint32_t values = cortex_m_nn_load_4(x);
        even = cortex_m_nn_even_bytes_plus(values, even);
        odd = cortex_m_nn_odd_bytes_plus(values, odd);
      }
    }
    store(out, mean((int16_t)even, half, count), min, max, full);
    store(out + 1, mean((int16_t)odd, half, count), min, max, full);
    store(out + 2, mean((int32_t)even >> 16, half, count), min, max, full);
    store(out + 3, mean((int32_t)odd >> 16, half, count), min, max, full);
  }
  for (; left > 0; --left, ++first, ++out) {
    int32_t sum = 0;
    for (int32_t ky = 0; ky < rows; ++ky) {
      for (int32_t kx = 0; kx < columns; ++kx) {
        sum += first[ky * row_step + kx * channels];
      }
    }
    store(out, mean(sum, half, count), min, max, full);
  }
}

void cortex_m_nn_avgpool_dsp(const cortex_m_nn_pool_call *call) {
  const cmsis_nn_dims *output = call->output_dims;
  const int32_t min = call->params->activation.min, max = call->params->activation.max;
  if ((int64_t)call->filter_dims->h * call->filter_dims->w > 255) {
    cortex_m_nn_avgpool_scalar(call);
    return;
  }
  int8_t *out = call->output;
  for (int32_t n = 0; n < output->n; ++n) {
    for (int32_t y = 0; y < output->h; ++y) {
      for (int32_t x = 0; x < output->w; ++x, out += output->c) {
        const cortex_m_nn_pool_window window = cortex_m_nn_pool_window_at(call, n, y, x);
        if (min == -128 && max == 127) {
          average(&window, output->c, min, max, out, true);
        } else {
          average(&window, output->c, min, max, out, false);
        }
      }
    }
  }
}

#endif  // DSP
