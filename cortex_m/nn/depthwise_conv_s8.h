// The variants of the depthwise convolution; they trust the checks of arm_depthwise_conv_s8.
#ifndef CORTEX_M_NN_DEPTHWISE_CONV_S8_H_
#define CORTEX_M_NN_DEPTHWISE_CONV_S8_H_

#include <stdbool.h>
#include <stdint.h>

#include "arm_nn_types.h"

// One call of a depthwise convolution. bias may be null.
typedef struct {
  const cmsis_nn_dw_conv_params *params;
  const cmsis_nn_per_channel_quant_params *quant;
  const cmsis_nn_dims *input_dims;
  const int8_t *input;
  const cmsis_nn_dims *filter_dims;
  const int8_t *filter;
  const int32_t *bias;
  const cmsis_nn_dims *output_dims;
  int8_t *output;
} cortex_m_nn_depthwise_call;

void cortex_m_nn_depthwise_conv_scalar(const cortex_m_nn_depthwise_call *call);
// Where CORTEX_M_NN_THUMB2 is 1 and this is true: depth multiplier 1, at least four channels, no more taps than these.
#define CORTEX_M_NN_DEPTHWISE_FOURS_MAX_TAPS 25
static inline bool cortex_m_nn_depthwise_takes_fours(const cmsis_nn_dw_conv_params *params, const cmsis_nn_dims *filter,
                                                     const cmsis_nn_dims *output) {
  return params->ch_mult == 1 && output->c >= 4 && filter->h * filter->w <= CORTEX_M_NN_DEPTHWISE_FOURS_MAX_TAPS;
}
void cortex_m_nn_depthwise_conv_fours(const cortex_m_nn_depthwise_call *call);
// Depth multiplier 1. `patches`: where dispatch.c says so, with its scratch, aligned to 4 bytes.
void cortex_m_nn_depthwise_conv_patches_mve(const cortex_m_nn_depthwise_call *call, void *scratch);
void cortex_m_nn_depthwise_conv_lanes_mve(const cortex_m_nn_depthwise_call *call);

#endif  // CORTEX_M_NN_DEPTHWISE_CONV_S8_H_
