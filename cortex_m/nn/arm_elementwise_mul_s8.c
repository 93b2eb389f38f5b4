#include <stddef.h>

#include "arm_nnfunctions.h"
#include "checks.h"
#include "elementwise_s8.h"
#include "isa.h"

arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *input_1_vect, const int8_t *input_2_vect,
                                           int32_t input_1_offset, int32_t input_2_offset, int8_t *output,
                                           int32_t out_offset, int32_t out_mult, int32_t out_shift,
                                           int32_t out_activation_min, int32_t out_activation_max, int32_t block_size) {
  const cmsis_nn_activation activation = {out_activation_min, out_activation_max};
  if (input_1_vect == NULL || input_2_vect == NULL || output == NULL || block_size < 0) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  if (!cortex_m_nn_input_offset_is_valid(input_1_offset) || !cortex_m_nn_input_offset_is_valid(input_2_offset) ||
      !cortex_m_nn_output_offset_is_valid(out_offset) || !cortex_m_nn_activation_is_valid(&activation) ||
      !cortex_m_nn_shift_is_valid(out_shift)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const cortex_m_nn_mul_call call = {input_1_vect, input_2_vect, input_1_offset, input_2_offset, out_offset,
                                     out_mult,     out_shift,    activation,     output,         block_size};
#if CORTEX_M_NN_MVE
  cortex_m_nn_mul_mve(&call);
#else
  cortex_m_nn_mul_scalar(&call);
#endif
  return ARM_CMSIS_NN_SUCCESS;
}
