// What the elementwise functions share. The variants trust the checks of arm_elementwise_*_s8.
#ifndef CORTEX_M_NN_ELEMENTWISE_S8_H_
#define CORTEX_M_NN_ELEMENTWISE_S8_H_

#include <stdint.h>

#include "arm_nn_types.h"

typedef struct {
  const int8_t *values;
  int32_t offset;
  int32_t multiplier;
  int32_t shift;
} cortex_m_nn_add_input;

// requantize((a + offset) * 2^left_shift) + requantize((b + offset) * 2^left_shift), requantized.
typedef struct {
  cortex_m_nn_add_input a;
  cortex_m_nn_add_input b;
  int32_t left_shift;
  int32_t output_offset;
  int32_t multiplier;
  int32_t shift;
  cmsis_nn_activation activation;
  int8_t *output;
  int32_t count;
} cortex_m_nn_add_call;

// (a + a_offset) * (b + b_offset), requantized.
typedef struct {
  const int8_t *a;
  const int8_t *b;
  int32_t a_offset;
  int32_t b_offset;
  int32_t output_offset;
  int32_t multiplier;
  int32_t shift;
  cmsis_nn_activation activation;
  int8_t *output;
  int32_t count;
} cortex_m_nn_mul_call;

void cortex_m_nn_add_scalar(const cortex_m_nn_add_call *call);
void cortex_m_nn_add_mve(const cortex_m_nn_add_call *call);
void cortex_m_nn_mul_scalar(const cortex_m_nn_mul_call *call);
void cortex_m_nn_mul_mve(const cortex_m_nn_mul_call *call);

#endif  // CORTEX_M_NN_ELEMENTWISE_S8_H_
