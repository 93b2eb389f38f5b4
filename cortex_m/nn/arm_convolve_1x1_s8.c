#include <stddef.h>

#include "arm_nnfunctions.h"
#include "convolve_s8.h"
#include "dispatch.h"
#include "isa.h"

arm_cmsis_nn_status arm_convolve_1x1_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                        const cmsis_nn_per_channel_quant_params *quant_params,
                                        const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                        const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                        const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                        const cmsis_nn_dims *output_dims, int8_t *output_data) {
  const cortex_m_nn_convolve_call call = {conv_params, quant_params, input_dims,  input_data, filter_dims,
                                          filter_data, bias_data,    output_dims, output_data};
  if (!cortex_m_nn_convolve_call_is_valid(&call) || !cortex_m_nn_convolve_call_is_1x1(&call)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  if (ctx != NULL && ctx->buf != NULL &&
      ctx->size >= cortex_m_nn_convolve_columns_bytes(CORTEX_M_NN_COMPILED_ISA, input_dims, filter_dims)) {
    return arm_convolve_s8(ctx, conv_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_dims,
                           bias_data, NULL, output_dims, output_data);
  }
  cortex_m_nn_convolve_1x1_scalar(&call);
  return ARM_CMSIS_NN_SUCCESS;
}
