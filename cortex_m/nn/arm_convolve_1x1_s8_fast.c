#include <stddef.h>

#include "arm_nnfunctions.h"

arm_cmsis_nn_status arm_convolve_1x1_s8_fast(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                             const cmsis_nn_per_channel_quant_params *quant_params,
                                             const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                             const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                             const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                             const cmsis_nn_dims *output_dims, int8_t *output_data) {
  if (conv_params == NULL || conv_params->stride.w != 1 || conv_params->stride.h != 1) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  if (input_dims == NULL || output_dims == NULL || input_dims->h != output_dims->h || input_dims->w != output_dims->w) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  // The general function joins the rows itself when the stride is 1.
  return arm_convolve_1x1_s8(ctx, conv_params, quant_params, input_dims, input_data, filter_dims, filter_data,
                             bias_dims, bias_data, output_dims, output_data);
}
