#include "additional.h"
#include "window.h"

void cortex_m_nn_max_pool_dilated_s8(const cortex_m_nn_max_pool_args *args) {
  const cortex_m_nn_window_axis *down = &args->rows, *across = &args->columns;
  const int32_t row_step = down->dilation * across->input * args->channels;
  const int32_t step = across->dilation * args->channels;
  const int8_t *image = args->input;
  int8_t *out = args->out;
  for (int32_t n = 0; n < args->batch; ++n, image += down->input * across->input * args->channels) {
    for (int32_t y = 0; y < down->output; ++y) {
      const int32_t top = y * down->stride - down->padding;
      const cortex_m_nn_range rows = cortex_m_nn_clip_window(top, down->dilation, down->kernel, down->input);
      for (int32_t x = 0; x < across->output; ++x) {
        const int32_t left = x * across->stride - across->padding;
        const cortex_m_nn_range columns =
            cortex_m_nn_clip_window(left, across->dilation, across->kernel, across->input);
        const int32_t pixel =
            (top + rows.begin * down->dilation) * across->input + left + columns.begin * across->dilation;
        for (int32_t c = 0; c < args->channels; ++c) {
          const int8_t *row = image + pixel * args->channels + c;
          int32_t result = args->activation_min;
          for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
            for (int32_t kx = 0; kx < columns.end - columns.begin; ++kx) {
              const int32_t value = row[kx * step];
              result = value > result ? value : result;
            }
            row += ky + 1 < rows.end ? row_step : 0;
          }
          *out++ = (int8_t)(result > args->activation_max ? args->activation_max : result);
        }
      }
    }
  }
}
