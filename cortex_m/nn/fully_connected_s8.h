// What the fully connected functions share.
#ifndef CORTEX_M_NN_FULLY_CONNECTED_S8_H_
#define CORTEX_M_NN_FULLY_CONNECTED_S8_H_

#include <stdbool.h>
#include <stdint.h>

#include "arm_nn_types.h"

// One call. quant_step is 1 for parameters per channel, 0 for one pair that serves all; bias may be null.
typedef struct {
  const cmsis_nn_fc_params *params;
  const int32_t *multiplier;
  const int32_t *shift;
  int32_t quant_step;
  const cmsis_nn_dims *input_dims;
  const int8_t *input;
  const cmsis_nn_dims *filter_dims;
  const int8_t *filter;
  const int32_t *bias;
  const cmsis_nn_dims *output_dims;
  int8_t *output;
} cortex_m_nn_fully_connected_call;

// Checks and runs.
arm_cmsis_nn_status cortex_m_nn_fully_connected(const cortex_m_nn_fully_connected_call *call);
// Trusts the checks.
void cortex_m_nn_fully_connected_scalar(const cortex_m_nn_fully_connected_call *call);
void cortex_m_nn_fully_connected_mve(const cortex_m_nn_fully_connected_call *call);
// Where CORTEX_M_NN_THUMB2 is 1.
void cortex_m_nn_fully_connected_thumb2(const cortex_m_nn_fully_connected_call *call);

#endif  // CORTEX_M_NN_FULLY_CONNECTED_S8_H_
