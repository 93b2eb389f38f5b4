#include "packed_conv_s8.h"

#include "additional.h"

void cortex_m_nn_packed_conv_s8(const cortex_m_nn_packed_conv_args *args, void *scratch) {
#if CORTEX_M_NN_MVE
  cortex_m_nn_packed_conv_mve(args, scratch);
#else
  (void)scratch;
  cortex_m_nn_packed_conv_scalar(args);
#endif
}
