#include "arm_nnfunctions.h"
#include "checks.h"
#include "depthwise_conv_s8.h"
#include "dispatch.h"
#include "small_s8.h"

static bool is_valid(const cortex_m_nn_depthwise_call *call) {
  const cmsis_nn_dw_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *filter = call->filter_dims;
  const cmsis_nn_dims *output = call->output_dims;
  if (params == NULL || input == NULL || filter == NULL || output == NULL || call->input == NULL ||
      call->filter == NULL || call->output == NULL) {
    return false;
  }
  if (!cortex_m_nn_dims_are_valid(input) || !cortex_m_nn_dims_are_valid(filter) ||
      !cortex_m_nn_dims_are_valid(output)) {
    return false;
  }
  if (input->n != output->n || filter->n != 1 || filter->c != output->c || params->ch_mult < 1) {
    return false;
  }
  if (output->c % params->ch_mult != 0 || output->c / params->ch_mult != input->c) {
    return false;
  }
  if (!cortex_m_nn_input_offset_is_valid(params->input_offset) ||
      !cortex_m_nn_output_offset_is_valid(params->output_offset) ||
      !cortex_m_nn_activation_is_valid(&params->activation)) {
    return false;
  }
  return cortex_m_nn_window_is_valid(&params->stride, &params->padding, &params->dilation, filter, output) &&
         cortex_m_nn_quant_params_are_valid(call->quant, output->c);
}

arm_cmsis_nn_status arm_depthwise_conv_s8(const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *dw_conv_params,
                                          const cmsis_nn_per_channel_quant_params *quant_params,
                                          const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                          const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                          const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                          const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)bias_dims;
  const cortex_m_nn_depthwise_call call = {dw_conv_params, quant_params, input_dims,  input_data, filter_dims,
                                           filter_data,    bias_data,    output_dims, output_data};
  if (!is_valid(&call)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
#if CORTEX_M_NN_SMALL
  (void)ctx;
  cortex_m_nn_depthwise_conv_small_mve(&call);
  return ARM_CMSIS_NN_SUCCESS;
#else
#if CORTEX_M_NN_MVE
  const cortex_m_nn_plan plan =
      cortex_m_nn_plan_depthwise_conv_s8(CORTEX_M_NN_ISA_MVE, dw_conv_params, input_dims, filter_dims, output_dims);
  if (plan.variant == CORTEX_M_NN_DEPTHWISE_PATCHES_MVE && ctx != NULL && ctx->buf != NULL &&
      ctx->size >= plan.scratch_bytes) {
    if ((uintptr_t)ctx->buf % sizeof(int32_t) != 0) {
      return ARM_CMSIS_NN_ARG_ERROR;
    }
    cortex_m_nn_depthwise_conv_patches_mve(&call, ctx->buf);
    return ARM_CMSIS_NN_SUCCESS;
  }
  if (plan.variant != CORTEX_M_NN_DEPTHWISE_SCALAR) {
    cortex_m_nn_depthwise_conv_lanes_mve(&call);
    return ARM_CMSIS_NN_SUCCESS;
  }
#else
  (void)ctx;
#endif
#if CORTEX_M_NN_THUMB2
  if (cortex_m_nn_depthwise_takes_fours(dw_conv_params, filter_dims, output_dims)) {
    cortex_m_nn_depthwise_conv_fours(&call);
    return ARM_CMSIS_NN_SUCCESS;
  }
#endif
  cortex_m_nn_depthwise_conv_scalar(&call);
  return ARM_CMSIS_NN_SUCCESS;
#endif  // CORTEX_M_NN_SMALL
}
