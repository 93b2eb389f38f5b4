#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

struct Shape {
  int n, h, w, c, kh, kw, stride_h, stride_w, pad_h, pad_w, out_h, out_w;
};

class ArmMaxPoolS8 : public ::testing::TestWithParam<Shape> {};

TEST_P(ArmMaxPoolS8, EqualsTheDefinition) {
  const Shape s = GetParam();
  Random random(31);
  const std::vector<int8_t> input = random.Bytes(static_cast<size_t>(s.n) * s.h * s.w * s.c);
  for (const cmsis_nn_activation& limits : {cmsis_nn_activation{-128, 127}, cmsis_nn_activation{-30, 60}}) {
    std::vector<int8_t> expected;
    for (int n = 0; n < s.n; ++n)
      for (int y = 0; y < s.out_h; ++y)
        for (int x = 0; x < s.out_w; ++x)
          for (int c = 0; c < s.c; ++c) {
            int max = -1000;
            for (int ky = 0; ky < s.kh; ++ky)
              for (int kx = 0; kx < s.kw; ++kx) {
                const int in_y = y * s.stride_h - s.pad_h + ky, in_x = x * s.stride_w - s.pad_w + kx;
                if (in_y < 0 || in_y >= s.h || in_x < 0 || in_x >= s.w) continue;
                max = std::max<int>(max, input[((n * s.h + in_y) * s.w + in_x) * s.c + c]);
              }
            ASSERT_GE(max, -128);
            expected.push_back(static_cast<int8_t>(Clamp(max, limits.min, limits.max)));
          }
    const cmsis_nn_pool_params params = {{s.stride_w, s.stride_h}, {s.pad_w, s.pad_h}, limits};
    const cmsis_nn_dims in = {s.n, s.h, s.w, s.c}, filter = {1, s.kh, s.kw, 1}, out = {s.n, s.out_h, s.out_w, s.c};
    Guarded output(expected.size());
    ASSERT_EQ(arm_max_pool_s8(nullptr, &params, &in, input.data(), &filter, &out, output.data()), ARM_CMSIS_NN_SUCCESS);
    EXPECT_EQ(output.values(), expected);
    EXPECT_TRUE(output.intact());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ArmMaxPoolS8,
    ::testing::Values(Shape{1, 8, 8, 16, 2, 2, 2, 2, 0, 0, 4, 4}, Shape{2, 7, 5, 7, 3, 3, 2, 1, 1, 1, 4, 5},
                      Shape{1, 6, 6, 3, 6, 6, 1, 1, 0, 0, 1, 1}, Shape{1, 5, 9, 21, 1, 3, 1, 3, 0, 1, 5, 3},
                      Shape{1, 7, 7, 4, 2, 2, 2, 2, 0, 0, 4, 4}));  // ceil_mode: clipped at the far edge

TEST(ArmMaxPoolS8Refusals, AWindowWithoutInput) {
  const std::vector<int8_t> input(16, 1);
  const cmsis_nn_pool_params params = {{1, 1}, {2, 2}, {-128, 127}};
  const cmsis_nn_dims in = {1, 4, 4, 1}, filter = {1, 2, 2, 1}, out = {1, 3, 3, 1};
  Guarded output(9);
  EXPECT_EQ(arm_max_pool_s8(nullptr, &params, &in, input.data(), &filter, &out, output.data()), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_EQ(arm_max_pool_s8(nullptr, nullptr, &in, input.data(), &filter, &out, output.data()), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_TRUE(output.untouched());
}

}  // namespace
}  // namespace cortex_m_nn_test
