#include <stddef.h>

#include "arm_nnfunctions.h"
#include "checks.h"
#include "window.h"

// Integer mean, halves away from zero.
static int8_t mean(int32_t sum, int32_t count, const cmsis_nn_activation *activation) {
  const int32_t value = sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
  return (int8_t)cortex_m_nn_clamp(value, activation->min, activation->max);
}

// Does each window of one axis touch the input?
static bool windows_touch(int32_t outputs, int32_t stride, int32_t padding, int32_t kernel, int32_t input) {
  const bool first = kernel > padding;
  const bool last = (outputs - 1) * stride - padding < input;
  return first && last;
}

static bool is_valid(const cmsis_nn_pool_params *pool_params, const cmsis_nn_dims *input, const cmsis_nn_dims *filter,
                     const cmsis_nn_dims *output) {
  if (!cortex_m_nn_dims_are_valid(input) || !cortex_m_nn_dims_are_valid(output) || filter->h < 1 || filter->w < 1) {
    return false;
  }
  const cmsis_nn_tile no_dilation = {1, 1};
  if (input->n != output->n || input->c != output->c ||
      !cortex_m_nn_window_is_valid(&pool_params->stride, &pool_params->padding, &no_dilation, filter, output) ||
      !cortex_m_nn_activation_is_valid(&pool_params->activation)) {
    return false;
  }
  // 128 * count must fit the 32-bit sum; only the part of a window inside the input counts.
  if ((int64_t)input->h * input->w > INT32_MAX / 256) {
    return false;
  }
  return windows_touch(output->h, pool_params->stride.h, pool_params->padding.h, filter->h, input->h) &&
         windows_touch(output->w, pool_params->stride.w, pool_params->padding.w, filter->w, input->w);
}

// All channels of one output pixel. x: the first input pixel of the clipped window; h, w: its size.
static void average(const int8_t *x, int32_t h, int32_t w, int32_t row_step, int32_t channels,
                    const cmsis_nn_activation *activation, int8_t *out) {
  const int32_t count = h * w;
  int32_t c = 0;
  for (; c + 4 <= channels; c += 4) {
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (int32_t ky = 0; ky < h; ++ky) {
      const int8_t *value = x + ky * row_step + c;
      for (int32_t kx = 0; kx < w; ++kx, value += channels) {
        sum0 += value[0];
        sum1 += value[1];
        sum2 += value[2];
        sum3 += value[3];
      }
    }
    out[c] = mean(sum0, count, activation);
    out[c + 1] = mean(sum1, count, activation);
    out[c + 2] = mean(sum2, count, activation);
    out[c + 3] = mean(sum3, count, activation);
  }
  for (; c < channels; ++c) {
    int32_t sum = 0;
    for (int32_t ky = 0; ky < h; ++ky) {
      for (int32_t kx = 0; kx < w; ++kx) {
        sum += x[ky * row_step + kx * channels + c];
      }
    }
    out[c] = mean(sum, count, activation);
  }
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
                                   const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                   const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims,
                                   int8_t *output_data) {
  (void)ctx;
  if (pool_params == NULL || input_dims == NULL || input_data == NULL || filter_dims == NULL || output_dims == NULL ||
      output_data == NULL || !is_valid(pool_params, input_dims, filter_dims, output_dims)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t channels = input_dims->c;
  const int32_t row_step = input_dims->w * channels;
  int8_t *out = output_data;
  for (int32_t n = 0; n < output_dims->n; ++n) {
    const int8_t *image = input_data + n * input_dims->h * row_step;
    for (int32_t y = 0; y < output_dims->h; ++y) {
      const int32_t origin_y = y * pool_params->stride.h - pool_params->padding.h;
      const cortex_m_nn_range rows = cortex_m_nn_clip_window(origin_y, 1, filter_dims->h, input_dims->h);
      for (int32_t x = 0; x < output_dims->w; ++x, out += channels) {
        const int32_t origin_x = x * pool_params->stride.w - pool_params->padding.w;
        const cortex_m_nn_range cols = cortex_m_nn_clip_window(origin_x, 1, filter_dims->w, input_dims->w);
        average(image + (origin_y + rows.begin) * row_step + (origin_x + cols.begin) * channels, rows.end - rows.begin,
                cols.end - cols.begin, row_step, channels, &pool_params->activation, out);
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
