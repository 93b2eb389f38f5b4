// What the convolution functions share: one check of the arguments, and the variants, which trust it.
#ifndef CORTEX_M_NN_CONVOLVE_S8_H_
#define CORTEX_M_NN_CONVOLVE_S8_H_

#include <stdbool.h>
#include <stdint.h>

#include "arm_nn_types.h"

// One call of a convolution. bias_data may be null.
typedef struct {
  const cmsis_nn_conv_params *params;
  const cmsis_nn_per_channel_quant_params *quant;
  const cmsis_nn_dims *input_dims;
  const int8_t *input;
  const cmsis_nn_dims *filter_dims;
  const int8_t *filter;
  const int32_t *bias;
  const cmsis_nn_dims *output_dims;
  int8_t *output;
} cortex_m_nn_convolve_call;

bool cortex_m_nn_convolve_call_is_valid(const cortex_m_nn_convolve_call *call);
// Beyond that: 1x1 kernel, no padding, one group, and every window inside the input.
bool cortex_m_nn_convolve_call_is_1x1(const cortex_m_nn_convolve_call *call);

// im2col. Any kernel, 1x1 too; scratch as dispatch.h says, aligned to 4 bytes.
void cortex_m_nn_convolve_columns_scalar(const cortex_m_nn_convolve_call *call, void *scratch);
void cortex_m_nn_convolve_columns_dsp(const cortex_m_nn_convolve_call *call, void *scratch);
void cortex_m_nn_convolve_columns_mve(const cortex_m_nn_convolve_call *call, void *scratch);
// Without scratch: one output at a time. The same bits, three to four times the instructions.
void cortex_m_nn_convolve_direct_scalar(const cortex_m_nn_convolve_call *call);
void cortex_m_nn_convolve_1x1_scalar(const cortex_m_nn_convolve_call *call);

#endif  // CORTEX_M_NN_CONVOLVE_S8_H_
