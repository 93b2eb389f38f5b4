#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

using cortex_m_nn_test::Clamp;
using cortex_m_nn_test::Random;
using cortex_m_nn_test::Requantize;

const std::vector<int32_t> kMultipliers = {1 << 30, 0, -1518500250, 1431655765, 1 << 30};
const std::vector<int32_t> kShifts = {-1, 0, -2, 1, -31};

struct Parameters {
  int64_t dim = 1, zp_in = 12, zp_out = -7, m = 0x60000000, s = 0;
};

Status Prelu(const Parameters& p, const Tensor& input, const Tensor& multipliers, const Tensor& shifts,
             const Tensor& out) {
  KernelContext context;
  return quantized_prelu_out(context, input, p.dim, p.zp_in, p.zp_out, p.m, p.s, multipliers, shifts, out);
}

int8_t Expected(const Parameters& p, int8_t x, int channel) {
  const int64_t value = x - p.zp_in;
  const int64_t result = value >= 0 ? Requantize(value, static_cast<int32_t>(p.m), static_cast<int32_t>(p.s))
                                    : Requantize(value, kMultipliers[channel], kShifts[channel]);
  return static_cast<int8_t>(Clamp(result + p.zp_out, -128, 127));
}

struct Shape {
  Sizes sizes;
  Order order;
  int64_t dim;
};

TEST(QuantizedPrelu, ChannelsInnermostInAnyLayout) {
  TestTensor<int32_t> multipliers({5}, kMultipliers), shifts({5}, kShifts);
  for (const auto& [sizes, order, dim] :
       {Shape{{7, 5}, {0, 1}, 1}, Shape{{2, 3, 4, 5}, {0, 1, 2, 3}, -1}, Shape{{2, 5, 3, 4}, kNhwcOrder, 1},
        Shape{{2, 5, 1, 1}, {0, 1, 2, 3}, 1}, Shape{{5}, {0}, 0}, Shape{{2, 5, 3}, {0, 2, 1}, -2}}) {
    Parameters p;
    p.dim = dim;
    size_t count = 1;
    for (int32_t size : sizes) count *= static_cast<size_t>(size);
    TestTensor<int8_t> input(sizes, order, Random(5).Bytes(count)), out(sizes, order);
    ExpectOk(Prelu(p, *input, *multipliers, *shifts, *out));
    const size_t channel_dim = static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(sizes.size()) : dim);
    for (const std::vector<int>& index : Indices(sizes)) {
      ASSERT_EQ(out.at(index), Expected(p, input.at(index), index[channel_dim]));
    }
    cortex_m_nn_test::ExpectMostlyInsideRange(out.memory());
    EXPECT_TRUE(out.intact());
  }
}

TEST(QuantizedPrelu, NothingToDo) {
  TestTensor<int8_t> input({0, 5}), out({0, 5});
  TestTensor<int32_t> multipliers({5}, kMultipliers), shifts({5}, kShifts);
  ExpectOk(Prelu({}, *input, *multipliers, *shifts, *out));
}

TEST(QuantizedPrelu, Refusals) {
  TestTensor<int8_t> in({2, 5}, std::vector<int8_t>(10, 1)), out({2, 5}), image({2, 5, 3, 3}), image_out({2, 5, 3, 3});
  TestTensor<int8_t> other({5, 2}), bytes({5});
  TestTensor<int16_t> wide({2, 5});
  TestTensor<int32_t> multipliers({5}, kMultipliers), shifts({5}, kShifts), few({4});
  const auto refused = [&](auto&& change, const char* text) {
    Parameters p;
    change(p);
    ExpectRefused(Prelu(p, *in, *multipliers, *shifts, *out), text);
  };
  using P = Parameters;
  refused([](P& p) { p.dim = 2; }, "no dimension");
  refused([](P& p) { p.dim = -3; }, "no dimension");
  refused([](P& p) { p.dim = INT64_MIN; }, "no dimension");
  refused([](P& p) { p.dim = 0; }, "not neighbours");
  refused([](P& p) { p.zp_in = -129; }, "a zero point");
  refused([](P& p) { p.zp_out = 128; }, "a zero point");
  refused([](P& p) { p.m = -(int64_t{1} << 31); }, "a multiplier");
  refused([](P& p) { p.m = int64_t{1} << 31; }, "a multiplier");
  refused([](P& p) { p.s = -32; }, "a shift");
  ExpectRefused(Prelu({}, *wide, *multipliers, *shifts, *out), "must be int8");
  ExpectRefused(Prelu({}, *in, *multipliers, *shifts, *wide), "must be int8");
  ExpectRefused(Prelu({}, *in, *multipliers, *shifts, *other), "different sizes");
  ExpectRefused(Prelu({}, *image, *multipliers, *shifts, *image_out), "not neighbours");
  ExpectRefused(Prelu({}, *in, *few, *shifts, *out), "one for each index");
  ExpectRefused(Prelu({}, *in, *multipliers, *few, *out), "one for each index");
  ExpectRefused(Prelu({}, *in, *bytes, *shifts, *out), "must be contiguous int32");
  for (const auto& [m, s] : {std::pair{INT32_MIN, 0}, std::pair{1 << 30, 31}, std::pair{1 << 30, -32}}) {
    std::vector<int32_t> ms = kMultipliers, ss = kShifts;
    ms[4] = m;
    ss[4] = s;
    TestTensor<int32_t> bad_multipliers({5}, ms), bad_shifts({5}, ss);
    ExpectRefused(Prelu({}, *in, *bad_multipliers, *bad_shifts, *out), "a multiplier");
  }
  EXPECT_TRUE(out.untouched() && image_out.untouched());
}

}  // namespace
}  // namespace cortex_m::ops
