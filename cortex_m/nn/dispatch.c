#include "dispatch.h"

#include "checks.h"
#include "depthwise_conv_s8_mve.h"

static const cortex_m_nn_plan kNone = {CORTEX_M_NN_VARIANT_NONE, -1};

// cortex_m_nn_convolve_columns_mve: parameters (48 bytes) and sums (32) of each block of four output channels, three
// columns, and copies of the rows of weights that it may not read beyond their end.
static int64_t columns_bytes_mve(int64_t depth, int64_t channels) {
  const int64_t blocks = (channels + 3) / 4;
  const int64_t padded = (depth + 15) / 16 * 16;
  int64_t copied = 4;
  if (depth < 16) {
    copied += (16 / depth + 3) / 4 * 4;
  } else if (depth % 16 == 0 && channels % 4 == 0) {
    copied = 0;
  }
  const int64_t columns = padded <= 496 ? 496 : 2 * padded;
  return blocks * (48 + 32) + columns + (1 + copied) * padded + 16;
}

int32_t cortex_m_nn_convolve_columns_bytes(cortex_m_nn_isa isa, const cmsis_nn_dims *input_dims,
                                           const cmsis_nn_dims *filter_dims) {
  if (!cortex_m_nn_dims_are_valid(filter_dims) || input_dims->c < filter_dims->c) {
    return -1;
  }
  const int64_t depth = (int64_t)filter_dims->h * filter_dims->w * filter_dims->c;
  int64_t bytes = 4 * depth * (int64_t)sizeof(int32_t);  // four columns
  if (isa == CORTEX_M_NN_ISA_MVE) {
    bytes = columns_bytes_mve(depth, filter_dims->n / (input_dims->c / filter_dims->c));
  } else if (isa == CORTEX_M_NN_ISA_DSP) {
    const int64_t padded = (depth + 3) / 4 * 4;
    bytes = 4 * padded * (int64_t)sizeof(int16_t);
    if (filter_dims->c % 4 != 0) {
      bytes += padded + 4;  // a column of int8
    }
  }
  return bytes > INT32_MAX ? -1 : (int32_t)bytes;
}

// One output pixel whose window is the whole image, as in squeeze-and-excitation: there are no four columns to make at a time. A
// packed convolution begins to pay at three.
static bool is_linear(const cmsis_nn_conv_params *params, const cmsis_nn_dims *input, const cmsis_nn_dims *filter,
                      const cmsis_nn_dims *output) {
  return output->n <= 2 && output->h == 1 && output->w == 1 && filter->h == input->h && filter->w == input->w &&
         filter->c == input->c && params->padding.h == 0 && params->padding.w == 0 && params->dilation.h == 1 &&
         params->dilation.w == 1;
}

cortex_m_nn_plan cortex_m_nn_plan_convolve_s8(cortex_m_nn_isa isa, const cmsis_nn_conv_params *conv_params,
                                              const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                              const cmsis_nn_dims *output_dims) {
  if (!cortex_m_nn_dims_are_valid(input_dims) || !cortex_m_nn_dims_are_valid(filter_dims) ||
      !cortex_m_nn_dims_are_valid(output_dims)) {
    return kNone;
  }
  const int32_t bytes = cortex_m_nn_convolve_columns_bytes(isa, input_dims, filter_dims);
  if (bytes < 0) {
    return kNone;
  }
  if (is_linear(conv_params, input_dims, filter_dims, output_dims)) {
    const cortex_m_nn_plan linear = {CORTEX_M_NN_CONVOLVE_LINEAR, 0};
    return linear;
  }
  const cortex_m_nn_plan plan = {CORTEX_M_NN_CONVOLVE_COLUMNS, bytes};
  return plan;
}

// cortex_m_nn_depthwise_conv_patches_mve pays for its preparations only where each channel has enough outputs.
static bool patches_pay(const cmsis_nn_dw_conv_params *params, const cmsis_nn_dims *filter,
                        const cmsis_nn_dims *output) {
  if (filter->h > 4 || filter->w > 4 || params->dilation.h != 1 || params->dilation.w != 1) {
    return false;
  }
  if (cortex_m_nn_depthwise_four_of_a_patch(params, filter, output)) {
    return output->h * output->w >= 25;
  }
  return output->w >= 4 && output->h * output->w >= 25 && params->stride.w <= 4;
}

cortex_m_nn_plan cortex_m_nn_plan_depthwise_conv_s8(cortex_m_nn_isa isa, const cmsis_nn_dw_conv_params *dw_conv_params,
                                                    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                    const cmsis_nn_dims *output_dims) {
  if (!cortex_m_nn_dims_are_valid(input_dims) || !cortex_m_nn_dims_are_valid(filter_dims) ||
      !cortex_m_nn_dims_are_valid(output_dims)) {
    return kNone;
  }
  cortex_m_nn_plan plan = {CORTEX_M_NN_DEPTHWISE_SCALAR, 0};
  if (isa == CORTEX_M_NN_ISA_MVE && dw_conv_params->ch_mult == 1) {
    plan.variant = CORTEX_M_NN_DEPTHWISE_LANES_MVE;
    if (patches_pay(dw_conv_params, filter_dims, output_dims)) {
      plan.variant = CORTEX_M_NN_DEPTHWISE_PATCHES_MVE;
      plan.scratch_bytes = CORTEX_M_NN_DEPTHWISE_CHANNELS_BYTES + 16 +
                           cortex_m_nn_depthwise_columns(dw_conv_params, output_dims) * 4 * CORTEX_M_NN_DEPTHWISE_LANES;
    }
  }
  return plan;
}
