#include "arm_nnfunctions.h"
#include "isa.h"
#include "pool_s8.h"

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
                                   const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                   const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims,
                                   int8_t *output_data) {
  (void)ctx;
  const cortex_m_nn_pool_call call = {pool_params, input_dims, input_data, filter_dims, output_dims, output_data};
  if (!cortex_m_nn_pool_call_is_valid(&call)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
#if CORTEX_M_NN_MVE && !CORTEX_M_NN_SMALL
  cortex_m_nn_avgpool_mve(&call);
#elif CORTEX_M_NN_DSP
  cortex_m_nn_avgpool_dsp(&call);
#else
  cortex_m_nn_avgpool_scalar(&call);
#endif
  return ARM_CMSIS_NN_SUCCESS;
}
