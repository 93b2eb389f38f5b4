#include "pool_s8.h"

#include <stddef.h>

#include "checks.h"

// Does each window of one axis touch the input?
static bool windows_touch(int32_t outputs, int32_t stride, int32_t padding, int32_t kernel, int32_t input) {
  const bool first = kernel > padding;
  const bool last = (outputs - 1) * stride - padding < input;
  return first && last;
}

bool cortex_m_nn_pool_call_is_valid(const cortex_m_nn_pool_call *call) {
  const cmsis_nn_pool_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *filter = call->filter_dims;
  const cmsis_nn_dims *output = call->output_dims;
  if (params == NULL || input == NULL || filter == NULL || output == NULL || call->input == NULL ||
      call->output == NULL) {
    return false;
  }
  if (!cortex_m_nn_dims_are_valid(input) || !cortex_m_nn_dims_are_valid(output) || filter->h < 1 || filter->w < 1) {
    return false;
  }
  const cmsis_nn_tile no_dilation = {1, 1};
  if (input->n != output->n || input->c != output->c ||
      !cortex_m_nn_window_is_valid(&params->stride, &params->padding, &no_dilation, filter, output) ||
      !cortex_m_nn_activation_is_valid(&params->activation)) {
    return false;
  }
  // 128 * count must fit the 32-bit sum; only the part of a window inside the input counts.
  if ((int64_t)input->h * input->w > INT32_MAX / 256) {
    return false;
  }
  return windows_touch(output->h, params->stride.h, params->padding.h, filter->h, input->h) &&
         windows_touch(output->w, params->stride.w, params->padding.w, filter->w, input->w);
}
