// Which variant of a kernel runs for given sizes, and how much scratch it needs: decided here, once, for every
// instruction set. The kernels ask for the one they are compiled for; the exporter asks, on the host, for the core it
// exports to.
#ifndef CORTEX_M_NN_DISPATCH_H_
#define CORTEX_M_NN_DISPATCH_H_

#include <stdint.h>

#include "arm_nn_types.h"
#include "isa.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CORTEX_M_NN_VARIANT_NONE = 0,         // no variant takes these sizes
  CORTEX_M_NN_CONVOLVE_1X1_SCALAR = 1,  // reads the input in place
  CORTEX_M_NN_CONVOLVE_COLUMNS = 2,     // im2col, several columns at a time; 1x1 too
  CORTEX_M_NN_DEPTHWISE_SCALAR = 3,
  CORTEX_M_NN_CONVOLVE_LINEAR = 4,        // one window, which is the image: a linear layer
  CORTEX_M_NN_DEPTHWISE_PATCHES_MVE = 5,  // small kernels, images that are not tiny
  CORTEX_M_NN_DEPTHWISE_LANES_MVE = 6,    // channels in the lanes
} cortex_m_nn_variant;

typedef struct {
  cortex_m_nn_variant variant;
  int32_t scratch_bytes;  // -1 with CORTEX_M_NN_VARIANT_NONE
} cortex_m_nn_plan;

cortex_m_nn_plan cortex_m_nn_plan_convolve_s8(cortex_m_nn_isa isa, const cmsis_nn_conv_params *conv_params,
                                              const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                              const cmsis_nn_dims *output_dims);

// For arm_convolve_s8 called directly, where 1x1 is no special case.
int32_t cortex_m_nn_convolve_columns_bytes(cortex_m_nn_isa isa, const cmsis_nn_dims *input_dims,
                                           const cmsis_nn_dims *filter_dims);

cortex_m_nn_plan cortex_m_nn_plan_depthwise_conv_s8(cortex_m_nn_isa isa, const cmsis_nn_dw_conv_params *dw_conv_params,
                                                    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                    const cmsis_nn_dims *output_dims);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_NN_DISPATCH_H_
