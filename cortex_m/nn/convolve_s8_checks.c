#include "checks.h"
#include "convolve_s8.h"

bool cortex_m_nn_convolve_call_is_valid(const cortex_m_nn_convolve_call *call) {
  const cmsis_nn_conv_params *params = call->params;
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
  if (input->n != output->n || filter->n != output->c || input->c % filter->c != 0) {
    return false;
  }
  const int32_t groups = input->c / filter->c;
  if (output->c % groups != 0) {
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

bool cortex_m_nn_convolve_call_is_1x1(const cortex_m_nn_convolve_call *call) {
  const cmsis_nn_conv_params *params = call->params;
  if (call->filter_dims->h != 1 || call->filter_dims->w != 1 || call->filter_dims->c != call->input_dims->c) {
    return false;
  }
  if (params->padding.h != 0 || params->padding.w != 0) {
    return false;
  }
  return (call->output_dims->h - 1) * params->stride.h < call->input_dims->h &&
         (call->output_dims->w - 1) * params->stride.w < call->input_dims->w;
}
