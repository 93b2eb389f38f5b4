// The elementary functions against the C library's in float64: every 9973rd float32, and the special ones.

#include "cortex_m/portable/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace cortex_m::portable {
namespace {

float FloatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Distance of `actual` from `expected` in units in the last place of the float32 nearest to `expected`.
double Ulps(double actual, double expected) {
  const float nearest = static_cast<float>(expected);
  int exponent = -126;
  if (nearest != 0 && std::isfinite(nearest)) exponent = std::max(std::ilogb(nearest), -126);
  return std::fabs(actual - expected) / std::ldexp(1.0, exponent - 23);
}

void Compare(double (*function)(double), double (*reference)(double), double limit) {
  double worst = 0;
  float worst_at = 0;
  const auto look = [&](float x) {
    const double actual = function(x);
    const double expected = reference(x);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual)) << x << " gives " << actual;
      return;
    }
    const float rounded = static_cast<float>(expected);
    if (std::isinf(rounded) || rounded == 0) {
      ASSERT_EQ(static_cast<float>(actual), rounded) << x;
      ASSERT_EQ(std::signbit(static_cast<float>(actual)), std::signbit(rounded)) << x;
      return;
    }
    if (Ulps(actual, expected) > worst) {
      worst = Ulps(actual, expected);
      worst_at = x;
    }
  };
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 9973) look(FloatOf(static_cast<uint32_t>(bits)));
  for (float x :
       {0.0f, -0.0f, 1.0f, -1.0f, 1e-45f, -1e-45f, 3.4028235e38f, -3.4028235e38f, 0.46875f, 4.0f, 1.5707964f}) {
    look(x);
  }
  look(std::numeric_limits<float>::infinity());
  look(-std::numeric_limits<float>::infinity());
  look(std::numeric_limits<float>::quiet_NaN());
  EXPECT_LT(worst, limit) << "at " << worst_at;
}

constexpr double kLimit = 1e-4;

TEST(MathTest, Exp) { Compare(Exp, std::exp, kLimit); }
TEST(MathTest, Expm1) { Compare(Expm1, std::expm1, kLimit); }
TEST(MathTest, Log) { Compare(Log, std::log, kLimit); }
TEST(MathTest, Log2) { Compare(Log2, std::log2, kLimit); }
TEST(MathTest, Log10) { Compare(Log10, std::log10, kLimit); }
TEST(MathTest, Log1p) { Compare(Log1p, std::log1p, kLimit); }
TEST(MathTest, Sin) { Compare(Sin, std::sin, kLimit); }
TEST(MathTest, Cos) { Compare(Cos, std::cos, kLimit); }
TEST(MathTest, Tan) { Compare(Tan, std::tan, kLimit); }
TEST(MathTest, Sinh) { Compare(Sinh, std::sinh, kLimit); }
TEST(MathTest, Cosh) { Compare(Cosh, std::cosh, kLimit); }
TEST(MathTest, Tanh) { Compare(Tanh, std::tanh, kLimit); }
TEST(MathTest, Asin) { Compare(Asin, std::asin, kLimit); }
TEST(MathTest, Acos) { Compare(Acos, std::acos, kLimit); }
TEST(MathTest, Atan) { Compare(Atan, std::atan, kLimit); }
TEST(MathTest, Asinh) { Compare(Asinh, std::asinh, kLimit); }
TEST(MathTest, Acosh) { Compare(Acosh, std::acosh, kLimit); }
TEST(MathTest, Atanh) { Compare(Atanh, std::atanh, kLimit); }
TEST(MathTest, Erf) { Compare(Erf, std::erf, kLimit); }
TEST(MathTest, Erfc) { Compare(Erfc, std::erfc, kLimit); }
TEST(MathTest, Sigmoid) {
  Compare(Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, kLimit);
}

TEST(MathTest, PowAndAtan2OfSpecialNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f,
                           -0.0f,
                           1.0f,
                           -1.0f,
                           2.0f,
                           -2.0f,
                           3.0f,
                           -3.0f,
                           0.5f,
                           -0.5f,
                           1e30f,
                           -1e30f,
                           16777216.0f,
                           16777215.0f,
                           -16777215.0f,
                           1e-40f,
                           infinity,
                           -infinity,
                           std::numeric_limits<float>::quiet_NaN()};
  for (float x : special) {
    for (float y : special) {
      const float expected = static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(y)));
      const float actual = static_cast<float>(Pow(x, y));
      EXPECT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected)))
          << x << "^" << y << ": " << actual;
      EXPECT_EQ(std::isnan(actual) || std::signbit(actual), std::isnan(expected) || std::signbit(expected))
          << x << "^" << y;
      const float angle = static_cast<float>(Atan2(y, x));
      const float expected_angle = static_cast<float>(std::atan2(static_cast<double>(y), static_cast<double>(x)));
      EXPECT_TRUE(angle == expected_angle || (std::isnan(angle) && std::isnan(expected_angle)))
          << y << " " << x << ": " << angle;
      EXPECT_EQ(std::isnan(angle) || std::signbit(angle), std::isnan(expected_angle) || std::signbit(expected_angle));
    }
  }
}

TEST(MathTest, PowAndAtan2) {
  uint32_t state = 1;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  double worst = 0;
  for (int i = 0; i < 2000000; ++i) {
    const float x = std::exp(20.0f * (static_cast<float>(next() >> 8) / 8388608.0f - 1.0f));
    const float y = 8.0f * (static_cast<float>(next() >> 8) / 8388608.0f - 1.0f);
    const double expected = std::pow(static_cast<double>(x), static_cast<double>(y));
    if (std::isfinite(static_cast<float>(expected)) && static_cast<float>(expected) != 0) {
      worst = std::max(worst, Ulps(Pow(x, y), expected));
    }
    worst = std::max(worst, Ulps(Atan2(y, x), std::atan2(static_cast<double>(y), static_cast<double>(x))));
  }
  EXPECT_LT(worst, kLimit);
}

}  // namespace
}  // namespace cortex_m::portable
