#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

struct Shape {
  int n, h, w, c, kh, kw, stride_h, stride_w, pad_h, pad_w;
  int extra_h = 0, extra_w = 0;  // outputs beyond those of symmetric padding (ceil_mode)
  int out_h() const { return (h + 2 * pad_h - kh) / stride_h + 1 + extra_h; }
  int out_w() const { return (w + 2 * pad_w - kw) / stride_w + 1 + extra_w; }
};

std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.n << "x" << s.h << "x" << s.w << "x" << s.c << " kernel " << s.kh << "x" << s.kw << " stride "
             << s.stride_h << "x" << s.stride_w << " pad " << s.pad_h << "x" << s.pad_w;
}

std::vector<Shape> Shapes() {
  std::vector<Shape> shapes;
  for (int c = 1; c <= 19; ++c) shapes.push_back({1, 7, 7, c, 7, 7, 1, 1, 0, 0});
  for (int k : {1, 2, 3, 5})
    for (int stride : {1, 2, 3})
      for (int pad = 0; pad <= k / 2; ++pad) shapes.push_back({1, 8, 9, 5, k, k, stride, stride, pad, pad});
  shapes.push_back({3, 6, 5, 4, 2, 3, 2, 1, 0, 1});
  shapes.push_back({1, 7, 7, 3, 2, 2, 2, 2, 0, 0, 1, 1});
  shapes.push_back({2, 3, 4, 301, 3, 2, 1, 1, 1, 0});
  return shapes;
}

class ArmAvgpoolS8 : public ::testing::TestWithParam<Shape> {};

// Mean of the values inside the input, halves away from zero, by exact comparison of 2 * sum with odd multiples of count.
int8_t RoundedMean(int64_t sum, int64_t count) {
  const int64_t magnitude = sum < 0 ? -sum : sum;
  int64_t mean = 0;
  while ((2 * mean + 1) * count <= 2 * magnitude) ++mean;  // mean + 1/2 <= |sum| / count
  return static_cast<int8_t>(sum < 0 ? -mean : mean);
}

TEST_P(ArmAvgpoolS8, EqualsTheDefinition) {
  const Shape s = GetParam();
  Random random(29);
  const std::vector<int8_t> input = random.Bytes(static_cast<size_t>(s.n) * s.h * s.w * s.c);
  const int32_t min = -100, max = 90;
  std::vector<int8_t> expected;
  for (int n = 0; n < s.n; ++n)
    for (int y = 0; y < s.out_h(); ++y)
      for (int x = 0; x < s.out_w(); ++x)
        for (int c = 0; c < s.c; ++c) {
          int64_t sum = 0, count = 0;
          for (int ky = 0; ky < s.kh; ++ky)
            for (int kx = 0; kx < s.kw; ++kx) {
              const int in_y = y * s.stride_h - s.pad_h + ky, in_x = x * s.stride_w - s.pad_w + kx;
              if (in_y < 0 || in_y >= s.h || in_x < 0 || in_x >= s.w) continue;
              sum += input[((n * s.h + in_y) * s.w + in_x) * s.c + c];
              ++count;
            }
          ASSERT_GT(count, 0);
          expected.push_back(static_cast<int8_t>(Clamp(RoundedMean(sum, count), min, max)));
        }
  ExpectMostlyInsideRange(expected, min, max);
  const cmsis_nn_pool_params params = {{s.stride_w, s.stride_h}, {s.pad_w, s.pad_h}, {min, max}};
  const cmsis_nn_dims in = {s.n, s.h, s.w, s.c}, filter = {1, s.kh, s.kw, 1}, out = {s.n, s.out_h(), s.out_w(), s.c};
  ASSERT_EQ(arm_avgpool_s8_get_buffer_size(out.w, s.c), 0);
  Guarded output(expected.size());
  ASSERT_EQ(arm_avgpool_s8(nullptr, &params, &in, input.data(), &filter, &out, output.data()), ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(output.values(), expected);
  EXPECT_TRUE(output.intact());
}

INSTANTIATE_TEST_SUITE_P(Shapes, ArmAvgpoolS8, ::testing::ValuesIn(Shapes()));

// Each sum that two values can have: all ties, both signs.
TEST(ArmAvgpoolS8Rounding, EveryPairOfValues) {
  const cmsis_nn_pool_params params = {{1, 1}, {0, 0}, {-128, 127}};
  const cmsis_nn_dims in = {1, 1, 2, 1}, filter = {1, 1, 2, 1}, out = {1, 1, 1, 1};
  for (int a = -128; a <= 127; ++a) {
    for (int b = -128; b <= 127; ++b) {
      const int8_t input[2] = {static_cast<int8_t>(a), static_cast<int8_t>(b)};
      int8_t output = 0;
      ASSERT_EQ(arm_avgpool_s8(nullptr, &params, &in, input, &filter, &out, &output), ARM_CMSIS_NN_SUCCESS);
      ASSERT_EQ(output, RoundedMean(a + b, 2)) << a << " " << b;
    }
  }
}

TEST(ArmAvgpoolS8Refusals, NothingIsWritten) {
  const std::vector<int8_t> input(64, 3);
  const auto refused = [&](auto&& change) {
    cmsis_nn_pool_params params = {{1, 1}, {0, 0}, {-128, 127}};
    cmsis_nn_dims in = {1, 4, 4, 4}, filter = {1, 2, 2, 1}, out = {1, 3, 3, 4};
    change(params, in, filter, out);
    Guarded output(64);
    EXPECT_EQ(arm_avgpool_s8(nullptr, &params, &in, input.data(), &filter, &out, output.data()),
              ARM_CMSIS_NN_ARG_ERROR);
    EXPECT_TRUE(output.untouched());
  };
  using P = cmsis_nn_pool_params;
  using D = cmsis_nn_dims;
  refused([](P& p, D&, D&, D&) { p.padding.h = 2; });  // the first row of windows is all padding
  refused([](P&, D&, D&, D& out) { out.w = 5; });      // the last column lies beyond the input
  refused([](P&, D&, D&, D& out) { out.c = 3; });
  refused([](P&, D&, D&, D& out) { out.n = 2; });
  refused([](P&, D& in, D&, D&) { in.h = 0; });
  refused([](P&, D&, D& filter, D&) { filter.w = 0; });
  refused([](P& p, D&, D&, D&) { p.stride.h = 0; });
  refused([](P& p, D&, D&, D&) { p.activation = {3, 2}; });
}

}  // namespace
}  // namespace cortex_m_nn_test
