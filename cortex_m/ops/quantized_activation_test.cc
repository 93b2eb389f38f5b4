#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

using cortex_m_nn_test::Random;

Status Activation(const Tensor& input, const Tensor& lut, const Tensor& out) {
  KernelContext context;
  return quantized_activation_out(context, input, lut, out);
}

TEST(QuantizedActivation, EveryInput) {
  Random random(3);
  const std::vector<int8_t> table = random.Bytes(256);
  std::vector<int8_t> inputs, expected;
  for (int i = 0; i < 256; ++i) inputs.push_back(static_cast<int8_t>(i * 37));  // each once
  for (int8_t x : inputs) expected.push_back(table[static_cast<size_t>(x + 128)]);
  TestTensor<int8_t> lut({256}, table), in({2, 4, 8, 4}, kNhwcOrder, inputs), out({2, 4, 8, 4}, kNhwcOrder);
  ExpectOk(Activation(*in, *lut, *out));
  EXPECT_EQ(out.memory(), expected);
  EXPECT_TRUE(out.intact());
}

TEST(QuantizedActivation, EveryLength) {
  Random random(4);
  const std::vector<int8_t> table = random.Bytes(256);
  TestTensor<int8_t> lut({256}, table);
  for (int32_t count = 0; count < 40; ++count) {
    TestTensor<int8_t> in({count}, random.Bytes(static_cast<size_t>(count))), out({count});
    ExpectOk(Activation(*in, *lut, *out));
    for (int32_t i = 0; i < count; ++i) ASSERT_EQ(out.at({i}), table[static_cast<size_t>(in.at({i}) + 128)]);
    EXPECT_TRUE(out.intact());
  }
}

TEST(QuantizedActivation, Refusals) {
  TestTensor<int8_t> in({4}, std::vector<int8_t>(4, 1)), lut({256}, std::vector<int8_t>(256, 1)), small({255}),
      out({4}), more({5});
  TestTensor<int16_t> wide({4}), wide_lut({256});
  ExpectRefused(Activation(*wide, *lut, *out), "must be int8");
  ExpectRefused(Activation(*in, *wide_lut, *out), "must be int8");
  ExpectRefused(Activation(*in, *lut, *wide), "must be int8");
  ExpectRefused(Activation(*in, *small, *out), "256 entries");
  ExpectRefused(Activation(*in, *lut, *more), "different sizes");
  EXPECT_TRUE(out.untouched() && more.untouched());
}

}  // namespace
}  // namespace cortex_m::ops
