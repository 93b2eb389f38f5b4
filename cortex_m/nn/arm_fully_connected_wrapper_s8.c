#include <stddef.h>

#include "arm_nnfunctions.h"

arm_cmsis_nn_status arm_fully_connected_wrapper_s8(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
                                                   const cmsis_nn_quant_params *quant_params,
                                                   const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                                   const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                                   const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                                   const cmsis_nn_dims *output_dims, int8_t *output_data) {
  if (quant_params == NULL || quant_params->multiplier == NULL || quant_params->shift == NULL) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  if (quant_params->is_per_channel) {
    const cmsis_nn_per_channel_quant_params per_channel = {quant_params->multiplier, quant_params->shift};
    return arm_fully_connected_per_channel_s8(ctx, fc_params, &per_channel, input_dims, input_data, filter_dims,
                                              filter_data, bias_dims, bias_data, output_dims, output_data);
  }
  const cmsis_nn_per_tensor_quant_params per_tensor = {quant_params->multiplier[0], quant_params->shift[0]};
  return arm_fully_connected_s8(ctx, fc_params, &per_tensor, input_dims, input_data, filter_dims, filter_data,
                                bias_dims, bias_data, output_dims, output_data);
}
