#include "cortex_m/nn/exporter/kernels.h"

#include <stdbool.h>
#include <stddef.h>

#include "cortex_m/nn/depthwise_conv_s8.h"
#include "cortex_m/nn/dispatch.h"

// Defined in our own library alone.
#pragma weak cortex_m_nn_plan_convolve_s8
#pragma weak cortex_m_nn_plan_depthwise_conv_s8

static cmsis_nn_dims dims_of(const int32_t nhwc[4]) {
  const cmsis_nn_dims dims = {nhwc[0], nhwc[1], nhwc[2], nhwc[3]};
  return dims;
}

static cmsis_nn_tile tile_of(const int32_t hw[2]) {
  const cmsis_nn_tile tile = {hw[1], hw[0]};
  return tile;
}

static cortex_m_nn_isa isa_of(int set) {
  return set == CORTEX_M_NN_SET_THUMB2 ? CORTEX_M_NN_ISA_SCALAR : (cortex_m_nn_isa)set;
}

static bool is_set(int set) { return set >= CORTEX_M_NN_ISA_MVE && set <= CORTEX_M_NN_SET_THUMB2; }

const char *cortex_m_nn_convolve_s8_kernel(int set, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                           const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                           const int32_t stride_hw[2], const int32_t dilation_hw[2]) {
  const cmsis_nn_conv_params params = {0,          0, tile_of(stride_hw), tile_of(padding_hw), tile_of(dilation_hw),
                                       {-128, 127}};
  const cmsis_nn_dims input = dims_of(input_nhwc), filter = dims_of(filter_nhwc), output = dims_of(output_nhwc);
  if (!is_set(set) || cortex_m_nn_plan_convolve_s8 == NULL) {
    return NULL;
  }
  switch (cortex_m_nn_plan_convolve_s8(isa_of(set), &params, &input, &filter, &output).variant) {
    case CORTEX_M_NN_CONVOLVE_COLUMNS:
      return "columns";
    case CORTEX_M_NN_CONVOLVE_1X1_SCALAR:
      return "1x1";
    case CORTEX_M_NN_CONVOLVE_LINEAR:
      return "linear";
    case CORTEX_M_NN_VARIANT_NONE:
      return NULL;
    default:
      return "other";
  }
}

const char *cortex_m_nn_depthwise_conv_s8_kernel(int set, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                                 const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                                 const int32_t stride_hw[2], const int32_t dilation_hw[2],
                                                 int32_t ch_mult) {
  const cmsis_nn_dw_conv_params params = {
      0, 0, ch_mult, tile_of(stride_hw), tile_of(padding_hw), tile_of(dilation_hw), {-128, 127}};
  const cmsis_nn_dims input = dims_of(input_nhwc), filter = dims_of(filter_nhwc), output = dims_of(output_nhwc);
  if (!is_set(set) || cortex_m_nn_plan_depthwise_conv_s8 == NULL) {
    return NULL;
  }
  const bool thumb2 = set == CORTEX_M_NN_SET_THUMB2 || set == CORTEX_M_NN_ISA_DSP;
  switch (cortex_m_nn_plan_depthwise_conv_s8(isa_of(set), &params, &input, &filter, &output).variant) {
    case CORTEX_M_NN_DEPTHWISE_PATCHES_MVE:
      return "patches";
    case CORTEX_M_NN_DEPTHWISE_LANES_MVE:
      return "lanes";
    case CORTEX_M_NN_DEPTHWISE_SCALAR:
      return thumb2 && cortex_m_nn_depthwise_takes_fours(&params, &filter, &output) ? "fours" : "scalar";
    case CORTEX_M_NN_VARIANT_NONE:
      return NULL;
    default:
      return "other";
  }
}
