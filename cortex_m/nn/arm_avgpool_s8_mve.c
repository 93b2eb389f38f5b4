// Sums of 16 bits where 128 * count fits, eight or sixteen channels at a time, else of 32 bits, four at a time. The
// mean is |sum| + count / 2, divided by count, with the sign put back; dividing is multiplying by a rounded reciprocal:
// for u < 2^N, count <= 2^l and m = ceil(2^(N + l) / count) the quotient is u * m / 2^(N + l), exactly (Granlund and
// Montgomery, "Division by invariant integers using multiplication", 1994). N is 15 here, or 31.
#include "mve.h"
#include "pool_s8.h"

#if CORTEX_M_NN_MVE

typedef struct {
  int32_t half;     // count / 2
  uint32_t factor;  // m; 0 for a count of 1
  int32_t shift;    // 1 - l: what is left to shift after VMULH
} divisor;

static divisor divisor_of(int32_t count, int32_t bits) {
  divisor d = {count / 2, 0, 0};
  if (count > 1) {
    const int32_t l = 32 - __builtin_clz((uint32_t)count - 1);
    d.factor = (uint32_t)((((uint64_t)1 << (bits + l)) + (uint32_t)count - 1) / (uint32_t)count);
    d.shift = 1 - l;
  }
  return d;
}

static inline __attribute__((always_inline)) int16x8_t mean_16(int16x8_t sum, const divisor *d) {
  if (d->factor == 0) {
    return sum;
  }
  const uint16x8_t dividend = vreinterpretq_u16_s16(vaddq_n_s16(vabsq_s16(sum), (int16_t)d->half));
  const uint16x8_t product = vmulhq_u16(dividend, vdupq_n_u16((uint16_t)d->factor));
  const int16x8_t quotient = vreinterpretq_s16_u16(vshlq_r_u16(product, d->shift));
  return vnegq_m_s16(quotient, quotient, vcmpltq_n_s16(sum, 0));
}

static inline __attribute__((always_inline)) int32x4_t mean_32(int32x4_t sum, const divisor *d) {
  if (d->factor == 0) {
    return sum;
  }
  const uint32x4_t dividend = vreinterpretq_u32_s32(vaddq_n_s32(vabsq_s32(sum), d->half));
  const uint32x4_t product = vmulhq_u32(dividend, vdupq_n_u32(d->factor));
  const int32x4_t quotient = vreinterpretq_s32_u32(vshlq_r_u32(product, d->shift));
  return vnegq_m_s32(quotient, quotient, vcmpltq_n_s32(sum, 0));
}

static void average_32(const cortex_m_nn_pool_window *window, int32_t channels, const cmsis_nn_activation *activation,
                       int8_t *out) {
  const divisor d = divisor_of(window->rows * window->columns, 31);
  for (int32_t c = 0; c < channels; c += 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)(channels - c));
    int32x4_t sum = vdupq_n_s32(0);
    for (int32_t ky = 0; ky < window->rows; ++ky) {
      const int8_t *x = window->input + ky * window->row_step + c;
      for (int32_t kx = window->columns; kx > 0; --kx, x += channels) {
        sum = vaddq_s32(sum, vldrbq_z_s32(x, lanes));
      }
    }
    int32x4_t value = mean_32(sum, &d);
    value = vmaxq_s32(value, vdupq_n_s32(activation->min));
    value = vminq_s32(value, vdupq_n_s32(activation->max));
    vstrbq_p_s32(out + c, value, lanes);
  }
}

static inline __attribute__((always_inline)) int16x8_t clamp_16(int16x8_t value,
                                                                const cmsis_nn_activation *activation) {
  value = vmaxq_s16(value, vdupq_n_s16((int16_t)activation->min));
  return vminq_s16(value, vdupq_n_s16((int16_t)activation->max));
}

static void average_16(const cortex_m_nn_pool_window *window, int32_t channels, const cmsis_nn_activation *activation,
                       const divisor *d, int8_t *out) {
  int32_t c = 0;
  const int8_t *row = window->input;
  for (; c + 16 <= channels; c += 16, row += 16, out += 16) {
    int16x8_t low = vdupq_n_s16(0), high = low;
    const int8_t *first = row;
    for (int32_t ky = window->rows; ky > 0; --ky, first += window->row_step) {
      const int8_t *x = first;
      for (int32_t kx = window->columns; kx > 0; --kx, x += channels) {
        low = vaddq_s16(low, vldrbq_s16(x));
        high = vaddq_s16(high, vldrbq_s16(x + 8));
      }
    }
    vstrbq_s16(out, clamp_16(mean_16(low, d), activation));
    vstrbq_s16(out + 8, clamp_16(mean_16(high, d), activation));
  }
  for (; c < channels; c += 8, row += 8, out += 8) {
    const mve_pred16_t lanes = vctp16q((uint32_t)(channels - c));
    int16x8_t sum = vdupq_n_s16(0);
    const int8_t *first = row;
    for (int32_t ky = window->rows; ky > 0; --ky, first += window->row_step) {
      const int8_t *x = first;
      for (int32_t kx = window->columns; kx > 0; --kx, x += channels) {
        sum = vaddq_s16(sum, vldrbq_z_s16(x, lanes));
      }
    }
    vstrbq_p_s16(out, clamp_16(mean_16(sum, d), activation), lanes);
  }
}

void cortex_m_nn_avgpool_mve(const cortex_m_nn_pool_call *call) {
  const cmsis_nn_dims *output = call->output_dims;
  const cmsis_nn_activation activation = call->params->activation;
  int8_t *out = call->output;
  int32_t count = 0;  // that d is for
  divisor d = {0, 0, 0};
  for (int32_t n = 0; n < output->n; ++n) {
    for (int32_t y = 0; y < output->h; ++y) {
      for (int32_t x = 0; x < output->w; ++x, out += output->c) {
        const cortex_m_nn_pool_window window = cortex_m_nn_pool_window_at(call, n, y, x);
        if (window.rows * window.columns > 255) {  // 128 * 255 + 127 is the largest int16
          average_32(&window, output->c, &activation, out);
          continue;
        }
        if (window.rows * window.columns != count) {
          count = window.rows * window.columns;
          d = divisor_of(count, 15);
        }
        average_16(&window, output->c, &activation, &d, out);
      }
    }
  }
}

#endif  // MVE
