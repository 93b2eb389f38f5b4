#include "transpose_conv_test_util.h"

namespace cortex_m_nn_test {
namespace {

arm_cmsis_nn_status Convolve(const TransposeConvProblem& p, const cmsis_nn_transpose_conv_params& params,
                             int8_t* output) {
  return arm_transpose_conv_wrapper_s8(nullptr, nullptr, &params, &p.quant, &p.input_dims, p.input.data(),
                                       &p.filter_dims, p.filter.data(), nullptr, p.bias_or_null(), &p.output_dims,
                                       output);
}

class ArmTransposeConvS8 : public ::testing::TestWithParam<TransposeConvShape> {};

TEST_P(ArmTransposeConvS8, EqualsTheDefinition) {
  const TransposeConvProblem problem(GetParam(), 23);
  const std::vector<int8_t> expected = problem.Expected();
  ExpectMostlyInsideRange(expected, problem.min, problem.max);
  Guarded output(problem.output_size());
  ASSERT_EQ(Convolve(problem, problem.params(), output.data()), ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(output.values(), expected);
  EXPECT_TRUE(output.intact());
}

INSTANTIATE_TEST_SUITE_P(Shapes, ArmTransposeConvS8, ::testing::ValuesIn(TransposeConvShapes()));

TEST(ArmTransposeConvS8Refusals, NothingIsWritten) {
  const TransposeConvProblem good({1, 3, 4, 4, 4, 3, 3, 1, 2, 2, 1, 1, 1, 1}, 5);
  const cmsis_nn_transpose_conv_params params = good.params();
  Guarded output(good.output_size());
  const auto refused = [&](auto&& change) {
    TransposeConvProblem problem = good;
    problem.quant = {problem.multiplier.data(), problem.shift.data()};
    cmsis_nn_transpose_conv_params changed = params;
    change(problem, changed);
    EXPECT_EQ(Convolve(problem, changed, output.data()), ARM_CMSIS_NN_ARG_ERROR);
  };
  refused([](auto&, auto& c) { c.stride.h = 0; });
  refused([](auto&, auto& c) { c.dilation.w = 0; });
  refused([](auto&, auto& c) { c.padding.h = -1; });
  refused([](auto&, auto& c) { c.input_offset = 129; });
  refused([](auto&, auto& c) { c.output_offset = -129; });
  refused([](auto&, auto& c) { c.activation = {1, 0}; });
  refused([](auto& p, auto&) { p.filter_dims.c = 3; });
  refused([](auto& p, auto&) { p.filter_dims.n = 3; });
  refused(
      [](auto& p, auto&) { p.filter_dims.c = 1, p.output_dims.c = p.filter_dims.n = 6; });  // 4 groups of 6 channels
  refused([](auto& p, auto&) { p.output_dims.n = 2; });
  refused([](auto& p, auto&) { p.input_dims.h = 0; });
  refused([](auto& p, auto&) { p.shift[3] = 31; });
  EXPECT_EQ(arm_transpose_conv_wrapper_s8(nullptr, nullptr, nullptr, &good.quant, &good.input_dims, good.input.data(),
                                          &good.filter_dims, good.filter.data(), nullptr, nullptr, &good.output_dims,
                                          output.data()),
            ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_TRUE(output.untouched());
}

TEST(ArmTransposeConvS8, NeedsNoScratch) {
  const TransposeConvProblem p({1, 3, 4, 32, 4, 3, 3, 1, 2, 2, 1, 1, 1, 1}, 5);
  const cmsis_nn_transpose_conv_params params = p.params();
  EXPECT_EQ(arm_transpose_conv_s8_get_buffer_size(&params, &p.input_dims, &p.filter_dims, &p.output_dims), 0);
  EXPECT_EQ(arm_transpose_conv_s8_get_buffer_size_mve(&params, &p.input_dims, &p.filter_dims, &p.output_dims), 0);
  EXPECT_EQ(arm_transpose_conv_s8_get_reverse_conv_buffer_size(&params, &p.input_dims, &p.filter_dims), 0);
}

}  // namespace
}  // namespace cortex_m_nn_test
