#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

const cmsis_nn_context kNone = {nullptr, 0};

size_t Count(const cmsis_nn_dims& d) { return static_cast<size_t>(d.n) * d.h * d.w * d.c; }

int8_t At(const std::vector<int8_t>& values, const cmsis_nn_dims& d, int n, int h, int w, int c) {
  const auto clip = [](int index, int size) { return size == 1 ? 0 : index; };
  return values[((clip(n, d.n) * d.h + clip(h, d.h)) * d.w + clip(w, d.w)) * d.c + clip(c, d.c)];
}

TEST(ArmMinimumMaximumS8, EveryPair) {
  std::vector<int8_t> all, low, high;
  for (int x = -128; x <= 127; ++x) all.push_back(static_cast<int8_t>(x));
  for (int8_t x : all) {
    for (int8_t y : all) {
      low.push_back(std::min(x, y));
      high.push_back(std::max(x, y));
    }
  }
  const cmsis_nn_dims a = {1, 1, 256, 1}, b = {1, 1, 1, 256}, out = {1, 1, 256, 256};
  Guarded least(low.size()), most(low.size());
  ASSERT_EQ(arm_minimum_s8(&kNone, all.data(), &a, all.data(), &b, least.data(), &out), ARM_CMSIS_NN_SUCCESS);
  ASSERT_EQ(arm_maximum_s8(&kNone, all.data(), &a, all.data(), &b, most.data(), &out), ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(least.values(), low);
  EXPECT_EQ(most.values(), high);
  EXPECT_TRUE(least.intact() && most.intact());
}

TEST(ArmMinimumMaximumS8, AnyDimensionMayBeRepeatedInEitherInput) {
  Random random(5);
  const cmsis_nn_dims out = {2, 3, 4, 5};
  for (int kept = 0; kept < 256; ++kept) {
    const auto sizes = [&](int bits) {
      return cmsis_nn_dims{bits & 1 ? 2 : 1, bits & 2 ? 3 : 1, bits & 4 ? 4 : 1, bits & 8 ? 5 : 1};
    };
    const cmsis_nn_dims a = sizes(kept & 15), b = sizes(kept >> 4);
    const std::vector<int8_t> x = random.Bytes(Count(a)), y = random.Bytes(Count(b));
    std::vector<int8_t> low, high;
    for (int n = 0; n < out.n; ++n) {
      for (int h = 0; h < out.h; ++h) {
        for (int w = 0; w < out.w; ++w) {
          for (int c = 0; c < out.c; ++c) {
            low.push_back(std::min(At(x, a, n, h, w, c), At(y, b, n, h, w, c)));
            high.push_back(std::max(At(x, a, n, h, w, c), At(y, b, n, h, w, c)));
          }
        }
      }
    }
    Guarded least(low.size()), most(low.size());
    ASSERT_EQ(arm_minimum_s8(&kNone, x.data(), &a, y.data(), &b, least.data(), &out), ARM_CMSIS_NN_SUCCESS);
    ASSERT_EQ(arm_maximum_s8(&kNone, x.data(), &a, y.data(), &b, most.data(), &out), ARM_CMSIS_NN_SUCCESS);
    ASSERT_EQ(least.values(), low) << kept;
    ASSERT_EQ(most.values(), high) << kept;
    ASSERT_TRUE(least.intact() && most.intact());
  }
}

TEST(ArmMinimumMaximumS8, Refusals) {
  const std::vector<int8_t> x(24, 1);
  const cmsis_nn_dims dims = {1, 2, 3, 4}, other = {1, 2, 2, 4}, empty = {1, 0, 3, 4};
  Guarded out(24);
  for (auto* function : {arm_minimum_s8, arm_maximum_s8}) {
    EXPECT_EQ(function(&kNone, nullptr, &dims, x.data(), &dims, out.data(), &dims), ARM_CMSIS_NN_ARG_ERROR);
    EXPECT_EQ(function(&kNone, x.data(), &dims, x.data(), &dims, nullptr, &dims), ARM_CMSIS_NN_ARG_ERROR);
    EXPECT_EQ(function(&kNone, x.data(), &other, x.data(), &dims, out.data(), &dims), ARM_CMSIS_NN_ARG_ERROR);
    EXPECT_EQ(function(&kNone, x.data(), &dims, x.data(), &other, out.data(), &dims), ARM_CMSIS_NN_ARG_ERROR);
    EXPECT_EQ(function(&kNone, x.data(), &dims, x.data(), &dims, out.data(), &empty), ARM_CMSIS_NN_ARG_ERROR);
  }
  EXPECT_TRUE(out.untouched());
}

}  // namespace
}  // namespace cortex_m_nn_test
