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

// Where rescaling an input rounds nothing: its factor, plus or minus a power of two, from x + offset; 0 where it may round.
// So it is for the operand with the greater scale, both if the scales are equal: the exporter gives it half of the headroom.
static inline int32_t cortex_m_nn_add_exact_factor(const cortex_m_nn_add_input *input, int32_t left_shift) {
  const int32_t exponent = left_shift - 1 + input->shift;
  if ((input->multiplier != 1 << 30 && input->multiplier != -(1 << 30)) || input->shift > 0 || exponent < 0) {
    return 0;
  }
  return input->multiplier > 0 ? 1 << exponent : -(1 << exponent);
}

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
