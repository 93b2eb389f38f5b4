#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

// The TensorFlow Lite reference again, in its own terms: each product is the rounding doubling high multiplication by
// truncated division, each fixed-point number is checked to stay in range.
class Reference {
 public:
  static int64_t Multiply(int64_t a, int64_t b) {
    const __int128 product = static_cast<__int128>(a) * b;
    const __int128 nudge = product >= 0 ? (1 << 30) : 1 - (1 << 30);
    return InRange(static_cast<int64_t>((product + nudge) / (int64_t{1} << 31)));
  }

  static int64_t Exp(int64_t a) {  // Q5.26, a <= 0, to Q0.31
    if (a == 0) return INT32_MAX;
    const int64_t quarter = 1 << 24;
    int64_t part = a % quarter;  // (-1/4, 0]
    if (part == 0) part = -quarter;
    part = part < -quarter || part >= 0 ? -quarter : part;
    const int64_t quarters = (part - a) / quarter;
    const int64_t x = part * 32 + (int64_t{1} << 28);
    const int64_t c = std::llround(std::exp(-0.125) * std::ldexp(1.0, 31));
    const int64_t third = std::llround(std::ldexp(1.0, 31) / 3);
    const int64_t x2 = Multiply(x, x), x3 = Multiply(x2, x), x4 = Multiply(x2, x2);
    const int64_t tail = DivideHalvesAway(Multiply(DivideHalvesAway(x4, 2) + x3, third) + x2, 1);
    int64_t result = InRange(c + Multiply(c, x + tail));
    double power = 0.25;
    for (int bit = 0; bit < 7; ++bit, power *= 2) {
      if (quarters >> bit & 1) result = Multiply(result, std::llround(std::exp(-power) * std::ldexp(1.0, 31)));
    }
    return result;
  }

  static int64_t Reciprocal(int64_t a) {  // 1 / (1 + a), Q0.31
    const int64_t half = (a + INT32_MAX + 1) / 2;
    int64_t x = 1515870810 + Multiply(half, -1010580540);
    for (int i = 0; i < 3; ++i) {
      x = InRange(x + InRange(4 * Multiply(x, (int64_t{1} << 29) - Multiply(half, x))));
    }
    return std::min<int64_t>(2 * x, INT32_MAX);
  }

  static std::vector<int8_t> Row(const std::vector<int8_t>& x, int32_t multiplier, int32_t shift, int32_t diff_min) {
    int max = -128;
    for (int8_t value : x) max = std::max<int>(max, value);
    const auto exp_of = [&](int diff) { return Exp(Multiply(diff * (int64_t{1} << shift), multiplier)); };
    int64_t sum = 0;
    for (int8_t value : x) {
      if (value - max >= diff_min) sum += DivideHalvesAway(exp_of(value - max), 12);
    }
    int zeros = 0;
    while ((sum << zeros & 0x80000000) == 0) ++zeros;
    const int64_t scale = Reciprocal((sum << zeros) - (int64_t{1} << 31));
    std::vector<int8_t> out;
    for (int8_t value : x) {
      int64_t probability = 0;
      if (value - max >= diff_min) {
        probability = DivideHalvesAway(Multiply(scale, exp_of(value - max)), 12 - zeros + 31 - 8);
      }
      out.push_back(static_cast<int8_t>(Clamp(probability - 128, -128, 127)));
    }
    return out;
  }

 private:
  static int64_t InRange(int64_t value) {
    EXPECT_LE(value, INT32_MAX);
    EXPECT_GE(value, INT32_MIN);
    return value;
  }
};

struct Scale {
  int32_t multiplier, shift, diff_min;
};

// As an exporter does: scale * 2^26 as multiplier and shift; differences below -31 count as zero.
Scale ForScale(double scale) {
  int exponent = 0;
  const double mantissa = std::frexp(std::fmin(scale * (1 << 26), 2147483647.0), &exponent);
  const int32_t multiplier = static_cast<int32_t>(std::fmin(std::round(mantissa * std::ldexp(1.0, 31)), 2147483647.0));
  return {multiplier, exponent, static_cast<int32_t>(-std::floor(31.0 * (1 << 26) / std::ldexp(1.0, exponent)))};
}

const double kScales[] = {0.0039, 0.02, 0.047, 0.1, 0.25, 0.7};

TEST(ArmSoftmaxS8, EveryRowEqualsTheReference) {
  Random random(31);
  for (double scale : kScales) {
    for (int size : {1, 2, 3, 5, 10, 19, 64, 257, 500}) {
      const Scale s = ForScale(scale);
      const int rows = 5;
      std::vector<int8_t> input, expected;
      for (int row = 0; row < rows; ++row) {
        const std::vector<int8_t> x = random.Bytes(size, -60 - row, 20 + row);
        const std::vector<int8_t> y = Reference::Row(x, s.multiplier, s.shift, s.diff_min);
        input.insert(input.end(), x.begin(), x.end());
        expected.insert(expected.end(), y.begin(), y.end());
      }
      Guarded output(input.size());
      arm_softmax_s8(input.data(), rows, size, s.multiplier, s.shift, s.diff_min, output.data());
      EXPECT_EQ(output.values(), expected) << "scale " << scale << ", size " << size;
      EXPECT_TRUE(output.intact());
    }
  }
}

// Against exp itself, over every difference of two logits.
TEST(ArmSoftmaxS8, IsWithinOneStepOfTheRealSoftmax) {
  int inside = 0, total = 0;
  for (double scale : kScales) {
    const Scale s = ForScale(scale);
    for (int diff = 0; diff <= 255; ++diff) {
      const int8_t input[3] = {127, static_cast<int8_t>(127 - diff), static_cast<int8_t>(127 - diff / 2)};
      int8_t output[3];
      arm_softmax_s8(input, 1, 3, s.multiplier, s.shift, s.diff_min, output);
      double sum = 0;
      for (int8_t value : input) sum += std::exp((value - 127) * scale);
      for (int i = 0; i < 3; ++i) {
        const double real = std::exp((input[i] - 127) * scale) / sum * 256 - 128;
        ASSERT_NEAR(output[i], std::fmin(real, 127), 0.51) << "scale " << scale << ", difference " << diff;
        inside += output[i] > -128 && output[i] < 127;
        ++total;
      }
    }
  }
  EXPECT_GT(2 * inside, total);
}

TEST(ArmSoftmaxS8, ManyEqualLogitsRoundToZero) {
  const Scale s = ForScale(0.1);
  for (int size : {511, 512, 513, 1000, 4096, 8191}) {
    const std::vector<int8_t> input(size, 7);
    Guarded output(size);
    arm_softmax_s8(input.data(), 1, size, s.multiplier, s.shift, s.diff_min, output.data());
    EXPECT_EQ(output.values(), std::vector<int8_t>(size, size < 512 ? -127 : -128)) << size;
    EXPECT_TRUE(output.intact());
  }
}

TEST(ArmSoftmaxS8, RefusesAndWritesNothing) {
  const std::vector<int8_t> input(9000, 1);
  const auto refused = [&](int32_t size, int32_t multiplier, int32_t shift, int32_t diff_min) {
    Guarded output(input.size());
    arm_softmax_s8(input.data(), 1, size, multiplier, shift, diff_min, output.data());
    EXPECT_TRUE(output.untouched());
  };
  refused(8192, 1 << 30, 20, -100);
  refused(0, 1 << 30, 20, -100);
  refused(10, -1, 20, -100);
  refused(10, 1 << 30, 31, -100);
  refused(10, 1 << 30, -1, -100);
  refused(10, 1 << 30, 20, 1);
}

}  // namespace
}  // namespace cortex_m_nn_test
