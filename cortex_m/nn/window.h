// The part of a kernel window that lies inside the input, found once for each output pixel so that inner loops need no check.
#ifndef CORTEX_M_NN_WINDOW_H_
#define CORTEX_M_NN_WINDOW_H_

#include <stdint.h>

// Kernel indices begin <= k < end touch the input.
typedef struct {
  int32_t begin;
  int32_t end;
} cortex_m_nn_range;

// origin: input coordinate of kernel index 0 (negative inside the padding). input, kernel: sizes along this axis.
static inline cortex_m_nn_range cortex_m_nn_clip_window(int32_t origin, int32_t dilation, int32_t kernel, int32_t input) {
  cortex_m_nn_range range = {0, kernel};
  if (origin >= 0 && origin + (kernel - 1) * dilation < input) {  // the common case costs no division
    return range;
  }
  if (origin < 0) {
    range.begin = dilation == 1 ? -origin : (-origin + dilation - 1) / dilation;
  }
  const int32_t room = input - origin;  // > 0 iff kernel index 0 is not beyond the far edge
  if (room <= 0) {
    range.end = 0;
  } else if ((kernel - 1) * dilation >= room) {
    range.end = dilation == 1 ? room : (room + dilation - 1) / dilation;
  }
  if (range.begin > range.end) {
    range.begin = range.end;
  }
  return range;
}

#endif  // CORTEX_M_NN_WINDOW_H_
