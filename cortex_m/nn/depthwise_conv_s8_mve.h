// What the depthwise convolution for MVE and the predicate that chooses it (dispatch.c) have in common.
#ifndef CORTEX_M_NN_DEPTHWISE_CONV_S8_MVE_H_
#define CORTEX_M_NN_DEPTHWISE_CONV_S8_MVE_H_

#include <stdbool.h>
#include <stdint.h>

#include "arm_nn_types.h"

#define CORTEX_M_NN_DEPTHWISE_LANES 16                  // channels at a time
#define CORTEX_M_NN_DEPTHWISE_TILE 32                   // outputs of a row at a time
#define CORTEX_M_NN_DEPTHWISE_CHANNELS_BYTES (16 * 76)  // weights and parameters of the channels

// Four outputs of each patch, or else one?
static inline bool cortex_m_nn_depthwise_four_of_a_patch(const cmsis_nn_dw_conv_params *params,
                                                         const cmsis_nn_dims *filter, const cmsis_nn_dims *output) {
  return params->stride.h == 1 && params->stride.w == 1 && filter->h <= 3 && filter->w <= 3 && output->h >= 2 &&
         output->w >= 2;
}

// Input columns, of a band's rows, that there is room for: those of a tile, or of several bands where these are
// shorter.
static inline int32_t cortex_m_nn_depthwise_columns(const cmsis_nn_dw_conv_params *params,
                                                    const cmsis_nn_dims *output) {
  const int32_t outputs = output->w < CORTEX_M_NN_DEPTHWISE_TILE ? output->w : CORTEX_M_NN_DEPTHWISE_TILE;
  const int32_t columns = (outputs - 1) * params->stride.w + 4;
  return columns < 36 ? 36 : columns;
}

#endif  // CORTEX_M_NN_DEPTHWISE_CONV_S8_MVE_H_
