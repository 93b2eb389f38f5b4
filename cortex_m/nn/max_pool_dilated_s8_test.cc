#include "additional.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

struct Shape {
  int n, h, w, c, kh, kw, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, out_h, out_w;
};

class MaxPoolDilatedS8 : public ::testing::TestWithParam<Shape> {};

TEST_P(MaxPoolDilatedS8, EqualsTheDefinition) {
  const Shape s = GetParam();
  Random random(61);
  const std::vector<int8_t> input = random.Bytes(static_cast<size_t>(s.n) * s.h * s.w * s.c);
  for (const auto& [min, max] : {std::pair{-128, 127}, std::pair{-30, 60}}) {
    std::vector<int8_t> expected;
    for (int n = 0; n < s.n; ++n)
      for (int y = 0; y < s.out_h; ++y)
        for (int x = 0; x < s.out_w; ++x)
          for (int c = 0; c < s.c; ++c) {
            int largest = -1000;
            for (int ky = 0; ky < s.kh; ++ky)
              for (int kx = 0; kx < s.kw; ++kx) {
                const int in_y = y * s.stride_h - s.pad_h + ky * s.dilation_h;
                const int in_x = x * s.stride_w - s.pad_w + kx * s.dilation_w;
                if (in_y < 0 || in_y >= s.h || in_x < 0 || in_x >= s.w) continue;
                largest = std::max<int>(largest, input[((n * s.h + in_y) * s.w + in_x) * s.c + c]);
              }
            ASSERT_GE(largest, -128);
            expected.push_back(static_cast<int8_t>(Clamp(largest, min, max)));
          }
    Guarded output(expected.size());
    const cortex_m_nn_max_pool_args args = {input.data(),
                                            output.data(),
                                            s.n,
                                            s.c,
                                            {s.h, s.out_h, s.kh, s.stride_h, s.pad_h, s.dilation_h},
                                            {s.w, s.out_w, s.kw, s.stride_w, s.pad_w, s.dilation_w},
                                            min,
                                            max};
    cortex_m_nn_max_pool_dilated_s8(&args);
    EXPECT_EQ(output.values(), expected);
    EXPECT_TRUE(output.intact());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, MaxPoolDilatedS8,
    ::testing::Values(Shape{1, 8, 8, 5, 2, 2, 2, 2, 0, 0, 2, 2, 3, 3}, Shape{2, 7, 9, 4, 3, 2, 1, 2, 1, 1, 2, 3, 5, 4},
                      Shape{1, 6, 6, 3, 3, 3, 2, 2, 1, 1, 2, 2, 2, 2},
                      Shape{1, 5, 5, 2, 2, 2, 3, 3, 1, 1, 3, 2, 2, 2},  // ceil_mode: over the far edge
                      Shape{1, 7, 7, 17, 1, 1, 2, 2, 0, 0, 5, 5, 4, 4}));

}  // namespace
}  // namespace cortex_m_nn_test
