#include <stddef.h>
#include <stdint.h>

#include "arm_nnfunctions.h"
#include "convolve_s8.h"
#include "dispatch.h"
#include "small_s8.h"

arm_cmsis_nn_status arm_convolve_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                    const cmsis_nn_per_channel_quant_params *quant_params,
                                    const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                    const cmsis_nn_dims *upscale_dims, const cmsis_nn_dims *output_dims,
                                    int8_t *output_data) {
  (void)bias_dims;
  const cortex_m_nn_convolve_call call = {conv_params, quant_params, input_dims,  input_data, filter_dims,
                                          filter_data, bias_data,    output_dims, output_data};
  if (!cortex_m_nn_convolve_call_is_valid(&call)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  if (upscale_dims != NULL) {
    return ARM_CMSIS_NN_NO_IMPL_ERROR;
  }
#if CORTEX_M_NN_SMALL
  (void)ctx;
  cortex_m_nn_convolve_small_mve(&call);
#else
  const int32_t needed = cortex_m_nn_convolve_columns_bytes(CORTEX_M_NN_COMPILED_ISA, input_dims, filter_dims);
  if (ctx == NULL || ctx->buf == NULL || needed < 0 || ctx->size < needed) {
    // A program exported for another library or core may bring less scratch than this one asks for.
    cortex_m_nn_convolve_direct_scalar(&call);
    return ARM_CMSIS_NN_SUCCESS;
  }
  if ((uintptr_t)ctx->buf % sizeof(int32_t) != 0) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
#if CORTEX_M_NN_MVE
  cortex_m_nn_convolve_columns_mve(&call, ctx->buf);
#elif CORTEX_M_NN_DSP
  cortex_m_nn_convolve_columns_dsp(&call, ctx->buf);
#else
  cortex_m_nn_convolve_columns_scalar(&call, ctx->buf);
#endif
#endif
  return ARM_CMSIS_NN_SUCCESS;
}
