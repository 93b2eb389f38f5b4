// The packed depthwise convolution's variant for MVE, and its inner loop.
#ifndef CORTEX_M_NN_PACKED_DEPTHWISE_CONV_S8_H_
#define CORTEX_M_NN_PACKED_DEPTHWISE_CONV_S8_H_

#include <stdint.h>

#include "additional.h"

enum { CORTEX_M_NN_PACKED_TAPS = 9, CORTEX_M_NN_PACKED_LANES = 16 };

// Where parameter i of 16 channels stands: the lanes that even and odd ones of bytes, and of these again, are taken apart to.
static inline int32_t cortex_m_nn_packed_lane(int32_t i) {
  static const int8_t kFirst[4] = {0, 2, 1, 3};
  return kFirst[i / 4] + i % 4 * 4;
}

// All channels of one output pixel.
typedef struct {
  const int8_t *taps[CORTEX_M_NN_PACKED_TAPS];
  const int8_t *packed;
  int8_t *out;
  int32_t offset;
  const int8_t *limits;  // of the output: 16 times the smallest, 16 times the largest
  int32_t blocks;        // of 16 channels
} cortex_m_nn_packed_depthwise_pixel;

void cortex_m_nn_packed_depthwise_pixel_mve(const cortex_m_nn_packed_depthwise_pixel *pixel);

// scratch: cortex_m_nn_packed_depthwise_conv_scratch_bytes.
void cortex_m_nn_packed_depthwise_conv_mve(const cortex_m_nn_packed_conv_args *args, void *scratch);

#endif  // CORTEX_M_NN_PACKED_DEPTHWISE_CONV_S8_H_
