#include <stddef.h>

#include "arm_nnfunctions.h"
#include "convolve_s8.h"
#include "dispatch.h"
#include "fully_connected_s8.h"
#include "isa.h"

#if !CORTEX_M_NN_SMALL
// The window is the image as it lies in memory.
static arm_cmsis_nn_status linear(const cortex_m_nn_convolve_call *call) {
  if (!cortex_m_nn_convolve_call_is_valid(call)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const cmsis_nn_conv_params *params = call->params;
  const cmsis_nn_dims *filter = call->filter_dims;
  const int32_t depth = filter->h * filter->w * filter->c;
  const cmsis_nn_fc_params fc = {params->input_offset, 0, params->output_offset, params->activation};
  const cmsis_nn_dims rows = {call->input_dims->n, 1, 1, depth}, weights = {depth, 1, 1, filter->n};
  const cortex_m_nn_fully_connected_call product = {
      &fc,        call->quant->multiplier, call->quant->shift, 1, &rows, call->input, &weights, call->filter,
      call->bias, call->output_dims,       call->output};
  return cortex_m_nn_fully_connected(&product);
}
#endif

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
    case CORTEX_M_NN_CONVOLVE_LINEAR:
      return linear(&(const cortex_m_nn_convolve_call){conv_params, quant_params, input_dims, input_data, filter_dims,
                                                       filter_data, bias_data, output_dims, output_data});
    default:
      return ARM_CMSIS_NN_ARG_ERROR;
  }
#endif
}
