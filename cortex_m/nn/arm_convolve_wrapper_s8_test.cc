#include "convolve_test_util.h"

namespace cortex_m_nn_test {
namespace {

class ArmConvolveWrapperS8 : public ::testing::TestWithParam<ConvolveShape> {};

TEST_P(ArmConvolveWrapperS8, EqualsTheDefinitionWithExactlyTheScratchItAsksFor) {
  const ConvolveProblem p(GetParam(), 13);
  const std::vector<int8_t> expected = p.Expected();
  ExpectMostlyInsideRange(expected, p.min, p.max);
  const cmsis_nn_conv_params params = p.conv_params();
  const int32_t bytes = arm_convolve_wrapper_s8_get_buffer_size(&params, &p.input_dims, &p.filter_dims, &p.output_dims);
  ASSERT_GE(bytes, 0);
  Guarded scratch(bytes), output(p.output_size());
  const cmsis_nn_context ctx = {bytes == 0 ? nullptr : scratch.data(), bytes};
  ASSERT_EQ(arm_convolve_wrapper_s8(&ctx, &params, &p.quant, &p.input_dims, p.input.data(), &p.filter_dims,
                                    p.filter.data(), nullptr, p.bias_or_null(), &p.output_dims, output.data()),
            ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(output.values(), expected);
  EXPECT_TRUE(output.intact());
  EXPECT_TRUE(scratch.intact());
}

INSTANTIATE_TEST_SUITE_P(Shapes, ArmConvolveWrapperS8, ::testing::ValuesIn(ConvolveShapes()));
INSTANTIATE_TEST_SUITE_P(Pointwise, ArmConvolveWrapperS8, ::testing::ValuesIn(PointwiseShapes()));

// Four columns of kernel height x kernel width x channels of a group, of 32 bits each; or of 16 bits, padded to a multiple of
// four values, with one column of bytes where pixels are no multiple of four.
TEST(ArmConvolveWrapperS8Sizes, FourColumnsOfAGroup) {
  const ConvolveProblem p({1, 8, 8, 12, 8, 3, 5, 4, 1, 1, 1, 2, 1, 1}, 1);
  const cmsis_nn_conv_params params = p.conv_params();
  EXPECT_EQ(arm_convolve_wrapper_s8_get_buffer_size(&params, &p.input_dims, &p.filter_dims, &p.output_dims),
            4 * 45 * 4);
  EXPECT_EQ(arm_convolve_wrapper_s8_get_buffer_size_dsp(&params, &p.input_dims, &p.filter_dims, &p.output_dims),
            4 * 48 * 2 + 48 + 4);
}

// One block of four channels: 48 bytes of parameters, 32 of sums; two columns 496 bytes apart, of 45 values padded to 48;
// four rows of weights and one column.
TEST(ArmConvolveWrapperS8Sizes, ColumnsOfBytesOnMve) {
  const ConvolveProblem p({1, 8, 8, 12, 8, 3, 5, 4, 1, 1, 1, 2, 1, 1}, 1);
  const cmsis_nn_conv_params params = p.conv_params();
  EXPECT_EQ(arm_convolve_wrapper_s8_get_buffer_size_mve(&params, &p.input_dims, &p.filter_dims, &p.output_dims),
            48 + 32 + 496 + 5 * 48 + 16);
}

TEST(ArmConvolveWrapperS8Sizes, InvalidSizesAreRefused) {
  ConvolveProblem p({1, 4, 4, 4, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1);
  const cmsis_nn_conv_params params = p.conv_params();
  p.filter_dims.h = 0;
  EXPECT_EQ(arm_convolve_wrapper_s8_get_buffer_size(&params, &p.input_dims, &p.filter_dims, &p.output_dims), -1);
  Guarded output(p.output_size());
  EXPECT_EQ(arm_convolve_wrapper_s8(nullptr, &params, &p.quant, &p.input_dims, p.input.data(), &p.filter_dims,
                                    p.filter.data(), nullptr, nullptr, &p.output_dims, output.data()),
            ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_TRUE(output.untouched());
}

}  // namespace
}  // namespace cortex_m_nn_test
