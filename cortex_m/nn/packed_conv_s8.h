// The packed convolution's variant for MVE, and its inner loop.
#ifndef CORTEX_M_NN_PACKED_CONV_S8_H_
#define CORTEX_M_NN_PACKED_CONV_S8_H_

#include <stdint.h>

#include "additional.h"

// All output channels of four pixels.
typedef struct {
  const int8_t *x[4];  // their windows, `vectors` of 16 values each
  int32_t vectors;
  int32_t reserved;                   // the function's own
  int8_t *out;                        // the first channel of the first pixel
  const int8_t *end;                  // behind `packed`
  uint16_t places[8];                 // where both channels of each pixel lie, from `out` on
  int16_t offset[8], min[8], max[8];  // of the output, the same in every lane
  const int8_t *packed;
} cortex_m_nn_packed_block;

void cortex_m_nn_packed_block_mve(const cortex_m_nn_packed_block *block);

// All output channels of four neighbours of a row, 3x3, stride 1.
typedef struct {
  const int8_t *x;  // their windows' pixels, 6 in each of three rows; aligned to 4 bytes
  int32_t row_step;
  int8_t *out;         // moves on to the end of the first pixel's channels
  const int8_t *end;   // behind `packed`
  uint16_t places[8];  // these four as in cortex_m_nn_packed_block
  int16_t offset[8], min[8], max[8];
  const int8_t *packed;
} cortex_m_nn_packed_quad;

// channels: of the input, 16, 32 or 64.
void cortex_m_nn_packed_quad_mve(cortex_m_nn_packed_quad *quad, int32_t channels);

// scratch: cortex_m_nn_packed_conv_scratch_bytes.
void cortex_m_nn_packed_conv_mve(const cortex_m_nn_packed_conv_args *args, void *scratch);

#endif  // CORTEX_M_NN_PACKED_CONV_S8_H_
