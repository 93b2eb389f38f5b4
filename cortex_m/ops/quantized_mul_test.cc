#include "cortex_m/ops/broadcast_test_util.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {
namespace {

using cortex_m_nn_test::Clamp;
using cortex_m_nn_test::Requantize;

struct Parameters {
  int64_t zp_a = -7, zp_b = 12, zp_out = 3, m = 0x60000000, s = -7;
};

Status Mul(const Parameters& p, const Tensor& a, const Tensor& b, const Tensor& out) {
  KernelContext context;
  return quantized_mul_out(context, a, p.zp_a, b, p.zp_b, p.zp_out, p.m, p.s, out);
}

int8_t Expected(const Parameters& p, int8_t a, int8_t b) {
  const int64_t product = (a - p.zp_a) * (b - p.zp_b);
  const int64_t value = Requantize(product, static_cast<int32_t>(p.m), static_cast<int32_t>(p.s)) + p.zp_out;
  return static_cast<int8_t>(Clamp(value, -128, 127));
}

TEST(QuantizedMul, AnyShapesThatBroadcastInAnyDimOrder) {
  const Parameters p;
  std::vector<int8_t> all;
  for (const Operands& operands : BroadcastCases()) {
    const std::vector<int8_t> values = ExpectElementwise<int8_t>(
        operands, [&](Tensor& a, Tensor& b, Tensor& out) { return Mul(p, a, b, out); },
        [&](int8_t a, int8_t b) { return Expected(p, a, b); });
    all.insert(all.end(), values.begin(), values.end());
  }
  cortex_m_nn_test::ExpectMostlyInsideRange(all, -128, 127);
}

TEST(QuantizedMul, EveryPair) {
  std::vector<int8_t> bytes;
  for (int x = -128; x <= 127; ++x) bytes.push_back(static_cast<int8_t>(x));
  TestTensor<int8_t> a({256, 1}, bytes), b({256}, bytes), out({256, 256});
  for (const Parameters& p :
       {Parameters{}, Parameters{-128, 127, -3, 0x5A827999, -8}, Parameters{5, 5, 0, -0x40000001, -7}}) {
    ExpectOk(Mul(p, *a, *b, *out));
    for (int x = 0; x < 256; ++x) {
      for (int y = 0; y < 256; ++y) ASSERT_EQ(out.at({x, y}), Expected(p, bytes[x], bytes[y]));
    }
  }
}

TEST(QuantizedMul, Refusals) {
  TestTensor<int8_t> a({2, 3}, std::vector<int8_t>(6, 1)), other({2, 2}), out({2, 3});
  TestTensor<int16_t> wide({2, 3});
  const auto refused = [&](auto&& change, const char* text) {
    Parameters p;
    change(p);
    ExpectRefused(Mul(p, *a, *a, *out), text);
  };
  using P = Parameters;
  refused([](P& p) { p.zp_a = 128; }, "a zero point");
  refused([](P& p) { p.zp_b = INT64_MIN; }, "a zero point");
  refused([](P& p) { p.zp_out = -129; }, "a zero point");
  refused([](P& p) { p.m = -(int64_t{1} << 31); }, "multiplier");
  refused([](P& p) { p.s = 31; }, "multiplier");
  ExpectRefused(Mul({}, *wide, *a, *out), "must be int8");
  ExpectRefused(Mul({}, *a, *a, *wide), "must be int8");
  ExpectRefused(Mul({}, *a, *other, *out), "do not broadcast");
  EXPECT_TRUE(out.untouched());
}

}  // namespace
}  // namespace cortex_m::ops
