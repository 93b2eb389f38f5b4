// The inner loops of convolution on MVE.
#ifndef CORTEX_M_NN_DOT_2X4_MVE_H_
#define CORTEX_M_NN_DOT_2X4_MVE_H_

#include <stdint.h>

// filter       first row of `blocks` times four rows of weights row_bytes    from one row to the next columns      two
// columns, each padded to 16 * vectors bytes. Up to CORTEX_M_NN_DOT_2X4_NEAR vectors: the second one begins
//              16 * CORTEX_M_NN_DOT_2X4_NEAR bytes after the first. More: 16 values of the one and 16 of the other by turns
// vectors      length of a row and of a column in units of 16 bytes; all are read
// blocks       at least 1
// sums         for each block four sums of the first column, then four of the second: 8 * blocks
// An immediate offset reaches so many vectors far.
#define CORTEX_M_NN_DOT_2X4_NEAR 31

typedef struct {
  const int8_t *filter;
  int32_t row_bytes;
  const int8_t *columns;
  int32_t vectors;
  int32_t *sums;
  int32_t blocks;
} cortex_m_nn_dot_2x4_args;

void cortex_m_nn_dot_2x4_mve(const cortex_m_nn_dot_2x4_args *args);

#endif  // CORTEX_M_NN_DOT_2X4_MVE_H_
