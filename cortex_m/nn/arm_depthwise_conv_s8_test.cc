#include "convolve_test_util.h"

namespace cortex_m_nn_test {
namespace {

std::vector<ConvolveShape> DepthwiseShapes() {
  std::vector<ConvolveShape> shapes;
  const auto add = [&](int n, int h, int w, int in_c, int mult, int kh, int kw, int sh, int sw, int ph, int pw, int dh,
                       int dw, int extra = 0) {
    shapes.push_back({n, h, w, in_c, in_c * mult, kh, kw, in_c, sh, sw, ph, pw, dh, dw, extra, extra});
    shapes.back().depthwise = true;
  };
  for (int c = 1; c <= 19; ++c) add(1, 5, 6, c, 1, 3, 3, 1, 1, 1, 1, 1, 1);
  for (int mult = 2; mult <= 9; ++mult) add(1, 5, 4, 3, mult, 3, 3, 1, 1, 1, 1, 1, 1);
  for (int k : {1, 2, 3, 5})
    for (int stride : {1, 2, 3})
      for (int pad : {0, 1, 2}) add(1, 9, 8, 6, 1, k, k, stride, stride, pad, pad, 1, 1);
  add(1, 12, 8, 1, 64, 10, 4, 2, 2, 5, 1, 1, 1);  // the first layer of a keyword spotter: one channel in
  add(1, 9, 7, 5, 1, 3, 2, 2, 1, 1, 0, 1, 1);
  add(1, 8, 8, 4, 1, 3, 3, 2, 2, 0, 0, 1, 1, 1);  // "same" with stride 2
  add(1, 9, 11, 5, 2, 3, 3, 1, 1, 2, 2, 2, 2);
  add(1, 9, 11, 4, 1, 3, 2, 2, 1, 3, 1, 3, 4);
  add(1, 2, 2, 4, 1, 5, 5, 1, 1, 4, 4, 1, 1);  // windows that are all padding
  add(3, 4, 5, 7, 1, 3, 3, 1, 1, 1, 1, 1, 1);  // batch
  add(2, 4, 5, 2, 5, 3, 3, 2, 1, 1, 1, 1, 1);
  add(1, 3, 3, 301, 1, 3, 3, 1, 1, 1, 1, 1, 1);
  add(1, 3, 3, 2, 150, 2, 2, 1, 1, 0, 0, 1, 1);
  const size_t count = shapes.size();
  for (size_t i = 0; i < count; i += 4) {
    shapes.push_back(shapes[i]);
    shapes.back().bias = false;
  }
  return shapes;
}

class ArmDepthwiseConvS8 : public ::testing::TestWithParam<ConvolveShape> {};

TEST_P(ArmDepthwiseConvS8, EqualsTheDefinition) {
  const ConvolveProblem p(GetParam(), 17);
  const std::vector<int8_t> expected = p.Expected();
  ExpectMostlyInsideRange(expected, p.min, p.max);
  const cmsis_nn_dw_conv_params params = p.dw_params();
  ASSERT_EQ(arm_depthwise_conv_wrapper_s8_get_buffer_size(&params, &p.input_dims, &p.filter_dims, &p.output_dims), 0);
  for (auto function : {arm_depthwise_conv_s8, arm_depthwise_conv_wrapper_s8}) {
    Guarded output(p.output_size());
    ASSERT_EQ(function(nullptr, &params, &p.quant, &p.input_dims, p.input.data(), &p.filter_dims, p.filter.data(),
                       nullptr, p.bias_or_null(), &p.output_dims, output.data()),
              ARM_CMSIS_NN_SUCCESS);
    EXPECT_EQ(output.values(), expected);
    EXPECT_TRUE(output.intact());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ArmDepthwiseConvS8, ::testing::ValuesIn(DepthwiseShapes()));

TEST(ArmDepthwiseConvS8Refusals, NothingIsWritten) {
  ConvolveShape shape = {1, 4, 4, 4, 8, 3, 3, 4, 1, 1, 1, 1, 1, 1};
  shape.depthwise = true;
  const ConvolveProblem good(shape, 5);
  const auto refused = [&](auto&& change) {
    ConvolveProblem p = good;
    p.quant = {p.multiplier.data(), p.shift.data()};
    cmsis_nn_dw_conv_params params = p.dw_params();
    change(p, params);
    for (auto function : {arm_depthwise_conv_s8, arm_depthwise_conv_wrapper_s8}) {
      Guarded output(good.output_size());
      EXPECT_EQ(function(nullptr, &params, &p.quant, &p.input_dims, p.input.data(), &p.filter_dims, p.filter.data(),
                         nullptr, nullptr, &p.output_dims, output.data()),
                ARM_CMSIS_NN_ARG_ERROR);
      EXPECT_TRUE(output.untouched());
    }
  };
  using P = ConvolveProblem;
  using C = cmsis_nn_dw_conv_params;
  refused([](P&, C& c) { c.ch_mult = 1; });
  refused([](P&, C& c) { c.ch_mult = 3; });
  refused([](P&, C& c) { c.ch_mult = 0; });
  refused([](P& p, C&) { p.filter_dims.n = 2; });
  refused([](P& p, C&) { p.filter_dims.c = 4; });
  refused([](P& p, C&) { p.output_dims.n = 2; });
  refused([](P& p, C&) { p.input_dims.h = 0; });
  refused([](P& p, C&) { p.shift[7] = 31; });
  refused([](P&, C& c) { c.input_offset = -128; });
  refused([](P&, C& c) { c.output_offset = 128; });
  refused([](P&, C& c) { c.activation = {1, 0}; });
  refused([](P&, C& c) { c.stride.h = 0; });
  refused([](P&, C& c) { c.padding.h = 40000; });
}

}  // namespace
}  // namespace cortex_m_nn_test
