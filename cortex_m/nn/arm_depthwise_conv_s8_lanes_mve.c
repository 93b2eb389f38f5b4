// Depthwise convolution for MVE, any kernel, depth multiplier 1: 16 channels in the lanes. Activations, offset added,
// and weights have 16 bits; VMULLB and VMULLT give the 32-bit products of the even and of the odd lanes. No scratch.
#include <stddef.h>

#include "depthwise_conv_s8.h"
#include "mve.h"
#include "requantize.h"
#include "window.h"

#if CORTEX_M_NN_MVE

typedef struct {
  const int8_t *x;  // first tap of the clipped window
  const int8_t *w;
  int32_t rows;
  int32_t columns;
  int32_t x_pixel;  // from one tap to the next
  int32_t x_row;
  int32_t w_pixel;
  int32_t w_row;
} window;

// Output offset, limits, and the even and the odd channels put together. The offset is added before the values are
// narrowed, and wraps, like the scalar variant's.
static inline __attribute__((always_inline)) int16x8_t narrow(const cmsis_nn_dw_conv_params *params, int32x4_t even,
                                                              int32x4_t odd) {
  even = vaddq_n_s32(even, params->output_offset);
  odd = vaddq_n_s32(odd, params->output_offset);
  int16x8_t value = vqmovntq_s32(vqmovnbq_s32(vuninitializedq_s16(), even), odd);
  value = vmaxq_s16(value, vdupq_n_s16((int16_t)params->activation.min));
  return vminq_s16(value, vdupq_n_s16((int16_t)params->activation.max));
}

// The last, up to seven, channels of a pixel.
static inline __attribute__((always_inline)) void last_channels(const cortex_m_nn_depthwise_call *call, const window *v,
                                                                int32_t c, int32_t count, int8_t *out,
                                                                const bool right) {
  const cmsis_nn_dw_conv_params *params = call->params;
  const mve_pred16_t lanes = vctp16q((uint32_t)count);
  int32x4_t even = vdupq_n_s32(0), odd = vdupq_n_s32(0);
  const int8_t *x = v->x + c, *w = v->w + c;
  for (int32_t ky = v->rows; ky > 0; --ky, x += v->x_row, w += v->w_row) {
    for (int32_t kx = v->columns; kx > 0; --kx, x += v->x_pixel, w += v->w_pixel) {
      const int16x8_t a = vaddq_n_s16(vldrbq_z_s16(x, lanes), (int16_t)params->input_offset);
      const int16x8_t b = vldrbq_z_s16(w, lanes);
      even = vaddq_s32(even, vmullbq_int_s16(a, b));
      odd = vaddq_s32(odd, vmulltq_int_s16(a, b));
    }
  }
  const uint32x4_t places = vidupq_n_u32(0, 8);
  const mve_pred16_t evens = vctp32q((uint32_t)(count + 1) / 2), odds = vctp32q((uint32_t)count / 2);
  if (call->bias != NULL) {
    even = vaddq_s32(even, vldrwq_gather_offset_z_s32(call->bias + c, places, evens));
    odd = vaddq_s32(odd, vldrwq_gather_offset_z_s32(call->bias + c + 1, places, odds));
  }
  even = cortex_m_nn_requantize_mve(even, vldrwq_gather_offset_z_s32(call->quant->multiplier + c, places, evens),
                                    vldrwq_gather_offset_z_s32(call->quant->shift + c, places, evens), right);
  odd = cortex_m_nn_requantize_mve(odd, vldrwq_gather_offset_z_s32(call->quant->multiplier + c + 1, places, odds),
                                   vldrwq_gather_offset_z_s32(call->quant->shift + c + 1, places, odds), right);
  vstrbq_p_s16(out + c, narrow(params, even, odd), lanes);
}

// Requantizes eight channels from `c` on.
static inline __attribute__((always_inline)) void finish(const cortex_m_nn_depthwise_call *call, int32_t c,
                                                         int32x4_t even, int32x4_t odd, int8_t *out, const bool right) {
  if (call->bias != NULL) {
    const int32x4x2_t bias = vld2q_s32(call->bias + c);
    even = vaddq_s32(even, bias.val[0]);
    odd = vaddq_s32(odd, bias.val[1]);
  }
  const int32x4x2_t multiplier = vld2q_s32(call->quant->multiplier + c);
  const int32x4x2_t shift = vld2q_s32(call->quant->shift + c);
  even = cortex_m_nn_requantize_mve(even, multiplier.val[0], shift.val[0], right);
  odd = cortex_m_nn_requantize_mve(odd, multiplier.val[1], shift.val[1], right);
  vstrbq_s16(out + c, narrow(call->params, even, odd));
}

static inline __attribute__((always_inline)) void pixel(const cortex_m_nn_depthwise_call *call, const window *v,
                                                        int8_t *out, const bool right) {
  const int32_t channels = call->output_dims->c;
  const int16_t offset = (int16_t)call->params->input_offset;
  int32_t c = 0;
  for (; c + 16 <= channels; c += 16) {
    int32x4_t even0 = vdupq_n_s32(0), odd0 = even0, even1 = even0, odd1 = even0;
    const int8_t *x = v->x + c, *w = v->w + c;
    for (int32_t ky = v->rows; ky > 0; --ky, x += v->x_row, w += v->w_row) {
      for (int32_t kx = v->columns; kx > 0; --kx, x += v->x_pixel, w += v->w_pixel) {
        const int16x8_t a0 = vaddq_n_s16(vldrbq_s16(x), offset), b0 = vldrbq_s16(w);
        even0 = vaddq_s32(even0, vmullbq_int_s16(a0, b0));
        odd0 = vaddq_s32(odd0, vmulltq_int_s16(a0, b0));
        const int16x8_t a1 = vaddq_n_s16(vldrbq_s16(x + 8), offset), b1 = vldrbq_s16(w + 8);
        even1 = vaddq_s32(even1, vmullbq_int_s16(a1, b1));
        odd1 = vaddq_s32(odd1, vmulltq_int_s16(a1, b1));
      }
    }
    finish(call, c, even0, odd0, out, right);
    finish(call, c + 8, even1, odd1, out, right);
  }
  if (c + 8 <= channels) {
    int32x4_t even = vdupq_n_s32(0), odd = even;
    const int8_t *x = v->x + c, *w = v->w + c;
    for (int32_t ky = v->rows; ky > 0; --ky, x += v->x_row, w += v->w_row) {
      for (int32_t kx = v->columns; kx > 0; --kx, x += v->x_pixel, w += v->w_pixel) {
        const int16x8_t a = vaddq_n_s16(vldrbq_s16(x), offset), b = vldrbq_s16(w);
        even = vaddq_s32(even, vmullbq_int_s16(a, b));
        odd = vaddq_s32(odd, vmulltq_int_s16(a, b));
      }
    }
    finish(call, c, even, odd, out, right);
    c += 8;
  }
  if (c < channels) {
    last_channels(call, v, c, channels - c, out, right);
  }
}

void cortex_m_nn_depthwise_conv_lanes_mve(const cortex_m_nn_depthwise_call *call) {
  const cmsis_nn_dw_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *filter = call->filter_dims;
  const cmsis_nn_dims *output = call->output_dims;
  const int32_t channels = output->c;
  bool right = true;
  for (int32_t c = 0; c < channels; ++c) {
    right = right && call->quant->shift[c] < 0;
  }
  int8_t *out = call->output;
  for (int32_t n = 0; n < output->n; ++n) {
    const int8_t *image = call->input + n * input->h * input->w * channels;
    for (int32_t y = 0; y < output->h; ++y) {
      const int32_t in_y = y * params->stride.h - params->padding.h;
      const cortex_m_nn_range rows = cortex_m_nn_clip_window(in_y, params->dilation.h, filter->h, input->h);
      for (int32_t x = 0; x < output->w; ++x, out += channels) {
        const int32_t in_x = x * params->stride.w - params->padding.w;
        const cortex_m_nn_range columns = cortex_m_nn_clip_window(in_x, params->dilation.w, filter->w, input->w);
        window v;
        v.rows = rows.end - rows.begin;
        v.columns = columns.end - columns.begin;
        v.x_pixel = params->dilation.w * channels;
        v.x_row = params->dilation.h * input->w * channels - v.columns * v.x_pixel;
        v.w_pixel = channels;
        v.w_row = (filter->w - v.columns) * channels;
        v.x = image;
        v.w = call->filter;
        if (v.rows == 0 || v.columns == 0) {
          v.rows = 0;
        } else {
          v.x += ((in_y + rows.begin * params->dilation.h) * input->w + in_x + columns.begin * params->dilation.w) *
                 channels;
          v.w += (rows.begin * filter->w + columns.begin) * channels;
        }
        if (right) {
          pixel(call, &v, out, true);
        } else {
          pixel(call, &v, out, false);
        }
      }
    }
  }
}

#endif  // MVE
