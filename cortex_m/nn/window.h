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
static inline cortex_m_nn_range cortex_m_nn_clip_window(int32_t origin, int32_t dilation, int32_t kernel,
                                                        int32_t input) {
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

// Output coordinates begin <= o < end see windows that lie inside of the input along one axis.
static inline cortex_m_nn_range cortex_m_nn_inside_range(int32_t input, int32_t kernel, int32_t dilation,
                                                         int32_t stride, int32_t padding, int32_t output) {
  const int32_t begin = (padding + stride - 1) / stride;
  const int32_t room = input - (kernel - 1) * dilation + padding - 1;  // the last origin plus padding
  const int32_t end = room < 0 ? 0 : room / stride + 1;
  const cortex_m_nn_range range = {begin, end < output ? end : output};
  return range;
}

#endif  // CORTEX_M_NN_WINDOW_H_
