#include "convolve_test_util.h"

namespace cortex_m_nn_test {
namespace {

arm_cmsis_nn_status Convolve(const ConvolveProblem& p, const cmsis_nn_context* ctx, int8_t* output) {
  const cmsis_nn_conv_params params = p.conv_params();
  return arm_convolve_s8(ctx, &params, &p.quant, &p.input_dims, p.input.data(), &p.filter_dims, p.filter.data(),
                         nullptr, p.bias_or_null(), nullptr, &p.output_dims, output);
}

class ArmConvolveS8 : public ::testing::TestWithParam<ConvolveShape> {};

TEST_P(ArmConvolveS8, EqualsTheDefinitionWithAndWithoutScratch) {
  const ConvolveProblem problem(GetParam(), 7);
  const std::vector<int8_t> expected = problem.Expected();
  ExpectMostlyInsideRange(expected, problem.min, problem.max);

  const int32_t bytes = arm_convolve_s8_get_buffer_size(&problem.input_dims, &problem.filter_dims);
  ASSERT_GT(bytes, 0);
  Guarded scratch(bytes), output(problem.output_size());
  const cmsis_nn_context ctx = {scratch.data(), bytes};
  ASSERT_EQ(Convolve(problem, &ctx, output.data()), ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(output.values(), expected);
  EXPECT_TRUE(output.intact());
  EXPECT_TRUE(scratch.intact());

  // One byte short: the variant without scratch, which must leave these bytes alone.
  Guarded short_scratch(bytes), slow_output(problem.output_size());
  const cmsis_nn_context short_ctx = {short_scratch.data(), bytes - 1};
  ASSERT_EQ(Convolve(problem, &short_ctx, slow_output.data()), ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(slow_output.values(), expected);
  EXPECT_TRUE(slow_output.intact());
  EXPECT_TRUE(short_scratch.untouched());
}

INSTANTIATE_TEST_SUITE_P(Shapes, ArmConvolveS8, ::testing::ValuesIn(ConvolveShapes()));

TEST(ArmConvolveS8Extremes, LargestOffsetsAndValuesDoNotOverflow) {
  ConvolveProblem problem({1, 3, 3, 64, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 3);
  for (int32_t offset : {-127, 128}) {
    problem.input_offset = offset;
    for (int8_t x : {-128, 127}) {
      for (int8_t w : {-128, 127}) {
        problem.input.assign(problem.input.size(), x);
        problem.filter.assign(problem.filter.size(), w);
        problem.multiplier.assign(4, 1 << 30);
        problem.shift.assign(4, -16);  // 255 * 128 * 576 / 2^17 = 143: some outputs at the limits, none of them wrapped
        Guarded scratch(arm_convolve_s8_get_buffer_size(&problem.input_dims, &problem.filter_dims));
        Guarded output(problem.output_size());
        const cmsis_nn_context ctx = {scratch.data(), 1 << 20};
        ASSERT_EQ(Convolve(problem, &ctx, output.data()), ARM_CMSIS_NN_SUCCESS);
        EXPECT_EQ(output.values(), problem.Expected()) << offset << " " << int{x} << " " << int{w};
      }
    }
  }
}

TEST(ArmConvolveS8Refusals, NothingIsWritten) {
  const ConvolveProblem good({1, 4, 4, 4, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 5);
  const auto refused = [&](auto&& change, arm_cmsis_nn_status status = ARM_CMSIS_NN_ARG_ERROR) {
    ConvolveProblem problem = good;
    problem.quant = {problem.multiplier.data(), problem.shift.data()};
    cmsis_nn_conv_params params = problem.conv_params();
    change(problem, params);
    Guarded output(good.output_size());
    const cmsis_nn_context ctx = {nullptr, 0};
    EXPECT_EQ(arm_convolve_s8(&ctx, &params, &problem.quant, &problem.input_dims, problem.input.data(),
                              &problem.filter_dims, problem.filter.data(), nullptr, problem.bias.data(), nullptr,
                              &problem.output_dims, output.data()),
              status);
    EXPECT_TRUE(output.untouched());
  };
  using P = ConvolveProblem;
  using C = cmsis_nn_conv_params;
  refused([](P& p, C&) { p.input_dims.n = 2; });
  refused([](P& p, C&) { p.input_dims.h = 0; });
  refused([](P& p, C&) { p.input_dims.w = -1; });
  refused([](P& p, C&) { p.input_dims = {1, 65536, 65536, 4}; });  // the element count overflows
  refused([](P& p, C&) { p.filter_dims.c = 3; });                  // 4 channels are no multiple of 3
  refused([](P& p, C&) { p.filter_dims.n = 5; });
  refused([](P& p, C&) { p.output_dims.c = 3; });
  refused([](P& p, C&) { p.shift[2] = 31; });
  refused([](P& p, C&) { p.shift[2] = -32; });
  refused([](P& p, C&) { p.quant.multiplier = nullptr; });
  refused([](P&, C& c) { c.input_offset = 129; });
  refused([](P&, C& c) { c.output_offset = -129; });
  refused([](P&, C& c) { c.activation = {5, 4}; });
  refused([](P&, C& c) { c.activation = {-129, 4}; });
  refused([](P&, C& c) { c.stride.w = 0; });
  refused([](P&, C& c) { c.dilation.h = 0; });
  refused([](P&, C& c) { c.padding.w = -1; });
  refused([](P&, C& c) { c.dilation.h = INT32_MAX; });

  Guarded output(good.output_size());
  const cmsis_nn_conv_params params = good.conv_params();
  EXPECT_EQ(arm_convolve_s8(nullptr, &params, &good.quant, &good.input_dims, nullptr, &good.filter_dims,
                            good.filter.data(), nullptr, nullptr, nullptr, &good.output_dims, output.data()),
            ARM_CMSIS_NN_ARG_ERROR);
  const cmsis_nn_dims upscale = {1, 2, 2, 1};
  EXPECT_EQ(arm_convolve_s8(nullptr, &params, &good.quant, &good.input_dims, good.input.data(), &good.filter_dims,
                            good.filter.data(), nullptr, nullptr, &upscale, &good.output_dims, output.data()),
            ARM_CMSIS_NN_NO_IMPL_ERROR);
  Guarded scratch(4096);
  const cmsis_nn_context odd = {scratch.data() + 1, 4095};
  EXPECT_EQ(Convolve(good, &odd, output.data()), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_TRUE(output.untouched());
}

}  // namespace
}  // namespace cortex_m_nn_test
