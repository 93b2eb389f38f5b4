// Sine and cosine of any float32, the arc functions, and the error function.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "cortex_m/portable/math.h"

namespace cortex_m::portable {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kHalfPi = 1.57079632679489661923;
constexpr double kPi = 3.14159265358979323846;
// pi/2 in three parts: the first two have 30 bits, so that their products with a whole number below 2^23 are exact.
constexpr double kHalfPi1 = 0x1.921fb54p+0;
constexpr double kHalfPi2 = 0x1.10b46118p-30;
constexpr double kHalfPi3 = 0x1.313198a2e0370p-61;

// The bits of 2/pi after the binary point.
constexpr uint32_t kTwoOverPi[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB};

// 32 bits of 2/pi from bit `first` on; bit 1 has the weight 1/2, and before it all are 0.
uint32_t BitsOfTwoOverPi(int first) {
  uint32_t word = 0;
  for (int i = 0; i < 32; ++i) {
    const int bit = first + i - 1;
    word = word << 1 | (bit < 0 ? 0 : kTwoOverPi[bit / 32] >> (31 - bit % 32) & 1);
  }
  return word;
}

// x = quadrant * pi/2 + remainder with |remainder| <= pi/4; x finite.
double Reduce(double x, unsigned& quadrant) {
  const double magnitude = x < 0 ? -x : x;
  if (magnitude < 1048576.0) {
    const double scaled = x * (1 / kHalfPi);
    const int k = static_cast<int>(scaled + (scaled < 0 ? -0.5 : 0.5));
    quadrant = static_cast<unsigned>(k);
    return ((x - k * kHalfPi1) - k * kHalfPi2) - k * kHalfPi3;
  }
  // magnitude = m 2^e with a 24-bit integer m: the product with 2/pi, modulo 4, needs only a window of the bits of
  // 2/pi. Bits of weight 2^(2-e) and more give multiples of 4; those after the 96th add less than 2^-69.
  uint64_t bits;
  std::memcpy(&bits, &magnitude, sizeof bits);
  const int e = static_cast<int>(bits >> 52) - 1023 - 23;
  const uint64_t m = (bits >> 29 & 0x7FFFFF) | 0x800000;
  const int first = e - 1;
  const uint64_t low = m * BitsOfTwoOverPi(first + 64);
  const uint64_t middle = m * BitsOfTwoOverPi(first + 32) + (low >> 32);
  const uint64_t high = m * BitsOfTwoOverPi(first) + (middle >> 32);
  // Fixed point with 62 bits after the point, and 32 more in `low`.
  const uint64_t fixed = high << 32 | (middle & 0xFFFFFFFF);
  const uint64_t k = (fixed + (uint64_t{1} << 61)) >> 62;
  const int64_t rest = static_cast<int64_t>(fixed - (k << 62));
  const double fraction = static_cast<double>(rest) * 0x1p-62 + static_cast<double>(low & 0xFFFFFFFF) * 0x1p-94;
  quadrant = static_cast<unsigned>(x < 0 ? 4 - k : k);
  return (x < 0 ? -fraction : fraction) * kHalfPi;
}

// Taylor series for |r| <= pi/4 (and a little more): the first terms left out are below 1e-16 of the result.
double SinOfRemainder(double r) {
  const double square = r * r;
  double sum = 0;
  for (int n = 17; n >= 3; n -= 2) sum = (1 - sum) * square * (1.0 / (n * (n - 1)));
  return r - r * sum;
}
double CosOfRemainder(double r) {
  const double square = r * r;
  double sum = 0;
  for (int n = 18; n >= 2; n -= 2) sum = (1 - sum) * square * (1.0 / (n * (n - 1)));
  return 1 - sum;
}

// atan of 0 <= x <= 1: twice halved, by atan x = 2 atan(x / (1 + sqrt(1 + x^2))), to at most tan(pi/16) = 0.1989, then
// its series.
double AtanOfFraction(double x) {
  for (int i = 0; i < 2; ++i) x = x / (1 + std::sqrt(1 + x * x));
  const double square = x * x;
  double sum = 0;
  for (int n = 23; n >= 3; n -= 2) sum = (1.0 / n - sum) * square;
  return 4 * (x - x * sum);
}

}  // namespace

double Sin(double x) {
  if (x == 0) return x;
  if (!(x > -kInfinity && x < kInfinity)) return kNaN;
  unsigned quadrant;
  const double r = Reduce(x, quadrant);
  const double value = (quadrant & 1) != 0 ? CosOfRemainder(r) : SinOfRemainder(r);
  return (quadrant & 2) != 0 ? -value : value;
}

double Cos(double x) {
  if (!(x > -kInfinity && x < kInfinity)) return kNaN;
  unsigned quadrant;
  const double r = Reduce(x, quadrant);
  const double value = (quadrant & 1) != 0 ? SinOfRemainder(r) : CosOfRemainder(r);
  return ((quadrant + 1) & 2) != 0 ? -value : value;
}

double Tan(double x) {
  if (x == 0) return x;
  if (!(x > -kInfinity && x < kInfinity)) return kNaN;
  unsigned quadrant;
  const double r = Reduce(x, quadrant);
  const double sin = SinOfRemainder(r);
  const double cos = CosOfRemainder(r);
  return (quadrant & 1) != 0 ? -cos / sin : sin / cos;
}

double Atan(double x) {
  if (x == 0 || x != x) return x;
  const double magnitude = x < 0 ? -x : x;
  const double value = magnitude <= 1 ? AtanOfFraction(magnitude) : kHalfPi - AtanOfFraction(1 / magnitude);
  return x < 0 ? -value : value;
}

double Atan2(double y, double x) {
  if (x != x || y != y) return kNaN;
  const bool y_negative = std::signbit(y);
  const bool x_negative = std::signbit(x);
  const double a = y_negative ? -y : y;
  const double b = x_negative ? -x : x;
  double angle;
  if (a == 0 && b == 0) {
    angle = 0;
  } else if (a == b) {
    angle = kPi / 4;  // two infinities too
  } else {
    angle = a < b ? AtanOfFraction(a / b) : kHalfPi - AtanOfFraction(b / a);
  }
  if (x_negative) angle = kPi - angle;
  return y_negative ? -angle : angle;
}

double Asin(double x) {
  if (x == 0 || x != x) return x;
  if (x > 1 || x < -1) return kNaN;
  return Atan2(x, std::sqrt((1 - x) * (1 + x)));
}

double Acos(double x) {
  if (!(x <= 1 && x >= -1)) return kNaN;
  return Atan2(std::sqrt((1 - x) * (1 + x)), x);
}

double Asinh(double x) {
  if (x == 0 || x != x || x == kInfinity || x == -kInfinity) return x;
  const double magnitude = x < 0 ? -x : x;
  const double square = magnitude * magnitude;
  const double value = Log1p(magnitude + square / (1 + std::sqrt(1 + square)));
  return x < 0 ? -value : value;
}

double Acosh(double x) {
  if (!(x >= 1)) return kNaN;
  if (x == kInfinity) return x;
  const double above = x - 1;
  return Log1p(above + std::sqrt(above * (above + 2)));
}

// W. J. Cody, Rational Chebyshev approximations for the error function, Mathematics of Computation 23 (1969): relative
// error below 1e-15 in the three ranges.
namespace {

double SmallErf(double x) {  // |x| <= 0.46875
  constexpr double kP[] = {3.16112374387056560e00, 1.13864154151050156e02, 3.77485237685302021e02,
                           3.20937758913846947e03};
  constexpr double kQ[] = {2.36012909523441209e01, 2.44024637934444173e02, 1.28261652607737228e03,
                           2.84423683343917062e03};
  const double square = x * x;
  double p = 1.85777706184603153e-1 * square;
  double q = square;
  for (int i = 0; i < 3; ++i) {
    p = (p + kP[i]) * square;
    q = (q + kQ[i]) * square;
  }
  return x * (p + kP[3]) / (q + kQ[3]);
}

double LargeErfc(double x) {  // x > 0.46875
  if (x > 26) return 0;
  double ratio;
  if (x <= 4) {
    constexpr double kP[] = {5.64188496988670089e-1, 8.88314979438837594e00, 6.61191906371416295e01,
                             2.98635138197400131e02, 8.81952221241769090e02, 1.71204761263407058e03,
                             2.05107837782607147e03, 1.23033935479799725e03};
    constexpr double kQ[] = {1.57449261107098347e01, 1.17693950891312499e02, 5.37181101862009858e02,
                             1.62138957456669019e03, 3.29079923573345963e03, 4.36261909014324716e03,
                             3.43936767414372164e03, 1.23033935480374942e03};
    double p = 2.15311535474403846e-8 * x;
    double q = x;
    for (int i = 0; i < 7; ++i) {
      p = (p + kP[i]) * x;
      q = (q + kQ[i]) * x;
    }
    ratio = (p + kP[7]) / (q + kQ[7]);
  } else {
    constexpr double kP[] = {3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
                             1.60837851487422766e-2, 6.58749161529837803e-4};
    constexpr double kQ[] = {2.56852019228982242e00, 1.87295284992346725e00, 5.27905102951428412e-1,
                             6.05183413124413191e-2, 2.33520497626869185e-3};
    constexpr double kOneOverSqrtPi = 0.56418958354775628695;
    const double square = 1 / (x * x);
    double p = 1.63153871373020978e-2 * square;
    double q = square;
    for (int i = 0; i < 4; ++i) {
      p = (p + kP[i]) * square;
      q = (q + kQ[i]) * square;
    }
    ratio = (kOneOverSqrtPi - square * (p + kP[4]) / (q + kQ[4])) / x;
  }
  return Exp(-x * x) * ratio;
}

}  // namespace

double Erf(double x) {
  if (x != x || x == 0) return x;
  const double magnitude = x < 0 ? -x : x;
  if (magnitude <= 0.46875) return SmallErf(x);
  const double value = 1 - LargeErfc(magnitude);
  return x < 0 ? -value : value;
}

double Erfc(double x) {
  if (x != x) return x;
  if (x >= -0.46875 && x <= 0.46875) return 1 - SmallErf(x);
  return x < 0 ? 2 - LargeErfc(-x) : LargeErfc(x);
}

}  // namespace cortex_m::portable
