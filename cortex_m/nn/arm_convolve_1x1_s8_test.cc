#include "convolve_test_util.h"

namespace cortex_m_nn_test {
namespace {

template <typename Function>
arm_cmsis_nn_status Convolve(Function function, const ConvolveProblem& p, int8_t* output) {
  const cmsis_nn_conv_params params = p.conv_params();
  return function(nullptr, &params, &p.quant, &p.input_dims, p.input.data(), &p.filter_dims, p.filter.data(), nullptr,
                  p.bias_or_null(), &p.output_dims, output);
}

class ArmConvolve1x1S8 : public ::testing::TestWithParam<ConvolveShape> {};

TEST_P(ArmConvolve1x1S8, EqualsTheDefinition) {
  const ConvolveProblem problem(GetParam(), 11);
  const std::vector<int8_t> expected = problem.Expected();
  ExpectMostlyInsideRange(expected, problem.min, problem.max);
  Guarded output(problem.output_size());
  ASSERT_EQ(Convolve(arm_convolve_1x1_s8, problem, output.data()), ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(output.values(), expected);
  EXPECT_TRUE(output.intact());

  const ConvolveShape& s = GetParam();
  const bool fast = s.stride_h == 1 && s.stride_w == 1 && s.extra_h == 0 && s.extra_w == 0;
  Guarded fast_output(problem.output_size());
  ASSERT_EQ(Convolve(arm_convolve_1x1_s8_fast, problem, fast_output.data()),
            fast ? ARM_CMSIS_NN_SUCCESS : ARM_CMSIS_NN_ARG_ERROR);
  if (fast) {
    EXPECT_EQ(fast_output.values(), expected);
    EXPECT_TRUE(fast_output.intact());
  } else {
    EXPECT_TRUE(fast_output.untouched());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ArmConvolve1x1S8, ::testing::ValuesIn(PointwiseShapes()));

TEST(ArmConvolve1x1S8Refusals, WhatIsNotPointwise) {
  const ConvolveShape kernel2 = {1, 4, 4, 4, 4, 2, 1, 1, 1, 1, 0, 0, 1, 1};
  const ConvolveShape padded = {1, 4, 4, 4, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const ConvolveShape grouped = {1, 4, 4, 4, 4, 1, 1, 2, 1, 1, 0, 0, 1, 1};
  const ConvolveShape beyond = {1, 4, 4, 4, 4, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0};
  for (const ConvolveShape& shape : {kernel2, padded, grouped, beyond}) {
    const ConvolveProblem problem(shape, 1);
    Guarded output(problem.output_size());
    EXPECT_EQ(Convolve(arm_convolve_1x1_s8, problem, output.data()), ARM_CMSIS_NN_ARG_ERROR) << shape;
    EXPECT_TRUE(output.untouched());
  }
}

}  // namespace
}  // namespace cortex_m_nn_test
