// Argument checks that the kernels share. All are cheap beside the work of a kernel.
#ifndef CORTEX_M_NN_CHECKS_H_
#define CORTEX_M_NN_CHECKS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arm_nn_types.h"
#include "requantize.h"
#include "requantize_checks.h"

static inline bool cortex_m_nn_dims_are_positive(const cmsis_nn_dims *dims) {
  return dims->n > 0 && dims->h > 0 && dims->w > 0 && dims->c > 0;
}

// Indices are int32: a tensor must not have more elements than that.
static inline bool cortex_m_nn_dims_are_valid(const cmsis_nn_dims *dims) {
  if (!cortex_m_nn_dims_are_positive(dims)) {
    return false;
  }
  const int64_t plane = (int64_t)dims->h * dims->w;
  if (plane > INT32_MAX || plane * dims->c > INT32_MAX) {
    return false;
  }
  return plane * dims->c * dims->n <= INT32_MAX;
}

static inline bool cortex_m_nn_activation_is_valid(const cmsis_nn_activation *activation) {
  return -128 <= activation->min && activation->min <= activation->max && activation->max <= 127;
}

static inline bool cortex_m_nn_input_offset_is_valid(int32_t offset) { return offset >= -127 && offset <= 128; }
static inline bool cortex_m_nn_output_offset_is_valid(int32_t offset) { return offset >= -128 && offset <= 127; }

// 32,767 keeps window coordinates (stride * output index + dilation * kernel index) far inside int32.
static inline bool cortex_m_nn_window_is_valid(const cmsis_nn_tile *stride, const cmsis_nn_tile *padding,
                                               const cmsis_nn_tile *dilation, const cmsis_nn_dims *filter_dims,
                                               const cmsis_nn_dims *output_dims) {
  if (stride->w < 1 || stride->h < 1 || dilation->w < 1 || dilation->h < 1 || padding->w < 0 || padding->h < 0) {
    return false;
  }
  if (padding->w > 32767 || padding->h > 32767) {
    return false;
  }
  const int64_t reach_w = (int64_t)stride->w * output_dims->w + (int64_t)dilation->w * filter_dims->w;
  const int64_t reach_h = (int64_t)stride->h * output_dims->h + (int64_t)dilation->h * filter_dims->h;
  return reach_w <= INT32_MAX && reach_h <= INT32_MAX;
}

static inline bool cortex_m_nn_quant_params_are_valid(const cmsis_nn_per_channel_quant_params *quant_params,
                                                      int32_t channels) {
  return quant_params != NULL && quant_params->multiplier != NULL && quant_params->shift != NULL &&
         cortex_m_nn_shifts_are_valid(quant_params->shift, channels);
}

#endif  // CORTEX_M_NN_CHECKS_H_
