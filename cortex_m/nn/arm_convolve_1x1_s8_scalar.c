// A pointwise convolution is a matrix product of the image as it lies in memory, so it needs no columns. Two pixels times two
// output channels at a time; the input offset becomes part of the bias: sum((x + offset) * w) = sum(x * w) + offset * sum(w).
#include <stddef.h>

#include "convolve_s8.h"
#include "requantize.h"

#if defined(__GNUC__) && !defined(__clang__)
// Summing the products of an unrolled step before they reach the accumulator costs GCC registers, and so spills: 70
// instructions for 16 multiply-accumulates on Cortex-M4 instead of 47.
#pragma GCC optimize("no-tree-reassoc")
#endif

static uint32_t bias_with_offset(const cortex_m_nn_convolve_call *call, int32_t channel, int32_t depth) {
  const int8_t *w = call->filter + channel * depth;
  int32_t sum = 0;
  for (int32_t i = 0; i < depth; ++i) {
    sum = cortex_m_nn_wrapping_add(sum, w[i]);
  }
  const uint32_t bias = call->bias != NULL ? (uint32_t)call->bias[channel] : 0;
  return bias + (uint32_t)cortex_m_nn_wrapping_mul(sum, call->params->input_offset);
}

// `pixels` output pixels of one row for channels c and last (the same if c has no partner). step: from one input pixel to
// the next.
static void multiply_row(const cortex_m_nn_convolve_call *call, const int8_t *in, int32_t step, int32_t pixels,
                         int32_t c, int32_t last, uint32_t bias0, uint32_t bias1, int8_t *out) {
  const int32_t depth = call->filter_dims->c;
  const int32_t out_step = call->output_dims->c;
  const int32_t offset = call->params->output_offset;
  const int32_t min = call->params->activation.min;
  const int32_t max = call->params->activation.max;
  const int32_t multiplier0 = call->quant->multiplier[c];
  const int32_t shift0 = call->quant->shift[c];
  const int32_t multiplier1 = call->quant->multiplier[last];
  const int32_t shift1 = call->quant->shift[last];
  for (int32_t p = 0; p < pixels; p += 2) {
    const bool pair = p + 1 < pixels;
    const int8_t *x0 = in;
    const int8_t *x1 = pair ? in + step : in;
    const int8_t *w0 = call->filter + c * depth;
    const int8_t *w1 = call->filter + last * depth;
    uint32_t acc00 = bias0, acc01 = bias1, acc10 = bias0, acc11 = bias1;
#define MULTIPLY_2X2(i)                   \
  do {                                    \
    const int32_t a0 = x0[i], a1 = x1[i]; \
    const int32_t b0 = w0[i], b1 = w1[i]; \
    acc00 += (uint32_t)(a0 * b0);         \
    acc01 += (uint32_t)(a0 * b1);         \
    acc10 += (uint32_t)(a1 * b0);         \
    acc11 += (uint32_t)(a1 * b1);         \
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
    out[c] = cortex_m_nn_requantize_to_s8((int32_t)acc00, multiplier0, shift0, offset, min, max);
    out[last] = cortex_m_nn_requantize_to_s8((int32_t)acc01, multiplier1, shift1, offset, min, max);
    if (pair) {
      out[out_step + c] = cortex_m_nn_requantize_to_s8((int32_t)acc10, multiplier0, shift0, offset, min, max);
      out[out_step + last] = cortex_m_nn_requantize_to_s8((int32_t)acc11, multiplier1, shift1, offset, min, max);
    }
    in += 2 * step;
    out += 2 * out_step;
  }
}

void cortex_m_nn_convolve_1x1_scalar(const cortex_m_nn_convolve_call *call) {
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *output = call->output_dims;
  const cmsis_nn_tile stride = call->params->stride;
  const int32_t depth = call->filter_dims->c;
  // Without gaps between them, all rows of all images are one long row.
  const bool joined = stride.w == 1 && stride.h == 1 && input->h == output->h && input->w == output->w;
  const int32_t pixels = joined ? output->n * output->h * output->w : output->w;
  const int32_t rows = joined ? 1 : output->n * output->h;
  for (int32_t c = 0; c < output->c; c += 2) {
    const int32_t last = c + 1 < output->c ? c + 1 : c;
    const uint32_t bias0 = bias_with_offset(call, c, depth);
    const uint32_t bias1 = bias_with_offset(call, last, depth);
    for (int32_t row = 0; row < rows; ++row) {
      const int32_t n = row / output->h;
      const int32_t y = row % output->h;
      const int8_t *in = call->input + (n * input->h + y * stride.h) * input->w * depth;
      multiply_row(call, in, stride.w * depth, pixels, c, last, bias0, bias1, call->output + row * pixels * output->c);
    }
  }
}
