#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

struct Add {
  int32_t offset1, multiplier1, shift1, offset2, multiplier2, shift2, left_shift, out_offset, out_multiplier, out_shift;
  int32_t min = -128, max = 127;
};

arm_cmsis_nn_status Call(const Add& p, const int8_t* a, const int8_t* b, int8_t* out, int32_t count) {
  return arm_elementwise_add_s8(a, b, p.offset1, p.multiplier1, p.shift1, p.offset2, p.multiplier2, p.shift2,
                                p.left_shift, out, p.out_offset, p.out_multiplier, p.out_shift, p.min, p.max, count);
}

// Scales as an exporter chooses them: s1, s2 relative to twice the larger one, then to the output and the left shift.
Add FromScales(double s1, int zp1, double s2, int zp2, double out, int out_zp) {
  const auto quantize = [](double factor, int32_t* multiplier, int32_t* shift) {
    int exponent = 0;
    *multiplier = static_cast<int32_t>(std::frexp(factor, &exponent) * 2147483648.0);
    *shift = exponent;
  };
  Add add = {-zp1, 0, 0, -zp2, 0, 0, 20, out_zp, 0, 0};
  const double twice = 2 * std::fmax(s1, s2);
  quantize(s1 / twice, &add.multiplier1, &add.shift1);
  quantize(s2 / twice, &add.multiplier2, &add.shift2);
  quantize(twice / (out * (1 << 20)), &add.out_multiplier, &add.out_shift);
  return add;
}

void ExpectAllPairs(const Add& p) {
  std::vector<int8_t> a, b, expected;
  for (int x = -128; x <= 127; ++x) {
    for (int y = -128; y <= 127; ++y) {
      a.push_back(static_cast<int8_t>(x));
      b.push_back(static_cast<int8_t>(y));
      const int64_t one = int64_t{1} << p.left_shift;
      const int64_t sum = Requantize((x + p.offset1) * one, p.multiplier1, p.shift1) +
                          Requantize((y + p.offset2) * one, p.multiplier2, p.shift2);
      expected.push_back(
          static_cast<int8_t>(Clamp(Requantize(sum, p.out_multiplier, p.out_shift) + p.out_offset, p.min, p.max)));
    }
  }
  ExpectMostlyInsideRange(expected, p.min, p.max);
  Guarded output(expected.size());
  ASSERT_EQ(Call(p, a.data(), b.data(), output.data(), static_cast<int32_t>(expected.size())), ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(output.values(), expected);
  EXPECT_TRUE(output.intact());
}

TEST(ArmElementwiseAddS8, EveryPairForEqualScales) { ExpectAllPairs(FromScales(0.05, 3, 0.05, -4, 0.09, 1)); }
TEST(ArmElementwiseAddS8, EveryPairForDifferentScales) { ExpectAllPairs(FromScales(0.021, -128, 0.3, 127, 0.31, -5)); }
TEST(ArmElementwiseAddS8, EveryPairForATinyOperand) { ExpectAllPairs(FromScales(0.00001, 10, 0.1, -10, 0.1, 7)); }
TEST(ArmElementwiseAddS8, EveryPairForASubtraction) {
  Add p = FromScales(0.05, 5, 0.04, -9, 0.08, 2);
  p.multiplier2 = -p.multiplier2;
  ExpectAllPairs(p);
}
TEST(ArmElementwiseAddS8, EveryPairWhereTheSecondScaleIsTheGreater) {
  ExpectAllPairs(FromScales(0.03, 3, 0.05, -4, 0.09, 1));
}
TEST(ArmElementwiseAddS8, EveryPairForScalesThatArePowersOfTwoApart) {
  for (const double ratio : {0.125, 0.5, 2.0, 4.0})
    ExpectAllPairs(FromScales(0.05 * ratio, 20, 0.05, -100, 0.09 * (1 + ratio), 1));
}
TEST(ArmElementwiseAddS8, EveryPairForASubtractionWithEqualScales) {
  Add p = FromScales(0.05, 127, 0.05, 120, 0.08, 2);
  p.multiplier2 = -p.multiplier2;
  ExpectAllPairs(p);
}
TEST(ArmElementwiseAddS8, EveryPairForEqualScalesAndLimits) {
  Add p = FromScales(0.05, 3, 0.05, -4, 0.09, 1);
  p.min = -90;
  p.max = 80;
  ExpectAllPairs(p);
}
TEST(ArmElementwiseAddS8, EveryPairForAnotherHeadroom) {  // the least that leaves both exact, and less
  for (const int32_t left_shift : {0, 1, 6, 19, 20}) {
    Add p = FromScales(0.05, 3, 0.05, -4, 0.09, 1);
    p.out_shift += 20 - left_shift;
    p.left_shift = left_shift;
    ExpectAllPairs(p);
  }
}
TEST(ArmElementwiseAddS8, EveryPairWithFusedRelu6) {
  Add p = FromScales(0.05, 0, 0.05, 0, 0.05, -20);
  p.min = -20;
  p.max = 100;
  std::vector<int8_t> a(256), b(256, 10);
  for (int i = 0; i < 256; ++i) a[i] = static_cast<int8_t>(i - 128);
  Guarded output(256);
  ASSERT_EQ(Call(p, a.data(), b.data(), output.data(), 256), ARM_CMSIS_NN_SUCCESS);
  for (int i = 0; i < 256; ++i) {  // real: (a + 10) * 0.05 / 0.05 - 20, clamped
    EXPECT_NEAR(output.values()[i], Clamp(i - 128 + 10 - 20, -20, 100), 0) << i;
  }
}

// Against the real sum, which knows nothing of multipliers: at most half a step, and a little for the fixed point.
TEST(ArmElementwiseAddS8, IsTheRealSum) {
  const Add p = FromScales(0.013, 11, 0.029, -6, 0.043, 9);
  double worst = 0;
  for (int x = -128; x <= 127; ++x) {
    for (int y = -128; y <= 127; ++y) {
      const int8_t a = static_cast<int8_t>(x), b = static_cast<int8_t>(y);
      int8_t out = 0;
      ASSERT_EQ(Call(p, &a, &b, &out, 1), ARM_CMSIS_NN_SUCCESS);
      const double real = std::fmin(127, std::fmax(-128, ((x - 11) * 0.013 + (y + 6) * 0.029) / 0.043 + 9));
      worst = std::fmax(worst, std::fabs(out - real));
    }
  }
  EXPECT_LE(worst, 0.5 + 1e-4);
}

TEST(ArmElementwiseAddS8, RefusesAndWritesNothing) {
  const Add good = FromScales(0.05, 3, 0.05, -4, 0.09, 1);
  const int8_t value = 1;
  const auto refused = [&](auto&& change) {
    Add p = good;
    change(p);
    Guarded output(1);
    EXPECT_EQ(Call(p, &value, &value, output.data(), 1), ARM_CMSIS_NN_ARG_ERROR);
    EXPECT_TRUE(output.untouched());
  };
  refused([](Add& p) { p.offset1 = 129; });
  refused([](Add& p) { p.offset2 = -128; });
  refused([](Add& p) { p.out_offset = 128; });
  refused([](Add& p) { p.shift1 = 31; });
  refused([](Add& p) { p.shift2 = -32; });
  refused([](Add& p) { p.out_shift = 31; });
  refused([](Add& p) { p.left_shift = 23; });
  refused([](Add& p) { p.left_shift = -1; });
  refused([](Add& p) { p.min = 100, p.max = 99; });
  int8_t out = 0;
  EXPECT_EQ(Call(good, nullptr, &value, &out, 1), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_EQ(Call(good, &value, &value, &out, -1), ARM_CMSIS_NN_ARG_ERROR);
}

}  // namespace
}  // namespace cortex_m_nn_test
