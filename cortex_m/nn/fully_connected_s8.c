#include "fully_connected_s8.h"

#include "checks.h"
#include "isa.h"
#include "small_s8.h"

static bool is_valid(const cortex_m_nn_fully_connected_call *call) {
  const cmsis_nn_fc_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *filter = call->filter_dims;
  const cmsis_nn_dims *output = call->output_dims;
  if (params == NULL || input == NULL || filter == NULL || output == NULL || call->input == NULL ||
      call->filter == NULL || call->output == NULL || call->multiplier == NULL || call->shift == NULL) {
    return false;
  }
  // Only these sizes are read: CMSIS-NN leaves the meaning of h and w open.
  if (input->n < 1 || filter->n < 1 || filter->c < 1 || output->c != filter->c) {
    return false;
  }
  if ((int64_t)filter->n * filter->c > INT32_MAX || (int64_t)input->n * filter->n > INT32_MAX ||
      (int64_t)input->n * output->c > INT32_MAX) {
    return false;
  }
  if (!cortex_m_nn_input_offset_is_valid(params->input_offset) ||
      !cortex_m_nn_input_offset_is_valid(params->filter_offset) ||
      !cortex_m_nn_output_offset_is_valid(params->output_offset) ||
      !cortex_m_nn_activation_is_valid(&params->activation)) {
    return false;
  }
  return cortex_m_nn_shifts_are_valid(call->shift, call->quant_step == 0 ? 1 : output->c);
}

arm_cmsis_nn_status cortex_m_nn_fully_connected(const cortex_m_nn_fully_connected_call *call) {
  if (!is_valid(call)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
#if CORTEX_M_NN_SMALL
  cortex_m_nn_fully_connected_small_mve(call);
#elif CORTEX_M_NN_MVE
  cortex_m_nn_fully_connected_mve(call);
#else
#if CORTEX_M_NN_THUMB2
  enum { kFew = 4, kShort = 32 };  // less is over before the preparations of the other kernel are
  if (call->output_dims->c >= kFew || call->filter_dims->n >= kShort) {
    cortex_m_nn_fully_connected_thumb2(call);
    return ARM_CMSIS_NN_SUCCESS;
  }
#endif
  cortex_m_nn_fully_connected_scalar(call);
#endif
  return ARM_CMSIS_NN_SUCCESS;
}
