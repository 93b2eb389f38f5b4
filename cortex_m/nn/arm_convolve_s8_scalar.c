// im2col in pairs of columns: each weight that is loaded serves two pixels, each input value two output channels, so that a
// multiply-accumulate costs one load. Columns hold x + input_offset in 16 bits, where padding is plain zero.
#include <string.h>

#include "convolve_s8.h"
#include "requantize.h"
#include "window.h"

#if defined(__GNUC__) && !defined(__clang__)
// Summing the products of an unrolled step before they reach the accumulator costs GCC registers, and so spills: 70
// instructions for 16 multiply-accumulates on Cortex-M4 instead of 47.
#pragma GCC optimize("no-tree-reassoc")
#endif

// One kernel window of one group, as consecutive values in the order of the filter: kernel row, kernel column, channel.
static void gather_column(const cortex_m_nn_convolve_call *call, const int8_t *image, int32_t y, int32_t x,
                          int16_t *column) {
  const cmsis_nn_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const int32_t channels = call->filter_dims->c;
  const int32_t kernel_w = call->filter_dims->w;
  const cortex_m_nn_range columns = cortex_m_nn_clip_window(x, params->dilation.w, kernel_w, input->w);
  // Neighbours in the window are neighbours in memory: copy them as one run.
  const bool dense = params->dilation.w == 1 && channels == input->c;
  const int32_t run = dense ? (columns.end - columns.begin) * channels : channels;
  const int32_t runs = dense ? columns.end > columns.begin : columns.end - columns.begin;
  const int32_t step = params->dilation.w * input->c;
  for (int32_t ky = 0; ky < call->filter_dims->h; ++ky) {
    const int32_t in_y = y + ky * params->dilation.h;
    if (in_y < 0 || in_y >= input->h || runs == 0) {
      memset(column, 0, (size_t)(kernel_w * channels) * sizeof(int16_t));
      column += kernel_w * channels;
      continue;
    }
    memset(column, 0, (size_t)(columns.begin * channels) * sizeof(int16_t));
    column += columns.begin * channels;
    const int8_t *source = image + (in_y * input->w + x + columns.begin * params->dilation.w) * input->c;
    for (int32_t i = 0; i < runs; ++i, source += step) {
      for (int32_t c = 0; c < run; ++c) {
        *column++ = (int16_t)(source[c] + params->input_offset);
      }
    }
    memset(column, 0, (size_t)((kernel_w - columns.end) * channels) * sizeof(int16_t));
    column += (kernel_w - columns.end) * channels;
  }
}

// Two columns times `channels` filters of a group. out1 is null if there is one column only (then column1 == column0).
static void multiply_columns(const cortex_m_nn_convolve_call *call, const int16_t *column0, const int16_t *column1,
                             int32_t depth, int32_t first_channel, int32_t channels, int8_t *out0, int8_t *out1) {
  const int32_t offset = call->params->output_offset;
  const int32_t min = call->params->activation.min;
  const int32_t max = call->params->activation.max;
  for (int32_t c = first_channel; c < first_channel + channels; c += 2) {
    const int32_t last = c + 1 < first_channel + channels ? c + 1 : c;
    const int8_t *w0 = call->filter + c * depth;
    const int8_t *w1 = call->filter + last * depth;
    const int16_t *x0 = column0;
    const int16_t *x1 = column1;
    uint32_t acc00 = call->bias != NULL ? (uint32_t)call->bias[c] : 0;
    uint32_t acc01 = call->bias != NULL ? (uint32_t)call->bias[last] : 0;
    uint32_t acc10 = acc00;
    uint32_t acc11 = acc01;
#define MULTIPLY_2X2(i)                    \
  do {                                     \
    const int32_t a0 = x0[i], a1 = x1[i];  \
    const int32_t b0 = w0[i], b1 = w1[i];  \
    acc00 += (uint32_t)(a0 * b0);          \
    acc01 += (uint32_t)(a0 * b1);          \
    acc10 += (uint32_t)(a1 * b0);          \
    acc11 += (uint32_t)(a1 * b1);          \
  } while (0)
    int32_t left = depth;
    for (; left >= 4; left -= 4) {
      MULTIPLY_2X2(0);
      MULTIPLY_2X2(1);
      MULTIPLY_2X2(2);
      MULTIPLY_2X2(3);
      x0 += 4;
      x1 += 4;
      w0 += 4;
      w1 += 4;
    }
    for (int32_t i = 0; i < left; ++i) {
      MULTIPLY_2X2(i);
    }
#undef MULTIPLY_2X2
    const int32_t multiplier0 = call->quant->multiplier[c];
    const int32_t shift0 = call->quant->shift[c];
    const int32_t multiplier1 = call->quant->multiplier[last];
    const int32_t shift1 = call->quant->shift[last];
    out0[c] = cortex_m_nn_requantize_to_s8((int32_t)acc00, multiplier0, shift0, offset, min, max);
    out0[last] = cortex_m_nn_requantize_to_s8((int32_t)acc01, multiplier1, shift1, offset, min, max);
    if (out1 != NULL) {
      out1[c] = cortex_m_nn_requantize_to_s8((int32_t)acc10, multiplier0, shift0, offset, min, max);
      out1[last] = cortex_m_nn_requantize_to_s8((int32_t)acc11, multiplier1, shift1, offset, min, max);
    }
  }
}

void cortex_m_nn_convolve_columns_scalar(const cortex_m_nn_convolve_call *call, int16_t *columns) {
  const cmsis_nn_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *output = call->output_dims;
  const int32_t groups = input->c / call->filter_dims->c;
  const int32_t group_channels = output->c / groups;
  const int32_t depth = call->filter_dims->h * call->filter_dims->w * call->filter_dims->c;
  int16_t *column1 = columns + depth;
  for (int32_t n = 0; n < output->n; ++n) {
    for (int32_t group = 0; group < groups; ++group) {
      const int8_t *image = call->input + n * input->h * input->w * input->c + group * call->filter_dims->c;
      int8_t *out = call->output + n * output->h * output->w * output->c;
      int8_t *waiting = NULL;  // the output pixel of a first column that has no partner yet
      for (int32_t y = 0; y < output->h; ++y) {
        for (int32_t x = 0; x < output->w; ++x, out += output->c) {
          gather_column(call, image, y * params->stride.h - params->padding.h, x * params->stride.w - params->padding.w,
                        waiting == NULL ? columns : column1);
          if (waiting == NULL) {
            waiting = out;
            continue;
          }
          multiply_columns(call, columns, column1, depth, group * group_channels, group_channels, waiting, out);
          waiting = NULL;
        }
      }
      if (waiting != NULL) {
        multiply_columns(call, columns, columns, depth, group * group_channels, group_channels, waiting, NULL);
      }
    }
  }
}
