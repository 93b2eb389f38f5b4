// Which kernel indices of a transposed convolution reach one output coordinate, along one axis.
#ifndef CORTEX_M_NN_TRANSPOSE_CONV_TAPS_H_
#define CORTEX_M_NN_TRANSPOSE_CONV_TAPS_H_

#include <stdint.h>

#include "additional.h"

// `count` pairs of kernel index and input coordinate: kernel + j * kernel_step, input - j * input_step.
typedef struct {
  int32_t count;
  int32_t kernel;
  int32_t kernel_step;
  int32_t input;
  int32_t input_step;
} cortex_m_nn_taps;

static inline int32_t cortex_m_nn_common_divisor(int32_t a, int32_t b) {
  while (b != 0) {
    const int32_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// i * stride + k * dilation = output + padding has solutions every stride / gcd kernel indices, and each of them moves the input
// coordinate back by dilation / gcd.
static inline cortex_m_nn_taps cortex_m_nn_taps_at(const cortex_m_nn_window_axis *axis, int32_t output) {
  const cortex_m_nn_taps none = {0, 0, 0, 0, 0};
  const int32_t divisor = cortex_m_nn_common_divisor(axis->stride, axis->dilation);
  cortex_m_nn_taps taps = {0, 0, axis->stride / divisor, 0, axis->dilation / divisor};
  int32_t left = output + axis->padding;  // for the input coordinate, times stride
  for (; left >= 0 && left % axis->stride != 0; left -= axis->dilation) {
    if (++taps.kernel >= taps.kernel_step) {
      return none;
    }
  }
  if (left < 0 || taps.kernel >= axis->kernel) {
    return none;
  }
  taps.input = left / axis->stride;
  int32_t by_kernel = (axis->kernel - 1 - taps.kernel) / taps.kernel_step + 1;
  if (taps.input >= axis->input) {  // the first ones lie behind the input
    const int32_t skipped = (taps.input - axis->input) / taps.input_step + 1;
    if (skipped >= by_kernel || skipped > taps.input / taps.input_step) {
      return none;
    }
    by_kernel -= skipped;
    taps.input -= skipped * taps.input_step;
    taps.kernel += skipped * taps.kernel_step;
  }
  const int32_t by_input = taps.input / taps.input_step + 1;
  taps.count = by_kernel < by_input ? by_kernel : by_input;
  return taps;
}

#endif  // CORTEX_M_NN_TRANSPOSE_CONV_TAPS_H_
