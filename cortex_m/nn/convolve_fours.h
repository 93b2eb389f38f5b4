// Convolution with the columns of four output pixels side by side, so that each weight that is loaded serves four: what
// the scalar and the DSP variant have in common. They differ in how columns lie in memory and are multiplied.
#ifndef CORTEX_M_NN_CONVOLVE_FOURS_H_
#define CORTEX_M_NN_CONVOLVE_FOURS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "convolve_s8.h"
#include "requantize.h"
#include "window.h"

#define CORTEX_M_NN_INLINE static inline __attribute__((always_inline))

typedef struct {
  int32_t sum[4];
} cortex_m_nn_four_sums;

// `count` values from `from` on, plus offset, to the column of pixel 0..3 that begins at `to`. Returns where it goes
// on. count is a multiple of 4, but for the scalar variant.
typedef uint32_t *(*cortex_m_nn_widen)(const int8_t *from, int32_t count, int32_t offset, uint32_t *to);
// The same for zeros.
typedef uint32_t *(*cortex_m_nn_clear)(int32_t count, uint32_t *to);
// Four columns times one row of weights, plus bias.
typedef cortex_m_nn_four_sums (*cortex_m_nn_multiply)(const uint32_t *columns, const int8_t *weights, int32_t depth,
                                                      int32_t bias);

// One kernel window of one group: as one column if its pieces suit `widen`.
CORTEX_M_NN_INLINE void cortex_m_nn_gather_column(const cortex_m_nn_convolve_call *call, const int8_t *image, int32_t y,
                                                  int32_t x, uint32_t *to, cortex_m_nn_widen widen,
                                                  cortex_m_nn_clear clear) {
  const cmsis_nn_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const int32_t channels = call->filter_dims->c;
  const int32_t kernel_w = call->filter_dims->w;
  const int32_t offset = params->input_offset;
  const cortex_m_nn_range columns = cortex_m_nn_clip_window(x, params->dilation.w, kernel_w, input->w);
  const bool dense = params->dilation.w == 1 && channels == input->c;
  const int32_t inside = (columns.end - columns.begin) * channels;
  const int32_t run = dense ? inside : channels;
  const int32_t run_step = params->dilation.w * input->c;
  const int32_t row_step = params->dilation.h * input->w * input->c;
  const int8_t *row = image + (y * input->w + x + columns.begin * params->dilation.w) * input->c;
  for (int32_t ky = call->filter_dims->h; ky > 0; --ky, row += row_step, y += params->dilation.h) {
    if ((uint32_t)y >= (uint32_t)input->h || inside == 0) {
      to = clear(kernel_w * channels, to);
      continue;
    }
    to = clear(columns.begin * channels, to);
    const int8_t *from = row;
    for (int32_t left = inside; left > 0; left -= run, from += run_step) {
      to = widen(from, run, offset, to);
    }
    to = clear((kernel_w - columns.end) * channels, to);
  }
}

// The same as plain bytes, padding the zero point, its length a multiple of 4.
static inline void cortex_m_nn_gather_line(const cortex_m_nn_convolve_call *call, const int8_t *image, int32_t y,
                                           int32_t x, int8_t *to) {
  const cmsis_nn_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const int32_t channels = call->filter_dims->c;
  const int32_t kernel_w = call->filter_dims->w;
  const int zero = -params->input_offset;
  const cortex_m_nn_range columns = cortex_m_nn_clip_window(x, params->dilation.w, kernel_w, input->w);
  const bool dense = params->dilation.w == 1 && channels == input->c;
  const int32_t inside = (columns.end - columns.begin) * channels;
  const int32_t run = dense ? inside : channels;
  for (int32_t ky = 0; ky < call->filter_dims->h; ++ky, y += params->dilation.h) {
    int32_t before = columns.begin * channels;
    int32_t left = inside;
    if ((uint32_t)y >= (uint32_t)input->h || inside == 0) {
      before = kernel_w * channels;
      left = 0;
    }
    for (int32_t i = before; i > 0; --i) {
      *to++ = (int8_t)zero;
    }
    if (left == 0) {
      continue;
    }
    const int8_t *from = image + (y * input->w + x + columns.begin * params->dilation.w) * input->c;
    for (; left > 0; left -= run, from += params->dilation.w * input->c - run) {
      for (int32_t i = run; i > 0; --i) {
        *to++ = *from++;
      }
    }
    for (int32_t i = (kernel_w - columns.end) * channels; i > 0; --i) {
      *to++ = (int8_t)zero;
    }
  }
  for (int32_t i = 0; i < 3; ++i) {
    to[i] = (int8_t)zero;
  }
}

// Up to four pixels whose columns are there.
CORTEX_M_NN_INLINE void cortex_m_nn_multiply_fours(const cortex_m_nn_convolve_call *call, const uint32_t *columns,
                                                   int32_t depth, int32_t first, int32_t channels, int8_t *const out[4],
                                                   int32_t pixels, const bool quick, const bool full,
                                                   cortex_m_nn_multiply multiply) {
  const int32_t offset = call->params->output_offset;
  const int32_t min = call->params->activation.min;
  const int32_t max = call->params->activation.max;
  const int32_t *bias = call->bias;
  const int32_t *multipliers = call->quant->multiplier;
  const int32_t *shifts = call->quant->shift;
  const int8_t *weights = call->filter + first * depth;
  int8_t *const out0 = out[0], *const out1 = out[1], *const out2 = out[2], *const out3 = out[3];
  for (int32_t c = first; c < first + channels; ++c, weights += depth) {
    const cortex_m_nn_four_sums s = multiply(columns, weights, depth, bias != NULL ? bias[c] : 0);
    const int32_t multiplier = multipliers[c], shift = shifts[c];
    const cortex_m_nn_quick_params p = cortex_m_nn_quick_params_of(multiplier, shift, offset);
#define FINISH(i)                                                           \
  (quick ? cortex_m_nn_quick_requantize_to_s8(s.sum[i], &p, min, max, full) \
         : cortex_m_nn_requantize_to_s8(s.sum[i], multiplier, shift, offset, min, max))
    if (pixels == 4) {
      out3[c] = FINISH(3);
      out2[c] = FINISH(2);
      out1[c] = FINISH(1);
      out0[c] = FINISH(0);
      continue;
    }
    out0[c] = FINISH(0);
    if (pixels > 1) out1[c] = FINISH(1);
    if (pixels > 2) out2[c] = FINISH(2);
#undef FINISH
  }
}

// May cortex_m_nn_quick_requantize serve this call?
static inline bool cortex_m_nn_convolve_is_quick(const cortex_m_nn_convolve_call *call, int32_t depth) {
  return depth <= CORTEX_M_NN_QUICK_MAX_DEPTH &&
         cortex_m_nn_quick_params_are_valid(call->quant->shift, call->bias, call->output_dims->c);
}

#endif  // CORTEX_M_NN_CONVOLVE_FOURS_H_
