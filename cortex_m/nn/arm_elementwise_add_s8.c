#include <stddef.h>

#include "arm_nnfunctions.h"
#include "checks.h"
#include "elementwise_s8.h"
#include "isa.h"

// Up to this left shift, |x + offset| <= 255 stays below 2^30.
#define MAX_LEFT_SHIFT 22

arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *input_1_vect, const int8_t *input_2_vect,
                                           int32_t input_1_offset, int32_t input_1_mult, int32_t input_1_shift,
                                           int32_t input_2_offset, int32_t input_2_mult, int32_t input_2_shift,
                                           int32_t left_shift, int8_t *output, int32_t out_offset, int32_t out_mult,
                                           int32_t out_shift, int32_t out_activation_min, int32_t out_activation_max,
                                           int32_t block_size) {
  const cmsis_nn_activation activation = {out_activation_min, out_activation_max};
  if (input_1_vect == NULL || input_2_vect == NULL || output == NULL || block_size < 0) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  if (!cortex_m_nn_input_offset_is_valid(input_1_offset) || !cortex_m_nn_input_offset_is_valid(input_2_offset) ||
      !cortex_m_nn_output_offset_is_valid(out_offset) || !cortex_m_nn_activation_is_valid(&activation)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  if (left_shift < 0 || left_shift > MAX_LEFT_SHIFT || !cortex_m_nn_shift_is_valid(input_1_shift) ||
      !cortex_m_nn_shift_is_valid(input_2_shift) || !cortex_m_nn_shift_is_valid(out_shift)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const cortex_m_nn_add_call call = {{input_1_vect, input_1_offset, input_1_mult, input_1_shift},
                                     {input_2_vect, input_2_offset, input_2_mult, input_2_shift},
                                     left_shift,
                                     out_offset,
                                     out_mult,
                                     out_shift,
                                     activation,
                                     output,
                                     block_size};
#if CORTEX_M_NN_MVE
  cortex_m_nn_add_mve(&call);
#else
  cortex_m_nn_add_scalar(&call);
#endif
  return ARM_CMSIS_NN_SUCCESS;
}
