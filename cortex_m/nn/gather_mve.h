// Copies of kernel windows, one after the other value of it in the filter's order (kernel row, kernel column, channel): what
// the convolutions for MVE multiply where a window is not one piece of the input.
#ifndef CORTEX_M_NN_GATHER_MVE_H_
#define CORTEX_M_NN_GATHER_MVE_H_

#include <stdint.h>

#include "isa.h"

#if CORTEX_M_NN_MVE

typedef struct {
  int32_t height, width;  // of the input
  int32_t pixel;          // from one pixel of the input to the next: its channels
  int32_t channels;       // of these the window's
  int32_t kernel_h, kernel_w;
  int32_t dilation_h, dilation_w;
  int8_t zero;              // what lies outside of the input
  const int8_t *input_end;  // behind the last value that may be read
} cortex_m_nn_windows;

// The window whose kernel index (0, 0) is at input coordinates y, x of the image, to `to`. 16 bytes behind its last value are
// written too.
void cortex_m_nn_gather_window_mve(const cortex_m_nn_windows *windows, const int8_t *image, int32_t y, int32_t x,
                                   int8_t *to);

// The same for a window inside of the input, in `rows` rows of `run` values without gaps, of which 16 may be read at a time.
void cortex_m_nn_gather_inside_mve(const int8_t *from, int32_t row_step, int32_t rows, int32_t run, int8_t *to);

#endif  // MVE

#endif  // CORTEX_M_NN_GATHER_MVE_H_
