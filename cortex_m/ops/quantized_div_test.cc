// Expected values are exact: float32 operations rounded from products and quotients in integers and double, halves away from 0.
#include <cmath>

#include "cortex_m/ops/broadcast_test_util.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {
namespace {

struct Parameters {
  int64_t zp_a = -7, zp_b = 12, zp_out = 3;
  double scale = 40.7;
};

Status Div(const Parameters& p, const Tensor& a, const Tensor& b, const Tensor& out) {
  KernelContext context;
  return quantized_div_out(context, a, p.zp_a, b, p.zp_b, p.zp_out, p.scale, out);
}

template <typename T>
T Expected(const Parameters& p, T a, T b) {
  const int64_t numerator = a - p.zp_a, denominator = b - p.zp_b;
  int64_t value = p.zp_out;
  if (denominator != 0) {
    // A quotient or product of float32 numbers that is first rounded to double rounds to the same float32 number.
    const float quotient = static_cast<float>(static_cast<double>(numerator) / static_cast<double>(denominator));
    const float product = static_cast<float>(static_cast<double>(quotient) * static_cast<float>(p.scale));
    const double bounded = std::fmin(std::fmax(static_cast<double>(product), -1e6), 1e6);
    value += static_cast<int64_t>(bounded < 0 ? -std::floor(-bounded + 0.5) : std::floor(bounded + 0.5));
  }
  const int64_t low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(value < low ? low : value > high ? high : value);
}

template <typename T>
void TestBroadcasting(const Parameters& p) {
  std::vector<T> all;
  for (const Operands& operands : BroadcastCases()) {
    const std::vector<T> values = ExpectElementwise<T>(
        operands, [&](Tensor& a, Tensor& b, Tensor& out) { return Div(p, a, b, out); },
        [&](T a, T b) { return Expected<T>(p, a, b); });
    all.insert(all.end(), values.begin(), values.end());
  }
  size_t saturated = 0;
  for (T value : all) saturated += value == std::numeric_limits<T>::min() || value == std::numeric_limits<T>::max();
  EXPECT_LT(2 * saturated, all.size());
}

TEST(QuantizedDiv, AnyShapesThatBroadcastInt8) { TestBroadcasting<int8_t>({}); }
TEST(QuantizedDiv, AnyShapesThatBroadcastInt16) { TestBroadcasting<int16_t>({-700, 1200, 30, 5113.25}); }

TEST(QuantizedDiv, EveryPair) {
  std::vector<int8_t> bytes;
  for (int x = -128; x <= 127; ++x) bytes.push_back(static_cast<int8_t>(x));
  TestTensor<int8_t> a({256, 1}, bytes), b({256}, bytes), out({256, 256});
  for (const Parameters& p :
       {Parameters{}, Parameters{0, 0, 0, 0.5}, Parameters{-128, 127, 9, 77.77}, Parameters{0, 0, 0, 3e38}}) {
    ExpectOk(Div(p, *a, *b, *out));
    for (int x = 0; x < 256; ++x) {
      for (int y = 0; y < 256; ++y) ASSERT_EQ(out.at({x, y}), Expected<int8_t>(p, bytes[x], bytes[y]));
    }
  }
}

TEST(QuantizedDiv, HalvesGoAwayFromZeroAndADivisionByZeroGivesZero) {
  TestTensor<int8_t> a({6}, std::vector<int8_t>{1, -1, 3, -3, 5, 100}), b({6}, std::vector<int8_t>{2, 2, 2, 2, 0, 0}),
      out({6});
  ExpectOk(Div({0, 0, 7, 1.0}, *a, *b, *out));
  EXPECT_EQ(out.memory(), (std::vector<int8_t>{8, 6, 9, 5, 7, 7}));
}

TEST(QuantizedDiv, Refusals) {
  TestTensor<int8_t> a({2, 3}, std::vector<int8_t>(6, 1)), other({2, 2}), out({2, 3});
  TestTensor<int16_t> wide({2, 3}), wide_out({2, 3});
  TestTensor<int32_t> word({2, 3});
  const auto refused = [&](auto&& change, const char* text) {
    Parameters p;
    change(p);
    ExpectRefused(Div(p, *a, *a, *out), text);
  };
  using P = Parameters;
  refused([](P& p) { p.zp_a = 128; }, "a zero point");
  refused([](P& p) { p.zp_b = INT64_MIN; }, "a zero point");
  refused([](P& p) { p.zp_out = -129; }, "a zero point");
  refused([](P& p) { p.scale = 0; }, "the scale");
  refused([](P& p) { p.scale = -1; }, "the scale");
  refused([](P& p) { p.scale = 1e-39; }, "the scale");
  refused([](P& p) { p.scale = 1e39; }, "the scale");
  refused([](P& p) { p.scale = std::nan(""); }, "the scale");
  ExpectRefused(Div({}, *wide, *a, *out), "int8, or all three int16");
  ExpectRefused(Div({}, *a, *a, *wide_out), "int8, or all three int16");
  ExpectRefused(Div({}, *word, *word, *word), "int8, or all three int16");
  ExpectRefused(Div({40000, 0, 0, 1}, *wide, *wide, *wide_out), "a zero point");
  ExpectRefused(Div({}, *a, *other, *out), "do not broadcast");
  EXPECT_TRUE(out.untouched() && wide_out.untouched());
}

}  // namespace
}  // namespace cortex_m::ops
