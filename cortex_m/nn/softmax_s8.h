// The variants of softmax; they trust the checks of arm_softmax_s8.
#ifndef CORTEX_M_NN_SOFTMAX_S8_H_
#define CORTEX_M_NN_SOFTMAX_S8_H_

#include <stdint.h>

enum {
  kCortexMNnSoftmaxIntegerBits = 12,  // the sum of exponentials is Q12.19
  kCortexMNnSoftmaxMaxRow = 8191,     // 8191 * 2^19 is the largest sum below 2^32
};

typedef struct {
  const int8_t *input;
  int32_t rows;
  int32_t row_size;
  int32_t multiplier;
  int32_t shift;
  int32_t diff_min;
  int8_t *output;
} cortex_m_nn_softmax_call;

void cortex_m_nn_softmax_scalar(const cortex_m_nn_softmax_call *call);
void cortex_m_nn_softmax_mve(const cortex_m_nn_softmax_call *call);

#endif  // CORTEX_M_NN_SOFTMAX_S8_H_
