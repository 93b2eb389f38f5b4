#include "cortex_m/nn/exporter/buffer_sizes.h"

#include <gtest/gtest.h>

#include "arm_nnfunctions.h"
#include "cortex_m/nn/isa.h"

namespace {

TEST(BufferSizes, ConvolutionAnswersForEachInstructionSet) {
  const int32_t input[4] = {1, 8, 8, 16}, filter[4] = {8, 3, 3, 16}, output[4] = {1, 8, 8, 8};
  const int32_t padding[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
  const cmsis_nn_conv_params params = {0, 0, {1, 1}, {1, 1}, {1, 1}, {-128, 127}};
  const cmsis_nn_dims in = {1, 8, 8, 16}, f = {8, 3, 3, 16}, out = {1, 8, 8, 8};
  EXPECT_EQ(cortex_m_nn_convolve_s8_buffer_size(CORTEX_M_NN_ISA_MVE, input, filter, output, padding, stride, dilation),
            arm_convolve_wrapper_s8_get_buffer_size_mve(&params, &in, &f, &out));
  EXPECT_EQ(cortex_m_nn_convolve_s8_buffer_size(CORTEX_M_NN_ISA_DSP, input, filter, output, padding, stride, dilation),
            arm_convolve_wrapper_s8_get_buffer_size_dsp(&params, &in, &f, &out));
  EXPECT_EQ(
      cortex_m_nn_convolve_s8_buffer_size(CORTEX_M_NN_ISA_SCALAR, input, filter, output, padding, stride, dilation),
      arm_convolve_wrapper_s8_get_buffer_size(&params, &in, &f, &out));
  EXPECT_EQ(cortex_m_nn_convolve_s8_buffer_size(3, input, filter, output, padding, stride, dilation), -1);
}

// {h, w} of the exporter against {w, h} of the library: on MVE the stride along a row says how many columns of the input are
// kept, 64 bytes each, beside weights and parameters of 16 channels.
TEST(BufferSizes, HeightAndWidthAreNotSwapped) {
  const int32_t input[4] = {1, 9, 40, 16}, filter[4] = {1, 3, 3, 16}, output[4] = {1, 9, 20, 16};
  const int32_t one[2] = {1, 1}, stride[2] = {1, 2};
  EXPECT_EQ(cortex_m_nn_depthwise_conv_s8_buffer_size(CORTEX_M_NN_ISA_MVE, input, filter, output, one, stride, one, 1),
            16 * 76 + 16 + 64 * (19 * 2 + 4));
}

TEST(BufferSizes, TransposedConvolutionAnswersForEachInstructionSet) {
  const int32_t input[4] = {1, 4, 4, 32}, filter[4] = {8, 3, 3, 32}, output[4] = {1, 9, 9, 8};
  const int32_t none[2] = {0, 0}, one[2] = {1, 1}, stride[2] = {2, 2};
  const cmsis_nn_transpose_conv_params params = {0, 0, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {-128, 127}};
  const cmsis_nn_dims in = {1, 4, 4, 32}, f = {8, 3, 3, 32}, out = {1, 9, 9, 8};
  const int32_t mve = arm_transpose_conv_s8_get_buffer_size_mve(&params, &in, &f, &out);
  const int32_t plain = arm_transpose_conv_s8_get_buffer_size(&params, &in, &f, &out);
  const int32_t reverse = arm_transpose_conv_s8_get_reverse_conv_buffer_size(&params, &in, &f);
  for (int isa : {CORTEX_M_NN_ISA_MVE, CORTEX_M_NN_ISA_DSP, CORTEX_M_NN_ISA_SCALAR}) {
    EXPECT_EQ(cortex_m_nn_transpose_conv_s8_buffer_size(isa, input, filter, output, none, stride, one, none),
              isa == CORTEX_M_NN_ISA_MVE ? mve : plain);
    EXPECT_EQ(cortex_m_nn_transpose_conv_s8_output_buffer_size(isa, input, filter, output, none, stride, one, none),
              reverse);
    // What CMSIS-NN's interface does not cover runs without scratch.
    EXPECT_EQ(cortex_m_nn_transpose_conv_s8_buffer_size(isa, input, filter, output, none, stride, one, one), 0);
    EXPECT_EQ(cortex_m_nn_transpose_conv_s8_output_buffer_size(isa, input, filter, output, none, stride, stride, none),
              0);
  }
  EXPECT_EQ(cortex_m_nn_transpose_conv_s8_buffer_size(3, input, filter, output, none, stride, one, none), -1);
  const int32_t odd[4] = {8, 3, 3, 5};
  EXPECT_EQ(cortex_m_nn_transpose_conv_s8_output_buffer_size(0, input, odd, output, none, stride, one, none), -1);
}

TEST(BufferSizes, OtherKernels) {
  const int32_t input[4] = {1, 8, 8, 16}, filter[4] = {1, 3, 3, 32}, output[4] = {1, 8, 8, 32}, one[2] = {1, 1};
  for (int isa = 0; isa < 3; ++isa) {
    EXPECT_GE(cortex_m_nn_depthwise_conv_s8_buffer_size(isa, input, filter, output, one, one, one, 2), 0);
    EXPECT_GE(cortex_m_nn_avgpool_s8_buffer_size(isa, 4, 16), 0);
    EXPECT_GE(cortex_m_nn_fully_connected_s8_buffer_size(isa, 64, 10), 0);
  }
  EXPECT_EQ(cortex_m_nn_depthwise_conv_s8_buffer_size(-1, input, filter, output, one, one, one, 2), -1);
  EXPECT_EQ(cortex_m_nn_avgpool_s8_buffer_size(0, 0, 16), -1);
  EXPECT_EQ(cortex_m_nn_fully_connected_s8_buffer_size(3, 64, 10), -1);
}

}  // namespace
