#include "bytes.h"
#include "isa.h"
#include "pool_s8.h"
#include "requantize.h"

// Four channels of a window: in a word where one is loaded from any address.
#if CORTEX_M_NN_THUMB2

static inline __attribute__((always_inline)) void maximum_4(const cortex_m_nn_pool_window *window, const int8_t *x,
                                                            int32_t channels, int32_t min, int32_t max, int8_t *out) {
  uint32_t result = cortex_m_nn_load_4(x);
  if (window->rows == 2 && window->columns == 2) {
    const int8_t *second = x + window->row_step;
    result = cortex_m_nn_max_4(result, cortex_m_nn_load_4(x + channels));
    result = cortex_m_nn_max_4(result, cortex_m_nn_load_4(second));
    result = cortex_m_nn_max_4(result, cortex_m_nn_load_4(second + channels));
  } else {
    for (int32_t ky = window->rows; ky > 0; --ky, x += window->row_step) {
      const int8_t *from = x;
      for (int32_t kx = window->columns; kx > 0; --kx, from += channels) {
        result = cortex_m_nn_max_4(result, cortex_m_nn_load_4(from));
      }
    }
  }
  if (min != -128 || max != 127) {
    result = cortex_m_nn_min_4(cortex_m_nn_max_4(result, cortex_m_nn_repeat_4(min)), cortex_m_nn_repeat_4(max));
  }
  cortex_m_nn_store_4(out, result);
}

#else

static inline __attribute__((always_inline)) void maximum_4(const cortex_m_nn_pool_window *window, const int8_t *x,
                                                            int32_t channels, int32_t min, int32_t max, int8_t *out) {
  int32_t max0 = min, max1 = min, max2 = min, max3 = min;
  for (int32_t ky = window->rows; ky > 0; --ky, x += window->row_step) {
    const int8_t *from = x;
    for (int32_t kx = window->columns; kx > 0; --kx, from += channels) {
      const int32_t x0 = from[0], x1 = from[1], x2 = from[2], x3 = from[3];
      max0 = x0 > max0 ? x0 : max0;
      max1 = x1 > max1 ? x1 : max1;
      max2 = x2 > max2 ? x2 : max2;
      max3 = x3 > max3 ? x3 : max3;
    }
  }
  out[0] = (int8_t)(max0 > max ? max : max0);
  out[1] = (int8_t)(max1 > max ? max : max1);
  out[2] = (int8_t)(max2 > max ? max : max2);
  out[3] = (int8_t)(max3 > max ? max : max3);
}

#endif

static int8_t maximum_1(const cortex_m_nn_pool_window *window, const int8_t *x, int32_t channels, int32_t min,
                        int32_t max) {
  int32_t result = min;
  for (int32_t ky = window->rows; ky > 0; --ky, x += window->row_step) {
    for (int32_t kx = 0; kx < window->columns; ++kx) {
      const int32_t value = x[kx * channels];
      result = value > result ? value : result;
    }
  }
  return (int8_t)(result > max ? max : result);
}

void cortex_m_nn_max_pool_scalar(const cortex_m_nn_pool_call *call) {
  const cmsis_nn_dims *output = call->output_dims;
  const int32_t min = call->params->activation.min, max = call->params->activation.max;
  const int32_t channels = output->c;
  int8_t *out = call->output;
  for (int32_t n = 0; n < output->n; ++n) {
    for (int32_t y = 0; y < output->h; ++y) {
      for (int32_t x = 0; x < output->w; ++x, out += channels) {
        const cortex_m_nn_pool_window window = cortex_m_nn_pool_window_at(call, n, y, x);
        int32_t c = 0;
        for (; c + 4 <= channels; c += 4) {
          maximum_4(&window, window.input + c, channels, min, max, out + c);
        }
        for (; c < channels; ++c) {
          out[c] = maximum_1(&window, window.input + c, channels, min, max);
        }
      }
    }
  }
}
