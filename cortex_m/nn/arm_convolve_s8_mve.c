// im2col in pairs of columns of int8, padding filled with the zero point, so that the input offset is a constant of
// each output channel: sum((x + offset) * w) = sum(x * w) + offset * sum(w). A pointwise convolution takes the same
// way: putting two pixels side by side costs little beside what it saves in the inner loop.
#include <stddef.h>

#include "convolve_s8.h"
#include "dot_2x4_mve.h"
#include "gather_mve.h"
#include "mve.h"
#include "requantize.h"
#include "window.h"

#if CORTEX_M_NN_MVE

// Bias with the input offset's share, multiplier and shift of four output channels.
typedef struct {
  int32_t bias[4];
  int32_t multiplier[4];
  int32_t shift[4];
} channel_params;

typedef struct {
  int8_t *columns;         // 32 * vectors
  int8_t *line;            // 16 * vectors + 16: one column, where its pieces are no multiple of 16
  int8_t *last_rows;       // padded copies of the rows that may not be read beyond their end
  channel_params *params;  // one for each block of four output channels
  int32_t *sums;
} memory;

typedef struct {
  int32_t depth;    // values of a window of one group
  int32_t vectors;  // of 16 values, for a window
  int32_t blocks;   // of four output channels, for a group
  int32_t copied;   // of these the last ones, that are copied to last_rows
} sizes;

// Each 16 values 32 bytes after the last.
static void interleave(const int8_t *line, int8_t *to, int32_t vectors) {
  for (int32_t i = vectors; i > 0; --i, line += 16, to += 32) {
    vstrbq_s8(to, vldrbq_s8(line));
  }
}

static inline __attribute__((always_inline)) void requantize_block(const cmsis_nn_conv_params *params, int32x4_t sums,
                                                                   const channel_params *channel, int8_t *out,
                                                                   mve_pred16_t lanes, const bool right) {
  int32x4_t value = vaddq_s32(sums, vldrwq_s32(channel->bias));
  value = cortex_m_nn_requantize_mve(value, vldrwq_s32(channel->multiplier), vldrwq_s32(channel->shift), right);
  value = vaddq_n_s32(value, params->output_offset);
  value = vmaxq_s32(value, vdupq_n_s32(params->activation.min));
  value = vminq_s32(value, vdupq_n_s32(params->activation.max));
  vstrbq_p_s32(out, value, lanes);
}

// The sums of two pixels, or of one (out1 null), to `channels` outputs each.
static inline __attribute__((always_inline)) void requantize_pair(const cortex_m_nn_convolve_call *call,
                                                                  const memory *m, int32_t channels, int8_t *out0,
                                                                  int8_t *out1, const bool right) {
  const cmsis_nn_conv_params *params = call->params;
  const int32x4_t min = vdupq_n_s32(params->activation.min);
  const int32x4_t max = vdupq_n_s32(params->activation.max);
  const int32_t offset = params->output_offset;
  const channel_params *channel = m->params;
  const int32_t *sums = m->sums;
  int8_t *second = out1 != NULL ? out1 : out0;  // written first, so that one pixel's own values are what stays
  for (int32_t i = channels / 4; i > 0; --i, ++channel, sums += 8, out0 += 4, second += 4) {
    const int32x4_t bias = vldrwq_s32(channel->bias);
    const int32x4_t multiplier = vldrwq_s32(channel->multiplier);
    const int32x4_t shift = vldrwq_s32(channel->shift);
    int32x4_t value1 = vaddq_s32(vldrwq_s32(sums + 4), bias);
    int32x4_t value0 = vaddq_s32(vldrwq_s32(sums), bias);
    value1 = vaddq_n_s32(cortex_m_nn_requantize_mve(value1, multiplier, shift, right), offset);
    value0 = vaddq_n_s32(cortex_m_nn_requantize_mve(value0, multiplier, shift, right), offset);
    vstrbq_s32(second, vminq_s32(vmaxq_s32(value1, min), max));
    vstrbq_s32(out0, vminq_s32(vmaxq_s32(value0, min), max));
  }
  if (channels % 4 != 0) {
    const mve_pred16_t lanes = vctp32q((uint32_t)channels % 4);
    requantize_block(params, vldrwq_s32(sums + 4), channel, second, lanes, right);
    requantize_block(params, vldrwq_s32(sums), channel, out0, lanes, right);
  }
}

static void multiply_columns(const cortex_m_nn_convolve_call *call, const memory *m, const sizes *s,
                             const int8_t *filter, int32_t channels, int8_t *out0, int8_t *out1, bool right) {
  cortex_m_nn_dot_2x4_args args = {filter, s->depth, m->columns, s->vectors, m->sums, s->blocks - s->copied};
  if (args.blocks > 0) {
    cortex_m_nn_dot_2x4_mve(&args);
  }
  if (s->copied > 0) {
    args.filter = m->last_rows;
    args.row_bytes = 16 * s->vectors;
    args.sums += 8 * args.blocks;
    args.blocks = s->copied;
    cortex_m_nn_dot_2x4_mve(&args);
  }
  if (right) {
    requantize_pair(call, m, channels, out0, out1, true);
  } else {
    requantize_pair(call, m, channels, out0, out1, false);
  }
}

// Fills in params and last_rows for the `channels` output channels from `first` on. Returns whether all shifts are
// negative.
static bool prepare_group(const cortex_m_nn_convolve_call *call, const memory *m, sizes *s, int32_t first,
                          int32_t channels) {
  bool right = true;
  for (int32_t i = 0; i < channels; ++i) {
    const int32_t c = first + i;
    channel_params *params = &m->params[i / 4];
    const uint32_t bias = call->bias != NULL ? (uint32_t)call->bias[c] : 0;
    const int32_t sum = cortex_m_nn_sum_mve(call->filter + c * s->depth, s->depth);
    params->bias[i % 4] = (int32_t)(bias + (uint32_t)cortex_m_nn_wrapping_mul(sum, call->params->input_offset));
    params->multiplier[i % 4] = call->quant->multiplier[c];
    params->shift[i % 4] = call->quant->shift[c];
    right = right && call->quant->shift[c] < 0;
  }
  const int32_t rows = call->output_dims->c - first;  // that there are
  const int32_t readable = rows * s->depth;
  s->copied = 0;
  while (s->copied < s->blocks && (4 * (s->blocks - s->copied) - 1) * s->depth + 16 * s->vectors > readable) {
    ++s->copied;
  }
  int8_t *to = m->last_rows;
  for (int32_t row = 4 * (s->blocks - s->copied); row < 4 * s->blocks; ++row, to += 16 * s->vectors) {
    cortex_m_nn_fill_mve(to, 0, 16 * s->vectors);
    if (row < rows) {
      cortex_m_nn_copy_mve(to, call->filter + (first + row) * s->depth, s->depth);
    }
  }
  return right;
}

void cortex_m_nn_convolve_columns_mve(const cortex_m_nn_convolve_call *call, void *scratch) {
  const cmsis_nn_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *filter = call->filter_dims;
  const cmsis_nn_dims *output = call->output_dims;
  const int32_t group_channels = output->c / (input->c / filter->c);
  const int32_t depth = filter->h * filter->w * filter->c;
  sizes s = {depth, (depth + 15) / 16, (group_channels + 3) / 4, 0};
  const bool near = s.vectors <= CORTEX_M_NN_DOT_2X4_NEAR;
  memory m;
  m.params = (channel_params *)scratch;
  m.sums = (int32_t *)(m.params + s.blocks);
  m.columns = (int8_t *)(m.sums + 8 * s.blocks);
  m.line = m.columns + (near ? 16 * CORTEX_M_NN_DOT_2X4_NEAR : 32 * s.vectors);
  m.last_rows = m.line + 16 * s.vectors + 16;
  const cortex_m_nn_windows windows = {
      .height = input->h,
      .width = input->w,
      .pixel = input->c,
      .channels = filter->c,
      .kernel_h = filter->h,
      .kernel_w = filter->w,
      .dilation_h = params->dilation.h,
      .dilation_w = params->dilation.w,
      .zero = (int8_t)-params->input_offset,
      .input_end = call->input + input->n * input->h * input->w * input->c,
  };
  const cortex_m_nn_range rows =
      cortex_m_nn_inside_range(input->h, filter->h, params->dilation.h, params->stride.h, params->padding.h, output->h);
  cortex_m_nn_range columns =
      cortex_m_nn_inside_range(input->w, filter->w, params->dilation.w, params->stride.w, params->padding.w, output->w);
  const int32_t run = filter->w * filter->c;
  const int32_t row_step = params->dilation.h * input->w * input->c;
  // From the first value of a window to behind the last one that cortex_m_nn_gather_inside_mve reads.
  const int32_t reach = (filter->h - 1) * row_step + (run + 15) / 16 * 16;
  if (params->dilation.w != 1 || filter->c != input->c) {
    columns.end = 0;  // the rows of a window have gaps
  }
  for (int32_t first = 0; first < output->c; first += group_channels) {
    const bool right = prepare_group(call, &m, &s, first, group_channels);
    const int8_t *image = call->input + first / group_channels * filter->c;
    const int8_t *weights = call->filter + first * depth;
    int8_t *out = call->output + first;
    int8_t *waiting = NULL;  // the output pixel of a first column that has no partner yet
    for (int32_t n = 0; n < output->n; ++n, image += input->h * input->w * input->c) {
      int32_t in_y = -params->padding.h;
      for (int32_t y = 0; y < output->h; ++y, in_y += params->stride.h) {
        const bool inside = y >= rows.begin && y < rows.end;
        int32_t in_x = -params->padding.w;
        for (int32_t x = 0; x < output->w; ++x, in_x += params->stride.w, out += output->c) {
          int8_t *column = m.columns;
          if (near && waiting != NULL) {
            column = m.line;
          } else if (!near) {
            column = m.line;
          }
          const int8_t *from = image + (in_y * input->w + in_x) * input->c;
          if (inside && x >= columns.begin && x < columns.end && from + reach <= windows.input_end) {
            cortex_m_nn_gather_inside_mve(from, row_step, filter->h, run, column);
          } else {
            cortex_m_nn_gather_window_mve(&windows, image, in_y, in_x, column);
          }
          if (!near) {
            interleave(m.line, m.columns + (waiting != NULL ? 16 : 0), s.vectors);
          }
          if (waiting == NULL) {
            waiting = out;
            continue;
          }
          multiply_columns(call, &m, &s, weights, group_channels, waiting, out, right);
          waiting = NULL;
        }
      }
    }
    if (waiting != NULL) {
      multiply_columns(call, &m, &s, weights, group_channels, waiting, NULL, right);
    }
  }
}

#endif  // MVE
