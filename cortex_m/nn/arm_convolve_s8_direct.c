// Convolution without scratch: one output at a time, the window clipped once for each pixel.
#include <stddef.h>

#include "convolve_s8.h"
#include "requantize.h"
#include "window.h"

void cortex_m_nn_convolve_direct_scalar(const cortex_m_nn_convolve_call *call) {
  const cmsis_nn_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *filter = call->filter_dims;
  const cmsis_nn_dims *output = call->output_dims;
  const int32_t group_channels = output->c / (input->c / filter->c);
  int8_t *out = call->output;
  for (int32_t n = 0; n < output->n; ++n) {
    const int8_t *image = call->input + n * input->h * input->w * input->c;
    for (int32_t y = 0; y < output->h; ++y) {
      const int32_t origin_y = y * params->stride.h - params->padding.h;
      const cortex_m_nn_range rows = cortex_m_nn_clip_window(origin_y, params->dilation.h, filter->h, input->h);
      for (int32_t x = 0; x < output->w; ++x) {
        const int32_t origin_x = x * params->stride.w - params->padding.w;
        const cortex_m_nn_range cols = cortex_m_nn_clip_window(origin_x, params->dilation.w, filter->w, input->w);
        for (int32_t c = 0; c < output->c; ++c) {
          const int8_t *group = image + c / group_channels * filter->c;
          uint32_t acc = call->bias != NULL ? (uint32_t)call->bias[c] : 0;
          for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
            for (int32_t kx = cols.begin; kx < cols.end; ++kx) {
              const int32_t pixel =
                  (origin_y + ky * params->dilation.h) * input->w + origin_x + kx * params->dilation.w;
              const int8_t *a = group + pixel * input->c;
              const int8_t *b = call->filter + ((c * filter->h + ky) * filter->w + kx) * filter->c;
              for (int32_t i = 0; i < filter->c; ++i) {
                acc += (uint32_t)((a[i] + params->input_offset) * b[i]);
              }
            }
          }
          *out++ = cortex_m_nn_requantize_to_s8((int32_t)acc, call->quant->multiplier[c], call->quant->shift[c],
                                                params->output_offset, params->activation.min, params->activation.max);
        }
      }
    }
  }
}
