#include "cortex_m/nn/exporter/packing.h"

#include "cortex_m/nn/additional.h"

int32_t cortex_m_nn_plan_packed_conv(int isa, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                     const int32_t output_nhwc[4], const int32_t padding_hw[2], const int32_t stride_hw[2],
                                     const int32_t dilation_hw[2], const int32_t *multiplier, const int32_t *shift,
                                     int32_t *packed_bytes, int32_t *scratch_bytes) {
  if (input_nhwc[3] != filter_nhwc[3]) {
    return CORTEX_M_NN_PACKING_NONE;  // groups
  }
  for (int32_t c = 0; c < filter_nhwc[0]; ++c) {
    if (!cortex_m_nn_packed_requantization_is_valid(multiplier[c], shift[c])) {
      return CORTEX_M_NN_PACKING_NONE;
    }
  }
  const cortex_m_nn_packed_conv_args args = {
      .batch = input_nhwc[0],
      .input_channels = input_nhwc[3],
      .output_channels = filter_nhwc[0],
      .rows = {input_nhwc[1], output_nhwc[1], filter_nhwc[1], stride_hw[0], padding_hw[0], dilation_hw[0]},
      .columns = {input_nhwc[2], output_nhwc[2], filter_nhwc[2], stride_hw[1], padding_hw[1], dilation_hw[1]},
  };
  *packed_bytes = cortex_m_nn_packed_conv_bytes(&args);
  *scratch_bytes = cortex_m_nn_packed_conv_scratch_bytes(&args);
  return cortex_m_nn_packed_conv_packing((cortex_m_nn_isa)isa, &args);
}

void cortex_m_nn_write_packed_conv(const int32_t filter_nhwc[4], int32_t input_offset, const int8_t *filter,
                                   const int32_t *bias, const int32_t *multiplier, const int32_t *shift, int8_t *packed) {
  const cortex_m_nn_packed_conv_args args = {
      .input_channels = filter_nhwc[3],
      .output_channels = filter_nhwc[0],
      .rows = {.kernel = filter_nhwc[1]},
      .columns = {.kernel = filter_nhwc[2]},
      .input_offset = input_offset,
  };
  cortex_m_nn_pack_conv(&args, filter, bias, multiplier, shift, packed);
}
