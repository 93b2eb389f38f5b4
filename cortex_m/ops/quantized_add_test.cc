#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

using cortex_m_nn_test::Clamp;
using cortex_m_nn_test::Random;
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

// Sums of the logical elements of both, the smaller one repeated.
void ExpectSums(const Sizes& a_sizes, const Order& a_order, const Sizes& b_sizes, const Order& b_order,
                const Order& out_order) {
  Random random(47);
  const Parameters p;
  TestTensor<int8_t> a(a_sizes, a_order), b(b_sizes, b_order);
  const std::vector<int8_t> a_values = random.Bytes(a.memory().size()), b_values = random.Bytes(b.memory().size());
  std::memcpy(a->data, a_values.data(), a_values.size());
  std::memcpy(b->data, b_values.data(), b_values.size());
  const Sizes& sizes = a_values.size() >= b_values.size() ? a_sizes : b_sizes;
  TestTensor<int8_t> out(sizes, out_order);
  ExpectOk(Add(p, *a, *b, *out));
  const auto clip = [](std::vector<int> index, const Sizes& limits) {
    for (size_t i = 0; i < index.size(); ++i) index[i] = limits[i] == 1 ? 0 : index[i];
    return index;
  };
  std::vector<int8_t> all;
  for (const std::vector<int>& index : Indices(sizes)) {
    all.push_back(Expected(p, a.at(clip(index, a_sizes)), b.at(clip(index, b_sizes))));
    ASSERT_EQ(out.at(index), all.back());
  }
  cortex_m_nn_test::ExpectMostlyInsideRange(all, -120, 118);
  EXPECT_TRUE(out.intact());
}

TEST(QuantizedAdd, SameShapeAnyDimOrder) {
  ExpectSums({2, 3, 4, 5}, LogicalOrder(4), {2, 3, 4, 5}, LogicalOrder(4), LogicalOrder(4));
  ExpectSums({2, 3, 4, 5}, kNhwcOrder, {2, 3, 4, 5}, kNhwcOrder, kNhwcOrder);
  ExpectSums({1, 1, 4, 5}, kNhwcOrder, {1, 1, 4, 5}, LogicalOrder(4), Order{0, 2, 1, 3});  // the same places
  ExpectSums({7}, {0}, {7}, {0}, {0});
  ExpectSums({}, {}, {}, {}, {});
}

TEST(QuantizedAdd, AValueForEachChannel) {
  ExpectSums({2, 3, 4, 5}, kNhwcOrder, {1, 3, 1, 1}, LogicalOrder(4), kNhwcOrder);
  ExpectSums({1, 3, 1, 1}, kNhwcOrder, {2, 3, 4, 5}, kNhwcOrder, kNhwcOrder);  // the smaller one first
  ExpectSums({2, 4, 5, 3}, LogicalOrder(4), {1, 1, 1, 3}, LogicalOrder(4), LogicalOrder(4));
  ExpectSums({4, 6}, LogicalOrder(2), {1, 6}, LogicalOrder(2), LogicalOrder(2));
  ExpectSums({2, 3, 2, 2}, kNhwcOrder, {1, 1, 1, 1}, LogicalOrder(4), kNhwcOrder);  // one value
}

TEST(QuantizedAdd, NothingToAdd) {
  TestTensor<int8_t> empty({2, 0, 3}), out({2, 0, 3});
  ExpectOk(Add({}, *empty, *empty, *out));
}

TEST(QuantizedAdd, Refusals) {
  TestTensor<int8_t> a({1, 2, 3, 4}, std::vector<int8_t>(24, 1)), other({1, 2, 4, 3}), permuted({1, 2, 3, 4}, kNhwcOrder);
  TestTensor<int8_t> channel({1, 2, 1, 1}), row({1, 1, 1, 4}), out({1, 2, 3, 4}), flat({24});
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
  ExpectRefused(Add({}, *a, *other, *out), "neither one shape");
  ExpectRefused(Add({}, *a, *permuted, *out), "neither one shape");
  ExpectRefused(Add({}, *a, *channel, *out), "neither one shape");         // channels are not innermost in NCHW memory
  ExpectRefused(Add({}, *permuted, *row, *permuted), "neither one shape");  // nor columns in NHWC memory
  ExpectRefused(Add({}, *a, *flat, *out), "neither one shape");
  ExpectRefused(Add({}, *a, *a, *permuted), "output has another shape or dim order");
  ExpectRefused(Add({}, *a, *a, *flat), "output has another shape or dim order");
  EXPECT_TRUE(out.untouched());
}

}  // namespace
}  // namespace cortex_m::ops
