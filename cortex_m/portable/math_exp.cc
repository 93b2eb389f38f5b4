// Exponential, logarithm, and what is made of them.

#include <cstdint>
#include <cstring>
#include <limits>

#include "cortex_m/portable/math.h"

namespace cortex_m::portable {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLn2 = 0.693147180559945309417;
// ln 2 in two parts; the first has 33 bits, so that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fefp-1;
constexpr double kLn2Low = 0x1.473de6af278edp-34;
constexpr double kLog2E = 1.44269504088896340736;
constexpr double kLog10E = 0.43429448190325182765;

// 2^exponent, -1022 <= exponent <= 1023.
double PowerOfTwo(int exponent) {
  const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

int Nearest(double x) { return static_cast<int>(x + (x < 0 ? -0.5 : 0.5)); }

// e^r - 1 for |r| <= 0.35, by its Taylor series: the first term left out is r^13/13! < 2e-16 r.
double SmallExpm1(double r) {
  constexpr double kInverse[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                 1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      1.0 / 2};
  double sum = 0;
  for (double coefficient : kInverse) sum = sum * r + coefficient;
  return r + r * r * sum;
}

// 2 atanh(s) = ln((1 + s) / (1 - s)) for |s| <= 0.1716 = (sqrt(2) - 1) / (sqrt(2) + 1), by its series up to s^21.
double TwiceAtanh(double s) {
  const double square = s * s;
  double sum = 0;
  for (int n = 21; n >= 3; n -= 2) sum = (sum + 1.0 / n) * square;
  return 2 * s + 2 * s * sum;
}

// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for a positive, finite, normal x.
double Split(double x, int& exponent) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  exponent = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1023} << 52);
  double mantissa;
  std::memcpy(&mantissa, &bits, sizeof mantissa);
  if (mantissa >= 1.41421356237309504880) {
    mantissa *= 0.5;
    ++exponent;
  }
  return mantissa;
}

// For what has no finite logarithm: true, and the result.
bool IsSpecial(double x, double& result) {
  if (x > 0 && x < kInfinity) return false;
  result = x == 0 ? -kInfinity : (x > 0 ? kInfinity : kNaN);
  return true;
}

double LogOfMantissa(double m) { return TwiceAtanh((m - 1) / (m + 1)); }

}  // namespace

double Exp(double x) {
  if (x != x) return x;
  if (x > 709) return kInfinity;
  if (x < -708) return 0;
  const int k = Nearest(x * kLog2E);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  return (1 + SmallExpm1(r)) * PowerOfTwo(k);
}

double Expm1(double x) {
  if (x > -0.35 && x < 0.35) return x == 0 ? x : SmallExpm1(x);
  return Exp(x) - 1;
}

double Log(double x) {
  double result;
  if (IsSpecial(x, result)) return result;
  int e;
  const double m = Split(x, e);
  return LogOfMantissa(m) + e * kLn2;
}

double Log2(double x) {
  double result;
  if (IsSpecial(x, result)) return result;
  int e;
  const double m = Split(x, e);
  return LogOfMantissa(m) * kLog2E + e;
}

double Log10(double x) {
  double result;
  if (IsSpecial(x, result)) return result;
  int e;
  const double m = Split(x, e);
  return LogOfMantissa(m) * kLog10E + e * (kLn2 * kLog10E);
}

double Log1p(double x) {
  if (x > -0.25 && x < 0.25) return x == 0 ? x : TwiceAtanh(x / (2 + x));
  return Log(1 + x);
}

double Sinh(double x) {
  if (x > -0.35 && x < 0.35) {
    const double e = Expm1(x);
    return x == 0 ? x : 0.5 * (e + e / (1 + e));
  }
  return 0.5 * (Exp(x) - Exp(-x));
}

double Cosh(double x) { return 0.5 * (Exp(x) + Exp(-x)); }

double Tanh(double x) {
  if (x != x || x == 0) return x;
  if (x > 20) return 1;
  if (x < -20) return -1;
  const double e = Expm1(2 * x);
  return e / (e + 2);
}

double Sigmoid(double x) { return 1 / (1 + Exp(-x)); }

double Atanh(double x) {
  if (x == 0 || x != x) return x;
  const double magnitude = x < 0 ? -x : x;
  if (magnitude > 1) return kNaN;
  const double result = magnitude == 1 ? kInfinity : 0.5 * Log1p(2 * magnitude / (1 - magnitude));
  return x < 0 ? -result : result;
}

double Pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return kNaN;
  const double magnitude = x < 0 ? -x : x;
  const double y_magnitude = y < 0 ? -y : y;
  // Floats of 2^24 and more are even integers, all of them whole.
  const bool whole = y_magnitude >= 16777216.0 || static_cast<double>(static_cast<int64_t>(y)) == y;
  const bool odd = y_magnitude < 16777216.0 && whole && (static_cast<int64_t>(y) & 1) != 0;
  if (y_magnitude == kInfinity) {
    if (magnitude == 1) return 1;
    return (magnitude > 1) == (y > 0) ? kInfinity : 0;
  }
  // The sign of x, which a zero has too.
  const bool negative = x < 0 || (x == 0 && 1 / x < 0);
  double result;
  if (magnitude == 0 || magnitude == kInfinity) {
    result = (magnitude == 0) == (y > 0) ? 0 : kInfinity;
  } else {
    if (x < 0 && !whole) return kNaN;
    result = Exp(y * Log(magnitude));
  }
  return negative && odd ? -result : result;
}

}  // namespace cortex_m::portable
