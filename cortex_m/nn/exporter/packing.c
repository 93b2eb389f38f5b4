#include "cortex_m/nn/exporter/packing.h"

#include "cortex_m/nn/additional.h"

static cortex_m_nn_packed_conv_args args_of(const int32_t input_nhwc[4], const int32_t kernel_hw[2],
                                            const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                            const int32_t stride_hw[2], const int32_t dilation_hw[2]) {
  const cortex_m_nn_packed_conv_args args = {
      .batch = input_nhwc[0],
      .input_channels = input_nhwc[3],
      .output_channels = output_nhwc[3],
      .rows = {input_nhwc[1], output_nhwc[1], kernel_hw[0], stride_hw[0], padding_hw[0], dilation_hw[0]},
      .columns = {input_nhwc[2], output_nhwc[2], kernel_hw[1], stride_hw[1], padding_hw[1], dilation_hw[1]},
  };
  return args;
}

int32_t cortex_m_nn_plan_packed_conv(int isa, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                     const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                     const int32_t stride_hw[2], const int32_t dilation_hw[2], int32_t *packed_bytes,
                                     int32_t *scratch_bytes) {
  if (input_nhwc[3] != filter_nhwc[3]) {
    return CORTEX_M_NN_PACKING_NONE;  // groups
  }
  const cortex_m_nn_packed_conv_args args =
      args_of(input_nhwc, filter_nhwc + 1, output_nhwc, padding_hw, stride_hw, dilation_hw);
  *packed_bytes = cortex_m_nn_packed_conv_bytes(&args);
  *scratch_bytes = cortex_m_nn_packed_conv_scratch_bytes(&args);
  return cortex_m_nn_packed_conv_packing((cortex_m_nn_isa)isa, &args);
}

int32_t cortex_m_nn_plan_packed_depthwise_conv(int isa, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                               const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                               const int32_t stride_hw[2], const int32_t dilation_hw[2],
                                               int32_t *packed_bytes, int32_t *scratch_bytes) {
  const cortex_m_nn_packed_conv_args args =
      args_of(input_nhwc, filter_nhwc + 1, output_nhwc, padding_hw, stride_hw, dilation_hw);
  *packed_bytes = cortex_m_nn_packed_depthwise_conv_bytes(&args);
  *scratch_bytes = cortex_m_nn_packed_depthwise_conv_scratch_bytes(&args);
  return cortex_m_nn_packed_depthwise_conv_packing((cortex_m_nn_isa)isa, &args);
}

bool cortex_m_nn_write_packed_conv(const int32_t filter_nhwc[4], int32_t input_offset, const int8_t *filter,
                                   const int32_t *bias, const int32_t *multiplier, const int32_t *shift,
                                   int8_t *packed) {
  const cortex_m_nn_packed_conv_args args = {
      .packed = packed,
      .input_channels = filter_nhwc[3],
      .output_channels = filter_nhwc[0],
      .rows = {.kernel = filter_nhwc[1]},
      .columns = {.kernel = filter_nhwc[2]},
      .input_offset = input_offset,
  };
  cortex_m_nn_pack_conv(&args, filter, bias, multiplier, shift, packed);
  return cortex_m_nn_packed_conv_is_valid(&args);
}

bool cortex_m_nn_write_packed_depthwise_conv(const int32_t filter_nhwc[4], int32_t input_offset, const int8_t *filter,
                                             const int32_t *bias, const int32_t *multiplier, const int32_t *shift,
                                             int8_t *packed) {
  const cortex_m_nn_packed_conv_args args = {
      .packed = packed, .output_channels = filter_nhwc[3], .input_offset = input_offset};
  cortex_m_nn_pack_depthwise_conv(&args, filter, bias, multiplier, shift, packed);
  return cortex_m_nn_packed_depthwise_conv_is_valid(&args);
}

int32_t cortex_m_nn_plan_packed_linear(int isa, int32_t depth, int32_t channels, int32_t *packed_bytes,
                                       int32_t *scratch_bytes) {
  const cortex_m_nn_packed_linear_args args = {.depth = depth, .channels = channels};
  *packed_bytes = cortex_m_nn_packed_linear_bytes(&args);
  *scratch_bytes = cortex_m_nn_packed_linear_scratch_bytes(&args);
  return cortex_m_nn_packed_linear_packing((cortex_m_nn_isa)isa, &args);
}

bool cortex_m_nn_write_packed_linear(int32_t depth, int32_t channels, const int8_t *weights, const int32_t *bias,
                                     const int32_t *multiplier, const int32_t *shift, int8_t *packed) {
  const cortex_m_nn_packed_linear_args args = {.packed = packed, .depth = depth, .channels = channels};
  return cortex_m_nn_pack_linear(&args, weights, bias, multiplier, shift, packed) &&
         cortex_m_nn_packed_linear_is_valid(&args);
}
