#include "requantize.h"

#include "test_util.h"

namespace {

using cortex_m_nn_test::DivideHalvesAway;
using cortex_m_nn_test::DivideHalvesUp;
using cortex_m_nn_test::Random;
using cortex_m_nn_test::Requantize;

const int32_t kEdges[] = {0,
                          1,
                          -1,
                          2,
                          -2,
                          3,
                          -3,
                          127,
                          -128,
                          255,
                          (1 << 30),
                          -(1 << 30),
                          (1 << 30) - 1,
                          1 - (1 << 30),
                          INT32_MAX,
                          INT32_MIN,
                          INT32_MAX - 1,
                          INT32_MIN + 1,
                          0x55555555,
                          -0x55555555};

TEST(Requantize, HighMultiplyOnAllEdges) {
  for (int32_t a : kEdges) {
    for (int32_t b : kEdges) {
      if (a == INT32_MIN && b == INT32_MIN) continue;  // the one product that does not fit
      EXPECT_EQ(arm_nn_doubling_high_mult_no_sat(a, b), DivideHalvesUp(static_cast<__int128>(a) * b, 31))
          << a << " " << b;
    }
  }
}

TEST(Requantize, PowerOfTwoDivisionForEveryExponent) {
  for (int exponent = 0; exponent <= 31; ++exponent) {
    for (int32_t a : kEdges) {
      EXPECT_EQ(arm_nn_divide_by_power_of_two(a, exponent), DivideHalvesAway(a, exponent)) << a << " >> " << exponent;
    }
  }
}

// Every value around each tie: the places where the two roundings differ from one.
TEST(Requantize, PowerOfTwoDivisionExhaustivelyAroundZero) {
  for (int exponent = 0; exponent <= 10; ++exponent) {
    for (int32_t a = -5000; a <= 5000; ++a) {
      ASSERT_EQ(arm_nn_divide_by_power_of_two(a, exponent), DivideHalvesAway(a, exponent)) << a << " >> " << exponent;
    }
  }
}

TEST(Requantize, EveryShiftAgainstExactIntegers) {
  Random random(1);
  int compared = 0;
  for (int32_t shift = CORTEX_M_NN_MIN_SHIFT; shift <= CORTEX_M_NN_MAX_SHIFT; ++shift) {
    const int32_t limit = INT32_MAX >> (shift > 0 ? shift : 0);  // no wrap
    for (int i = 0; i < 2000; ++i) {
      const int32_t value = random.Between(-limit, limit - 1);
      const int32_t multiplier = random.Between(-(1 << 30), (1 << 30) - 1) * 2;
      ASSERT_EQ(arm_nn_requantize(value, multiplier, shift), Requantize(value, multiplier, shift))
          << value << " * " << multiplier << " shift " << shift;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 62 * 2000);
}

// Two roundings, not one: each case differs from a single rounding of the exact product, or shows the direction of a tie.
TEST(Requantize, RoundsTwice) {
  EXPECT_EQ(arm_nn_requantize(1, 1 << 30, -1), 1);    // 0.25 -> 1 (half up) -> 0.5 -> 1; a single rounding gives 0
  EXPECT_EQ(arm_nn_requantize(-1, 1 << 30, -1), 0);   // -0.5 -> 0
  EXPECT_EQ(arm_nn_requantize(-3, 1 << 30, -1), -1);  // -1.5 -> -1 -> -0.5 -> -1
  EXPECT_EQ(arm_nn_requantize(5, 1 << 30, -2), 1);    // 2.5 -> 3 -> 0.75 -> 1
}

TEST(Requantize, WrapsWhereItIsSaidToWrap) {
  EXPECT_EQ(arm_nn_requantize(1 << 30, INT32_MAX, 2), 0);  // 2^32 wraps to 0
  EXPECT_EQ(cortex_m_nn_wrapping_add(INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(cortex_m_nn_wrapping_mul(1 << 20, 1 << 12), 0);
}

TEST(Requantize, ToInt8ClampsAfterTheOffset) {
  EXPECT_EQ(cortex_m_nn_requantize_to_s8(100, INT32_MAX, 0, 20, -128, 127), 120);
  EXPECT_EQ(cortex_m_nn_requantize_to_s8(100, INT32_MAX, 0, 40, -128, 127), 127);
  EXPECT_EQ(cortex_m_nn_requantize_to_s8(-300, INT32_MAX, 0, 40, -128, 127), -128);
  EXPECT_EQ(cortex_m_nn_requantize_to_s8(-300, INT32_MAX, 0, 40, -7, 6), -7);
}

}  // namespace
