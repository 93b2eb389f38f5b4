#include <stddef.h>

#include "additional.h"
#include "arm_nnfunctions.h"
#include "checks.h"

static bool is_valid(const cmsis_nn_transpose_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                     const cmsis_nn_dims *input, const int8_t *input_data, const cmsis_nn_dims *filter,
                     const int8_t *filter_data, const cmsis_nn_dims *output, const int8_t *output_data) {
  if (params == NULL || input == NULL || input_data == NULL || filter == NULL || filter_data == NULL ||
      output == NULL || output_data == NULL) {
    return false;
  }
  if (!cortex_m_nn_dims_are_valid(input) || !cortex_m_nn_dims_are_valid(filter) ||
      !cortex_m_nn_dims_are_valid(output)) {
    return false;
  }
  if (input->n != output->n || filter->n != output->c || input->c % filter->c != 0 ||
      output->c % (input->c / filter->c) != 0) {
    return false;
  }
  if (!cortex_m_nn_input_offset_is_valid(params->input_offset) ||
      !cortex_m_nn_output_offset_is_valid(params->output_offset) ||
      !cortex_m_nn_activation_is_valid(&params->activation)) {
    return false;
  }
  // The input is where the output of a convolution is: it steps by stride.
  return cortex_m_nn_window_is_valid(&params->stride, &params->padding, &params->dilation, filter, input) &&
         cortex_m_nn_quant_params_are_valid(quant, output->c) && output->h <= INT32_MAX - params->padding.h &&
         output->w <= INT32_MAX - params->padding.w;
}

arm_cmsis_nn_status arm_transpose_conv_s8(const cmsis_nn_context *ctx, const cmsis_nn_context *output_ctx,
                                          const cmsis_nn_transpose_conv_params *transpose_conv_params,
                                          const cmsis_nn_per_channel_quant_params *quant_params,
                                          const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                          const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                          const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                          const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)ctx;
  (void)output_ctx;
  (void)bias_dims;
  const cmsis_nn_transpose_conv_params *params = transpose_conv_params;
  if (!is_valid(params, quant_params, input_dims, input_data, filter_dims, filter_data, output_dims, output_data)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const cortex_m_nn_transpose_conv_args args = {
      .input = input_data,
      .filter = filter_data,
      .bias = bias_data,
      .multiplier = quant_params->multiplier,
      .shift = quant_params->shift,
      .out = output_data,
      .batch = input_dims->n,
      .input_channels = input_dims->c,
      .output_channels = output_dims->c,
      .groups = input_dims->c / filter_dims->c,
      .rows = {input_dims->h, output_dims->h, filter_dims->h, params->stride.h, params->padding.h, params->dilation.h},
      .columns = {input_dims->w, output_dims->w, filter_dims->w, params->stride.w, params->padding.w,
                  params->dilation.w},
      .input_offset = params->input_offset,
      .output_offset = params->output_offset,
      .activation_min = params->activation.min,
      .activation_max = params->activation.max,
  };
  cortex_m_nn_transpose_conv_s8(&args);
  return ARM_CMSIS_NN_SUCCESS;
}

// One kernel serves all sizes.
arm_cmsis_nn_status arm_transpose_conv_wrapper_s8(const cmsis_nn_context *ctx, const cmsis_nn_context *output_ctx,
                                                  const cmsis_nn_transpose_conv_params *transpose_conv_params,
                                                  const cmsis_nn_per_channel_quant_params *quant_params,
                                                  const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                                  const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                                  const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                                  const cmsis_nn_dims *output_dims, int8_t *output_data) {
  return arm_transpose_conv_s8(ctx, output_ctx, transpose_conv_params, quant_params, input_dims, input_data,
                               filter_dims, filter_data, bias_dims, bias_data, output_dims, output_data);
}
