// One plain kernel an operator, for builds that are compiled for size (CORTEX_M_NN_SMALL, isa.h): any sizes, no scratch.
#ifndef CORTEX_M_NN_SMALL_S8_H_
#define CORTEX_M_NN_SMALL_S8_H_

#include "convolve_s8.h"
#include "depthwise_conv_s8.h"
#include "fully_connected_s8.h"

void cortex_m_nn_convolve_small_mve(const cortex_m_nn_convolve_call *call);
void cortex_m_nn_depthwise_conv_small_mve(const cortex_m_nn_depthwise_call *call);
void cortex_m_nn_fully_connected_small_mve(const cortex_m_nn_fully_connected_call *call);

#endif  // CORTEX_M_NN_SMALL_S8_H_
