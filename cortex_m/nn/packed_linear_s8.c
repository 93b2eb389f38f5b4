#include "packed_linear_s8.h"

void cortex_m_nn_packed_linear_s8(const cortex_m_nn_packed_linear_args *args, void *scratch) {
#if CORTEX_M_NN_DSP
  cortex_m_nn_packed_linear_dsp(args, scratch);
#else
  (void)scratch;
  cortex_m_nn_packed_linear_scalar(args);
#endif
}
