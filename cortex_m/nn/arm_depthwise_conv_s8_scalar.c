// Four output channels at a time over the whole image, so that bias and input offset are joined once for each channel:
// where the window lies inside the input, sum((x + offset) * w) = sum(x * w) + offset * sum(w).
//
// The four channels read four neighbouring input channels (depth multiplier 1) or all the same one (depth multiplier > 1);
// `spread` is 1 or 0 accordingly, and constant wherever convolve_4 is inlined.
#include <stddef.h>

#include "depthwise_conv_s8.h"
#include "requantize.h"
#include "window.h"

#if defined(__GNUC__) && !defined(__clang__)
// Four sums, two pointers and two strides leave GCC no register to spare: as written, a row of three taps on Cortex-M4 costs
// 48 instructions for 12 multiply-accumulates, with these optimizations 57.
#pragma GCC optimize("no-tree-reassoc", "no-schedule-insns", "no-ivopts")
#endif

typedef struct {
  int32_t pixel;       // from one kernel column to the next, in input values
  int32_t row;         // from one kernel row to the next
  int32_t filter_row;  // the same in the filter
  int32_t channels;    // output channels: from one tap to the next in the filter
} strides;

typedef struct {
  uint32_t acc[4];
} sums;

static int8_t finish(const cortex_m_nn_depthwise_call *call, uint32_t acc, int32_t channel) {
  return cortex_m_nn_requantize_to_s8((int32_t)acc, call->quant->multiplier[channel], call->quant->shift[channel],
                                      call->params->output_offset, call->params->activation.min,
                                      call->params->activation.max);
}

// The taps of the clipped window: acc[i] += (x[i * spread] + offset) * w[i].
// origin: index in x of kernel index (0, 0), outside the input at its edges, where only the sums with the taps are inside.
static inline __attribute__((always_inline)) sums taps_4(sums start, const strides *s, const int8_t *x, int32_t origin,
                                                         const int8_t *w, cortex_m_nn_range rows,
                                                         cortex_m_nn_range cols, int32_t offset, const int spread) {
  uint32_t acc0 = start.acc[0], acc1 = start.acc[1], acc2 = start.acc[2], acc3 = start.acc[3];
  const int32_t pixel = s->pixel;
  const int32_t channels = s->channels;
  for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
    const int8_t *x_tap = x + (origin + ky * s->row + cols.begin * pixel);
    const int8_t *w_tap = w + ky * s->filter_row + cols.begin * channels;
#define ADD_TAP                                                  \
  do {                                                           \
    acc0 += (uint32_t)((x_tap[0] + offset) * w_tap[0]);          \
    acc1 += (uint32_t)((x_tap[1 * spread] + offset) * w_tap[1]); \
    acc2 += (uint32_t)((x_tap[2 * spread] + offset) * w_tap[2]); \
    acc3 += (uint32_t)((x_tap[3 * spread] + offset) * w_tap[3]); \
    x_tap += pixel;                                              \
    w_tap += channels;                                           \
  } while (0)
    int32_t taps = cols.end - cols.begin;
    for (; taps >= 3; taps -= 3) {  // most kernels are three wide
      ADD_TAP;
      ADD_TAP;
      ADD_TAP;
    }
    for (; taps > 0; --taps) {
      ADD_TAP;
    }
#undef ADD_TAP
  }
  const sums result = {{acc0, acc1, acc2, acc3}};
  return result;
}

static uint32_t taps_1(uint32_t acc, const strides *s, const int8_t *x, int32_t origin, const int8_t *w,
                       cortex_m_nn_range rows, cortex_m_nn_range cols, int32_t offset) {
  for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
    const int8_t *x_tap = x + (origin + ky * s->row + cols.begin * s->pixel);
    const int8_t *w_tap = w + ky * s->filter_row + cols.begin * s->channels;
    for (int32_t kx = cols.end - cols.begin; kx > 0; --kx) {
      acc += (uint32_t)((*x_tap + offset) * *w_tap);
      x_tap += s->pixel;
      w_tap += s->channels;
    }
  }
  return acc;
}

static uint32_t bias_of(const cortex_m_nn_depthwise_call *call, int32_t channel) {
  return call->bias != NULL ? (uint32_t)call->bias[channel] : 0;
}

// Bias and offset * sum of all weights of one channel.
static uint32_t folded_bias(const cortex_m_nn_depthwise_call *call, const strides *s, int32_t channel) {
  int32_t sum = 0;
  for (int32_t i = 0; i < call->filter_dims->h * call->filter_dims->w; ++i) {
    sum = cortex_m_nn_wrapping_add(sum, call->filter[i * s->channels + channel]);
  }
  return bias_of(call, channel) + (uint32_t)cortex_m_nn_wrapping_mul(sum, call->params->input_offset);
}

// Output channels c .. c + 3 (lanes 4) or c alone (lanes 1), reading from input channel in_c on, for all pixels.
static inline __attribute__((always_inline)) void convolve(const cortex_m_nn_depthwise_call *call, const strides *s,
                                                           int32_t in_c, int32_t c, const int lanes, const int spread) {
  const cmsis_nn_dw_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *filter = call->filter_dims;
  const cmsis_nn_dims *output = call->output_dims;
  const int8_t *w = call->filter + c;
  sums inside = {{0}}, edge = {{0}};
  for (int lane = 0; lane < lanes; ++lane) {
    inside.acc[lane] = folded_bias(call, s, c + lane);
    edge.acc[lane] = bias_of(call, c + lane);
  }
  int8_t *out = call->output + c;
  for (int32_t n = 0; n < output->n; ++n) {
    const int8_t *image = call->input + n * input->h * input->w * input->c + in_c;
    for (int32_t y = 0; y < output->h; ++y) {
      const int32_t origin_y = y * params->stride.h - params->padding.h;
      const cortex_m_nn_range rows = cortex_m_nn_clip_window(origin_y, params->dilation.h, filter->h, input->h);
      for (int32_t x = 0; x < output->w; ++x, out += output->c) {
        const int32_t origin_x = x * params->stride.w - params->padding.w;
        const cortex_m_nn_range cols = cortex_m_nn_clip_window(origin_x, params->dilation.w, filter->w, input->w);
        const bool whole = rows.end - rows.begin == filter->h && cols.end - cols.begin == filter->w;
        const int32_t origin = (origin_y * input->w + origin_x) * input->c;
        if (lanes == 1) {
          out[0] = finish(call, taps_1(edge.acc[0], s, image, origin, w, rows, cols, params->input_offset), c);
          continue;
        }
        const sums result = whole ? taps_4(inside, s, image, origin, w, rows, cols, 0, spread)
                                  : taps_4(edge, s, image, origin, w, rows, cols, params->input_offset, spread);
        out[0] = finish(call, result.acc[0], c);
        out[1] = finish(call, result.acc[1], c + 1);
        out[2] = finish(call, result.acc[2], c + 2);
        out[3] = finish(call, result.acc[3], c + 3);
      }
    }
  }
}

static void convolve_4_spread(const cortex_m_nn_depthwise_call *call, const strides *s, int32_t c) {
  convolve(call, s, c, c, 4, 1);
}

static void convolve_4_shared(const cortex_m_nn_depthwise_call *call, const strides *s, int32_t in_c, int32_t c) {
  convolve(call, s, in_c, c, 4, 0);
}

static void convolve_1(const cortex_m_nn_depthwise_call *call, const strides *s, int32_t in_c, int32_t c) {
  convolve(call, s, in_c, c, 1, 0);
}

void cortex_m_nn_depthwise_conv_scalar(const cortex_m_nn_depthwise_call *call) {
  const cmsis_nn_dims *input = call->input_dims;
  const int32_t channels = call->output_dims->c;
  const int32_t multiplier = call->params->ch_mult;
  const strides s = {call->params->dilation.w * input->c, call->params->dilation.h * input->w * input->c,
                     call->filter_dims->w * channels, channels};
  if (multiplier == 1) {
    int32_t c = 0;
    for (; c + 4 <= channels; c += 4) {
      convolve_4_spread(call, &s, c);
    }
    for (; c < channels; ++c) {
      convolve_1(call, &s, c, c);
    }
    return;
  }
  for (int32_t in_c = 0; in_c < input->c; ++in_c) {
    int32_t m = 0;
    for (; m + 4 <= multiplier; m += 4) {
      convolve_4_shared(call, &s, in_c, in_c * multiplier + m);
    }
    for (; m < multiplier; ++m) {
      convolve_1(call, &s, in_c, in_c * multiplier + m);
    }
  }
}
