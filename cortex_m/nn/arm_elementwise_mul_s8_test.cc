#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

struct Mul {
  int32_t offset1, offset2, out_offset, multiplier, shift, min, max;
};

arm_cmsis_nn_status Call(const Mul& p, const int8_t* a, const int8_t* b, int8_t* out, int32_t count) {
  return arm_elementwise_mul_s8(a, b, p.offset1, p.offset2, out, p.out_offset, p.multiplier, p.shift, p.min, p.max,
                                count);
}

class ArmElementwiseMulS8 : public ::testing::TestWithParam<Mul> {};

TEST_P(ArmElementwiseMulS8, EveryPair) {
  const Mul p = GetParam();
  std::vector<int8_t> a, b, expected;
  for (int x = -128; x <= 127; ++x) {
    for (int y = -128; y <= 127; ++y) {
      a.push_back(static_cast<int8_t>(x));
      b.push_back(static_cast<int8_t>(y));
      const int64_t product = int64_t{x + p.offset1} * (y + p.offset2);
      expected.push_back(
          static_cast<int8_t>(Clamp(Requantize(product, p.multiplier, p.shift) + p.out_offset, p.min, p.max)));
    }
  }
  ExpectMostlyInsideRange(expected, p.min, p.max);
  Guarded output(expected.size());
  ASSERT_EQ(Call(p, a.data(), b.data(), output.data(), static_cast<int32_t>(expected.size())), ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(output.values(), expected);
  EXPECT_TRUE(output.intact());
}

INSTANTIATE_TEST_SUITE_P(Parameters, ArmElementwiseMulS8,
                         ::testing::Values(Mul{3, -5, 2, 1518500250, -7, -128, 127},
                                           Mul{128, -127, 100, 1073741824, -8, -128, 127},
                                           Mul{0, 0, 0, 1879048192, -6, -100, 90},
                                           Mul{-7, 9, 5, -1342177280, -7, -128, 127},  // a negative factor
                                           Mul{1, 1, 0, 16777216, 0, -128, 127},       // no shift
                                           Mul{1, 1, 0, 1048576, 4, -128, 127}));      // a shift to the left

TEST(ArmElementwiseMulS8Refusals, NothingIsWritten) {
  const std::vector<int8_t> in(4, 3);
  Guarded output(4);
  const Mul good = {0, 0, 0, 1 << 30, -6, -128, 127};
  for (const Mul& bad : {Mul{129, 0, 0, 1 << 30, -6, -128, 127}, Mul{0, -128, 0, 1 << 30, -6, -128, 127},
                         Mul{0, 0, 128, 1 << 30, -6, -128, 127}, Mul{0, 0, 0, 1 << 30, -32, -128, 127},
                         Mul{0, 0, 0, 1 << 30, -6, 5, 4}}) {
    EXPECT_EQ(Call(bad, in.data(), in.data(), output.data(), 4), ARM_CMSIS_NN_ARG_ERROR);
  }
  EXPECT_EQ(Call(good, nullptr, in.data(), output.data(), 4), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_EQ(Call(good, in.data(), in.data(), output.data(), -1), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_TRUE(output.untouched());
}

}  // namespace
}  // namespace cortex_m_nn_test
