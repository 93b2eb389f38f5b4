#include "cortex_m/ops/broadcast_test_util.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {
namespace {

using cortex_m_nn_test::Clamp;
using cortex_m_nn_test::Requantize;

struct Parameters {
  int64_t zp_a = -7, m_a = 0x50000000, s_a = -1, zp_b = 12, m_b = 0x7A000000, s_b = -2;
  int64_t zp_out = 3, m_out = 0x60000000, s_out = -18, min = -120, max = 118;
};

Status Add(const Parameters& p, const Tensor& a, const Tensor& b, const Tensor& out) {
  KernelContext context;
  return quantized_add_out(context, a, p.zp_a, p.m_a, p.s_a, b, p.zp_b, p.m_b, p.s_b, p.zp_out, p.m_out, p.s_out, p.min,
                           p.max, out);
}

int8_t Expected(const Parameters& p, int8_t a, int8_t b) {
  const auto scaled = [](int64_t value, int64_t zp, int64_t m, int64_t s) {
    return Requantize((value - zp) * (1 << 20), static_cast<int32_t>(m), static_cast<int32_t>(s));
  };
  const int64_t sum = scaled(a, p.zp_a, p.m_a, p.s_a) + scaled(b, p.zp_b, p.m_b, p.s_b);
  const int64_t value = Requantize(sum, static_cast<int32_t>(p.m_out), static_cast<int32_t>(p.s_out)) + p.zp_out;
  return static_cast<int8_t>(Clamp(value, p.min, p.max));
}

TEST(QuantizedAdd, AnyShapesThatBroadcastInAnyDimOrder) {
  const Parameters p;
  std::vector<int8_t> all;
  for (const Operands& operands : BroadcastCases()) {
    const std::vector<int8_t> values = ExpectElementwise<int8_t>(
        operands, [&](Tensor& a, Tensor& b, Tensor& out) { return Add(p, a, b, out); },
        [&](int8_t a, int8_t b) { return Expected(p, a, b); });
    all.insert(all.end(), values.begin(), values.end());
  }
  cortex_m_nn_test::ExpectMostlyInsideRange(all, -120, 118);
}

TEST(QuantizedAdd, Refusals) {
  TestTensor<int8_t> a({1, 2, 3, 4}, std::vector<int8_t>(24, 1)), other({1, 2, 4, 3});
  TestTensor<int8_t> channel({1, 2, 1, 1}), row({1, 1, 1, 4}), out({1, 2, 3, 4}), flat({24}), more({1, 1, 2, 3, 4});
  TestTensor<int16_t> wide({1, 2, 3, 4});
  const auto refused = [&](auto&& change, const char* text) {
    Parameters p;
    change(p);
    ExpectRefused(Add(p, *a, *a, *out), text);
  };
  using P = Parameters;
  refused([](P& p) { p.zp_a = 128; }, "a zero point");
  refused([](P& p) { p.zp_b = INT64_MIN; }, "a zero point");
  refused([](P& p) { p.m_a = int64_t{1} << 31; }, "operand's multiplier");
  refused([](P& p) { p.s_b = 31; }, "operand's multiplier");
  refused([](P& p) { p.zp_out = -129; }, "the output's zero point");
  refused([](P& p) { p.s_out = -32; }, "the output's zero point");
  refused([](P& p) { p.min = -129; }, "activation range");
  ExpectRefused(Add({}, *wide, *a, *out), "must be int8");
  ExpectRefused(Add({}, *a, *a, *wide), "must be int8");
  ExpectRefused(Add({}, *a, *other, *out), "do not broadcast");
  ExpectRefused(Add({}, *a, *flat, *out), "do not broadcast");
  ExpectRefused(Add({}, *a, *a, *flat), "do not broadcast");
  ExpectRefused(Add({}, *channel, *row, *a), "do not broadcast");  // a 3 that neither operand has
  ExpectRefused(Add({}, *a, *more, *out), "do not broadcast");
  EXPECT_TRUE(out.untouched());
}

}  // namespace
}  // namespace cortex_m::ops
