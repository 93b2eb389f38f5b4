#include "cortex_m/nn/exporter/buffer_sizes.h"

#include "arm_nnfunctions.h"  // of the library that is linked in: this file stands apart from our own headers
#include "cortex_m/nn/additional.h"
#include "cortex_m/nn/isa.h"

static cmsis_nn_dims dims_of(const int32_t nhwc[4]) {
  const cmsis_nn_dims dims = {nhwc[0], nhwc[1], nhwc[2], nhwc[3]};
  return dims;
}

static cmsis_nn_tile tile_of(const int32_t hw[2]) {
  const cmsis_nn_tile tile = {hw[1], hw[0]};
  return tile;
}

int32_t cortex_m_nn_convolve_s8_buffer_size(int isa, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                            const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                            const int32_t stride_hw[2], const int32_t dilation_hw[2]) {
  const cmsis_nn_conv_params params = {0,          0, tile_of(stride_hw), tile_of(padding_hw), tile_of(dilation_hw),
                                       {-128, 127}};
  const cmsis_nn_dims input = dims_of(input_nhwc);
  const cmsis_nn_dims filter = dims_of(filter_nhwc);
  const cmsis_nn_dims output = dims_of(output_nhwc);
  switch (isa) {
    case CORTEX_M_NN_ISA_MVE:
      return arm_convolve_wrapper_s8_get_buffer_size_mve(&params, &input, &filter, &output);
    case CORTEX_M_NN_ISA_DSP:
      return arm_convolve_wrapper_s8_get_buffer_size_dsp(&params, &input, &filter, &output);
    case CORTEX_M_NN_ISA_SCALAR:  // what the host itself is
      return arm_convolve_wrapper_s8_get_buffer_size(&params, &input, &filter, &output);
    default:
      return -1;
  }
}

int32_t cortex_m_nn_depthwise_conv_s8_buffer_size(int isa, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                                  const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                                  const int32_t stride_hw[2], const int32_t dilation_hw[2],
                                                  int32_t ch_mult) {
  const cmsis_nn_dw_conv_params params = {
      0, 0, ch_mult, tile_of(stride_hw), tile_of(padding_hw), tile_of(dilation_hw), {-128, 127}};
  const cmsis_nn_dims input = dims_of(input_nhwc);
  const cmsis_nn_dims filter = dims_of(filter_nhwc);
  const cmsis_nn_dims output = dims_of(output_nhwc);
  switch (isa) {
    case CORTEX_M_NN_ISA_MVE:
      return arm_depthwise_conv_wrapper_s8_get_buffer_size_mve(&params, &input, &filter, &output);
    case CORTEX_M_NN_ISA_DSP:
      return arm_depthwise_conv_wrapper_s8_get_buffer_size_dsp(&params, &input, &filter, &output);
    case CORTEX_M_NN_ISA_SCALAR:
      return arm_depthwise_conv_wrapper_s8_get_buffer_size(&params, &input, &filter, &output);
    default:
      return -1;
  }
}

static bool is_isa(int isa) {
  return isa == CORTEX_M_NN_ISA_MVE || isa == CORTEX_M_NN_ISA_DSP || isa == CORTEX_M_NN_ISA_SCALAR;
}

int32_t cortex_m_nn_transpose_conv_s8_buffer_size(int isa, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                                  const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                                  const int32_t stride_hw[2], const int32_t dilation_hw[2],
                                                  const int32_t output_padding_hw[2]) {
  const cmsis_nn_transpose_conv_params params = {
      0, 0, tile_of(stride_hw), tile_of(padding_hw), tile_of(output_padding_hw), tile_of(dilation_hw), {-128, 127}};
  const cmsis_nn_dims input = dims_of(input_nhwc);
  const cmsis_nn_dims filter = dims_of(filter_nhwc);
  const cmsis_nn_dims output = dims_of(output_nhwc);
  if (!is_isa(isa) || filter.c < 1 || input.c % filter.c != 0) {
    return -1;
  }
  if (cortex_m_nn_transpose_conv_is_general(input.c / filter.c, params.dilation.h, params.dilation.w,
                                            params.padding_offsets.h, params.padding_offsets.w)) {
    return 0;
  }
  return isa == CORTEX_M_NN_ISA_MVE ? arm_transpose_conv_s8_get_buffer_size_mve(&params, &input, &filter, &output)
                                    : arm_transpose_conv_s8_get_buffer_size(&params, &input, &filter, &output);
}

int32_t cortex_m_nn_transpose_conv_s8_output_buffer_size(int isa, const int32_t input_nhwc[4],
                                                         const int32_t filter_nhwc[4], const int32_t output_nhwc[4],
                                                         const int32_t padding_hw[2], const int32_t stride_hw[2],
                                                         const int32_t dilation_hw[2],
                                                         const int32_t output_padding_hw[2]) {
  (void)output_nhwc;
  const cmsis_nn_transpose_conv_params params = {
      0, 0, tile_of(stride_hw), tile_of(padding_hw), tile_of(output_padding_hw), tile_of(dilation_hw), {-128, 127}};
  const cmsis_nn_dims input = dims_of(input_nhwc);
  const cmsis_nn_dims filter = dims_of(filter_nhwc);
  if (!is_isa(isa) || filter.c < 1 || input.c % filter.c != 0) {
    return -1;
  }
  if (cortex_m_nn_transpose_conv_is_general(input.c / filter.c, params.dilation.h, params.dilation.w,
                                            params.padding_offsets.h, params.padding_offsets.w)) {
    return 0;
  }
  return arm_transpose_conv_s8_get_reverse_conv_buffer_size(&params, &input, &filter);
}

int32_t cortex_m_nn_avgpool_s8_buffer_size(int isa, int32_t output_width, int32_t channels) {
  if (output_width < 1 || channels < 1) {
    return -1;
  }
  switch (isa) {
    case CORTEX_M_NN_ISA_MVE:
      return arm_avgpool_s8_get_buffer_size_mve(output_width, channels);
    case CORTEX_M_NN_ISA_DSP:
      return arm_avgpool_s8_get_buffer_size_dsp(output_width, channels);
    case CORTEX_M_NN_ISA_SCALAR:
      return arm_avgpool_s8_get_buffer_size(output_width, channels);
    default:
      return -1;
  }
}

int32_t cortex_m_nn_fully_connected_s8_buffer_size(int isa, int32_t depth, int32_t channels) {
  if (depth < 1 || channels < 1) {
    return -1;
  }
  const cmsis_nn_dims filter = {depth, 1, 1, channels};
  switch (isa) {
    case CORTEX_M_NN_ISA_MVE:
      return arm_fully_connected_s8_get_buffer_size_mve(&filter);
    case CORTEX_M_NN_ISA_DSP:
      return arm_fully_connected_s8_get_buffer_size_dsp(&filter);
    case CORTEX_M_NN_ISA_SCALAR:
      return arm_fully_connected_s8_get_buffer_size(&filter);
    default:
      return -1;
  }
}
