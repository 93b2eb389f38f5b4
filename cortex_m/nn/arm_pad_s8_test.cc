#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

struct Pads {
  cmsis_nn_dims pre, post;
};

TEST(ArmPadS8, EveryCombinationOfSidesEqualsTheDefinition) {
  const cmsis_nn_dims in = {2, 3, 4, 5};
  Random random(37);
  const std::vector<int8_t> input = random.Bytes(2 * 3 * 4 * 5);
  int cases = 0;
  for (int sides = 0; sides < 256; ++sides) {
    const auto side = [&](int bit) { return sides >> bit & 1 ? 1 + bit % 3 : 0; };
    const Pads p = {{side(0), side(1), side(2), side(3)}, {side(4), side(5), side(6), side(7)}};
    std::vector<int8_t> expected;
    for (int n = -p.pre.n; n < in.n + p.post.n; ++n)
      for (int h = -p.pre.h; h < in.h + p.post.h; ++h)
        for (int w = -p.pre.w; w < in.w + p.post.w; ++w)
          for (int c = -p.pre.c; c < in.c + p.post.c; ++c) {
            const bool inside = n >= 0 && n < in.n && h >= 0 && h < in.h && w >= 0 && w < in.w && c >= 0 && c < in.c;
            expected.push_back(inside ? input[((n * in.h + h) * in.w + w) * in.c + c] : -77);
          }
    Guarded output(expected.size());
    ASSERT_EQ(arm_pad_s8(input.data(), output.data(), -77, &in, &p.pre, &p.post), ARM_CMSIS_NN_SUCCESS);
    ASSERT_EQ(output.values(), expected) << sides;
    ASSERT_TRUE(output.intact()) << sides;
    ++cases;
  }
  EXPECT_EQ(cases, 256);
}

TEST(ArmPadS8, RefusesAndWritesNothing) {
  const int8_t input[8] = {};
  const cmsis_nn_dims good = {1, 2, 2, 2}, none = {0, 0, 0, 0};
  Guarded output(64);
  for (const cmsis_nn_dims& bad :
       {cmsis_nn_dims{-1, 0, 0, 0}, cmsis_nn_dims{0, 0, 0, -1}, cmsis_nn_dims{0, 70000, 70000, 0}}) {
    EXPECT_EQ(arm_pad_s8(input, output.data(), 0, &good, &bad, &none), ARM_CMSIS_NN_ARG_ERROR);
    EXPECT_EQ(arm_pad_s8(input, output.data(), 0, &good, &none, &bad), ARM_CMSIS_NN_ARG_ERROR);
  }
  const cmsis_nn_dims empty = {1, 0, 2, 2};
  EXPECT_EQ(arm_pad_s8(input, output.data(), 0, &empty, &none, &none), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_EQ(arm_pad_s8(nullptr, output.data(), 0, &good, &none, &none), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_TRUE(output.untouched());
}

}  // namespace
}  // namespace cortex_m_nn_test
