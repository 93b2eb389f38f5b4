// Compiled in every build with Helium, so that the tests have them beside the others; linked where CORTEX_M_NN_SMALL is 1.
#include <stddef.h>

#include "mve.h"
#include "requantize.h"
#include "small_s8.h"
#include "window.h"

#if CORTEX_M_NN_MVE

// acc + sum of (x + offset) * w over `count` neighbours.
static __attribute__((noinline)) int32_t dot(int32_t acc, const int8_t *x, int32_t offset, const int8_t *w,
                                             int32_t count) {
  int32_t weights = 0;
  for (; count > 0; count -= 16, x += 16, w += 16) {
    const mve_pred16_t lanes = vctp8q((uint32_t)count);
    const int8x16_t some = vldrbq_z_s8(w, lanes);
    acc = vmladavaq_s8(acc, vldrbq_z_s8(x, lanes), some);
    weights = vaddvaq_s8(weights, some);
  }
  return cortex_m_nn_wrapping_add(acc, cortex_m_nn_wrapping_mul(offset, weights));
}

static __attribute__((noinline)) int8_t finish(int32_t acc, int32_t multiplier, int32_t shift, int32_t offset,
                                               const cmsis_nn_activation *activation) {
  return cortex_m_nn_requantize_to_s8(acc, multiplier, shift, offset, activation->min, activation->max);
}

void cortex_m_nn_convolve_small_mve(const cortex_m_nn_convolve_call *call) {
  const cmsis_nn_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims, *filter = call->filter_dims, *output = call->output_dims;
  const int32_t group_channels = output->c / (input->c / filter->c);
  const bool dense = params->dilation.w == 1 && filter->c == input->c;  // a row of a window is one run
  int8_t *out = call->output;
  for (int32_t pixel = 0; pixel < output->n * output->h * output->w; ++pixel) {
    const int32_t x = pixel % output->w, y = pixel / output->w % output->h, n = pixel / output->w / output->h;
    const int32_t origin_y = y * params->stride.h - params->padding.h,
                  origin_x = x * params->stride.w - params->padding.w;
    const cortex_m_nn_range rows = cortex_m_nn_clip_window(origin_y, params->dilation.h, filter->h, input->h);
    const cortex_m_nn_range cols = cortex_m_nn_clip_window(origin_x, params->dilation.w, filter->w, input->w);
    const int32_t runs = dense ? 1 : cols.end - cols.begin;
    const int32_t length = dense ? (cols.end - cols.begin) * filter->c : filter->c;
    for (int32_t c = 0; c < output->c; ++c) {
      int32_t acc = call->bias != NULL ? call->bias[c] : 0;
      for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
        const int32_t row = n * input->h + origin_y + ky * params->dilation.h;
        const int32_t first = row * input->w + origin_x + cols.begin * params->dilation.w;
        const int8_t *a = call->input + first * input->c + c / group_channels * filter->c;
        const int8_t *b = call->filter + ((c * filter->h + ky) * filter->w + cols.begin) * filter->c;
        for (int32_t i = runs; i > 0; --i, a += params->dilation.w * input->c, b += length) {
          acc = dot(acc, a, params->input_offset, b, length);
        }
      }
      *out++ =
          finish(acc, call->quant->multiplier[c], call->quant->shift[c], params->output_offset, &params->activation);
    }
  }
}

// Four output channels in the lanes, over all pixels.
void cortex_m_nn_depthwise_conv_small_mve(const cortex_m_nn_depthwise_call *call) {
  const cmsis_nn_dw_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims, *filter = call->filter_dims, *output = call->output_dims;
  for (int32_t c = 0; c < output->c; c += 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)(output->c - c));
    const int32x4_t multiplier = vldrwq_z_s32(call->quant->multiplier + c, lanes);
    const int32x4_t shift = vldrwq_z_s32(call->quant->shift + c, lanes);
    const int32x4_t bias = call->bias != NULL ? vldrwq_z_s32(call->bias + c, lanes) : vdupq_n_s32(0);
    const int32_t m = params->ch_mult;
    const uint32x4_t places =
        vreinterpretq_u32_s32(cortex_m_nn_lanes_mve(c / m, (c + 1) / m, (c + 2) / m, (c + 3) / m));
    int8_t *out = call->output + c;
    for (int32_t pixel = 0; pixel < output->n * output->h * output->w; ++pixel, out += output->c) {
      const int32_t x = pixel % output->w, y = pixel / output->w % output->h, n = pixel / output->w / output->h;
      const int32_t origin_y = y * params->stride.h - params->padding.h;
      const int32_t origin_x = x * params->stride.w - params->padding.w;
      const cortex_m_nn_range rows = cortex_m_nn_clip_window(origin_y, params->dilation.h, filter->h, input->h);
      const cortex_m_nn_range cols = cortex_m_nn_clip_window(origin_x, params->dilation.w, filter->w, input->w);
      int32x4_t acc = bias;
      for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
        const int32_t row = (n * input->h + origin_y + ky * params->dilation.h) * input->w + origin_x;
        for (int32_t kx = cols.begin; kx < cols.end; ++kx) {
          const int8_t *from = call->input + (row + kx * params->dilation.w) * input->c;
          const int32x4_t value = vaddq_n_s32(vldrbq_gather_offset_z_s32(from, places, lanes), params->input_offset);
          const int32x4_t weight = vldrbq_z_s32(call->filter + (ky * filter->w + kx) * output->c + c, lanes);
          acc = vaddq_s32(acc, vmulq_s32(value, weight));
        }
      }
      acc = vaddq_n_s32(cortex_m_nn_requantize_mve(acc, multiplier, shift, false), params->output_offset);
      acc = vminq_s32(vmaxq_s32(acc, vdupq_n_s32(params->activation.min)), vdupq_n_s32(params->activation.max));
      vstrbq_p_s32(out, acc, lanes);
    }
  }
}

void cortex_m_nn_fully_connected_small_mve(const cortex_m_nn_fully_connected_call *call) {
  const cmsis_nn_fc_params *params = call->params;
  const int32_t depth = call->filter_dims->n, channels = call->output_dims->c;
  int8_t *out = call->output;
  for (int32_t n = 0; n < call->input_dims->n; ++n) {
    const int8_t *x = call->input + n * depth;
    // sum of (x + input_offset) * filter_offset
    int32_t common = cortex_m_nn_sum_mve(x, depth);
    common = cortex_m_nn_wrapping_add(common, cortex_m_nn_wrapping_mul(params->input_offset, depth));
    common = cortex_m_nn_wrapping_mul(common, params->filter_offset);
    for (int32_t c = 0; c < channels; ++c) {
      const int32_t start = cortex_m_nn_wrapping_add(call->bias != NULL ? call->bias[c] : 0, common);
      const int32_t acc = dot(start, x, params->input_offset, call->filter + c * depth, depth);
      *out++ = finish(acc, call->multiplier[c * call->quant_step], call->shift[c * call->quant_step],
                      params->output_offset, &params->activation);
    }
  }
}

#endif  // MVE
