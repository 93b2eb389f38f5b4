#include <stddef.h>

#include "arm_nnfunctions.h"
#include "isa.h"
#include "requantize.h"
#include "softmax_s8.h"

void arm_softmax_s8(const int8_t *input, int32_t num_rows, int32_t row_size, int32_t mult, int32_t shift,
                    int32_t diff_min, int8_t *output) {
  if (input == NULL || output == NULL || row_size < 1 || row_size > kCortexMNnSoftmaxMaxRow || shift < 0 ||
      shift > CORTEX_M_NN_MAX_SHIFT || mult < 0 || diff_min > 0) {
    return;
  }
  const cortex_m_nn_softmax_call call = {input, num_rows, row_size, mult, shift, diff_min, output};
#if CORTEX_M_NN_MVE
  cortex_m_nn_softmax_mve(&call);
#else
  cortex_m_nn_softmax_scalar(&call);
#endif
}
