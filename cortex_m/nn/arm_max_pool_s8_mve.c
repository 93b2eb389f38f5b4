// Sixteen channels at a time.
#include "mve.h"
#include "pool_s8.h"

#if CORTEX_M_NN_MVE

static inline __attribute__((always_inline)) int8x16_t load(const int8_t *x, mve_pred16_t lanes, const bool whole) {
  return whole ? vldrbq_s8(x) : vldrbq_z_s8(x, lanes);
}

static inline __attribute__((always_inline)) int8x16_t maximum(const cortex_m_nn_pool_window *window, const int8_t *x,
                                                               int32_t pixel, mve_pred16_t lanes, const bool whole) {
  int8x16_t max = load(x, lanes, whole);
  if (window->rows == 2 && window->columns == 2) {
    const int8_t *second = x + window->row_step;
    max = vmaxq_s8(max, load(x + pixel, lanes, whole));
    max = vmaxq_s8(max, load(second, lanes, whole));
    return vmaxq_s8(max, load(second + pixel, lanes, whole));
  }
  for (int32_t ky = window->rows; ky > 0; --ky, x += window->row_step) {
    const int8_t *from = x;
    for (int32_t kx = window->columns; kx > 0; --kx, from += pixel) {
      max = vmaxq_s8(max, load(from, lanes, whole));
    }
  }
  return max;
}

void cortex_m_nn_max_pool_mve(const cortex_m_nn_pool_call *call) {
  const cmsis_nn_dims *output = call->output_dims;
  const int32_t channels = output->c;
  const int8x16_t min = vdupq_n_s8((int8_t)call->params->activation.min);
  const int8x16_t max = vdupq_n_s8((int8_t)call->params->activation.max);
  int8_t *out = call->output;
  for (int32_t n = 0; n < output->n; ++n) {
    for (int32_t y = 0; y < output->h; ++y) {
      for (int32_t x = 0; x < output->w; ++x) {
        const cortex_m_nn_pool_window window = cortex_m_nn_pool_window_at(call, n, y, x);
        const int8_t *from = window.input;
        for (int32_t i = channels / 16; i > 0; --i, from += 16, out += 16) {
          const int8x16_t value = maximum(&window, from, channels, 0xFFFF, true);
          vstrbq_s8(out, vminq_s8(vmaxq_s8(value, min), max));
        }
        if (channels % 16 != 0) {
          const mve_pred16_t lanes = vctp8q((uint32_t)channels % 16);
          const int8x16_t value = maximum(&window, from, channels, lanes, false);
          vstrbq_p_s8(out, vminq_s8(vmaxq_s8(value, min), max), lanes);
          out += channels % 16;
        }
      }
    }
  }
}

#endif  // MVE
