#include <stddef.h>

#include "arm_nnfunctions.h"
#include "dispatch.h"

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                            const cmsis_nn_per_channel_quant_params *quant_params,
                                            const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                            const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                            const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                            const cmsis_nn_dims *output_dims, int8_t *output_data) {
  if (conv_params == NULL || input_dims == NULL || filter_dims == NULL || output_dims == NULL) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
#if CORTEX_M_NN_SMALL
  return arm_convolve_s8(ctx, conv_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_dims,
                         bias_data, NULL, output_dims, output_data);
#else
  const cortex_m_nn_plan plan =
      cortex_m_nn_plan_convolve_s8(CORTEX_M_NN_COMPILED_ISA, conv_params, input_dims, filter_dims, output_dims);
  switch (plan.variant) {
    case CORTEX_M_NN_CONVOLVE_COLUMNS:
      return arm_convolve_s8(ctx, conv_params, quant_params, input_dims, input_data, filter_dims, filter_data,
                             bias_dims, bias_data, NULL, output_dims, output_data);
    default:
      return ARM_CMSIS_NN_ARG_ERROR;
  }
#endif
}
