#include <cfenv>
#include <limits>

#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/quantization.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

using cortex_m_nn_test::Random;

// The contract in terms of the C library: float32 product, rint (half to even), integer offset, saturation.
int32_t Expected(float x, float scale, int32_t zero_point, int32_t low, int32_t high) {
  const float inverse = 1.0f / scale;
  volatile float product = x * inverse;
  if (std::isnan(product)) return zero_point;
  const double rounded = std::rint(static_cast<double>(product)) + zero_point;
  return static_cast<int32_t>(std::fmin(std::fmax(rounded, low), high));
}

std::vector<float> Floats(Random& random, size_t count, float reach) {
  std::vector<float> values(count);
  for (float& value : values) value = reach * static_cast<float>(random.Between(-1000000, 1000000)) / 1e6f;
  return values;
}

TEST(QuantizePerTensor, EqualsTheDefinition) {
  KernelContext context;
  Random random(3);
  for (double scale : {0.0003, 0.0175, 0.0235, 1.0 / 256, 2.5}) {
    for (int64_t zero_point : {-128, -3, 0, 5, 127}) {
      const std::vector<float> x = Floats(random, 600, static_cast<float>(scale) * 100);
      TestTensor<float> input({2, 3, 10, 10}, x);
      TestTensor<int8_t> out8({2, 3, 10, 10});
      TestTensor<int16_t> out16({2, 3, 10, 10});
      ExpectOk(quantize_per_tensor_out(context, *input, scale, zero_point, -128, 127, ScalarType::kChar, *out8));
      ExpectOk(
          quantize_per_tensor_out(context, *input, scale / 200, zero_point, -32767, 32767, ScalarType::kShort, *out16));
      for (size_t i = 0; i < x.size(); ++i) {
        const int zp = static_cast<int>(zero_point);
        ASSERT_EQ(out8.memory()[i], Expected(x[i], static_cast<float>(scale), zp, -128, 127));
        ASSERT_EQ(out16.memory()[i], Expected(x[i], static_cast<float>(scale / 200), zp, -32767, 32767));
      }
      EXPECT_TRUE(out8.intact());
      EXPECT_TRUE(out16.intact());
    }
  }
}

// Every tie of int8, and the floats next to it, for a scale whose inverse is exact.
TEST(QuantizePerTensor, TiesGoToEven) {
  cortex_m_nn_quantization q;
  KernelContext context;
  ExpectOk(ReadQuantization(context, 0.25, 0, -128, 127, ScalarType::kChar, &q));
  for (int i = -127; i <= 126; ++i) {
    const float tie = (static_cast<float>(i) + 0.5f) * 0.25f;
    EXPECT_EQ(cortex_m_nn_quantize(tie, &q), i % 2 == 0 ? i : i + 1) << i;
    EXPECT_EQ(cortex_m_nn_quantize(std::nextafter(tie, -1e9f), &q), i) << i;
    EXPECT_EQ(cortex_m_nn_quantize(std::nextafter(tie, 1e9f), &q), i + 1) << i;
  }
}

TEST(QuantizePerTensor, WhatIsNoNumberOrTooLarge) {
  cortex_m_nn_quantization q;
  KernelContext context;
  ExpectOk(ReadQuantization(context, 0.1, 7, -120, 119, ScalarType::kChar, &q));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(cortex_m_nn_quantize(infinity, &q), 119);
  EXPECT_EQ(cortex_m_nn_quantize(-infinity, &q), -120);
  EXPECT_EQ(cortex_m_nn_quantize(std::numeric_limits<float>::max(), &q), 119);
  EXPECT_EQ(cortex_m_nn_quantize(std::numeric_limits<float>::lowest(), &q), -120);
  EXPECT_EQ(cortex_m_nn_quantize(std::numeric_limits<float>::quiet_NaN(), &q), 7);
  EXPECT_EQ(cortex_m_nn_quantize(std::numeric_limits<float>::denorm_min(), &q), 7);
  EXPECT_EQ(cortex_m_nn_quantize(-0.0f, &q), 7);
}

TEST(QuantizeToNhwc, ReordersAnyDimOrder) {
  KernelContext context;
  Random random(5);
  const Sizes sizes = {2, 3, 4, 5};
  for (const Order& order : {Order{0, 1, 2, 3}, kNhwcOrder, Order{3, 1, 0, 2}}) {
    TestTensor<float> input(sizes, order, Floats(random, 120, 2.0f));
    TestTensor<int8_t> out({2, 4, 5, 3});
    TestTensor<int16_t> wide({2, 4, 5, 3});
    ExpectOk(quantize_to_nhwc_out(context, *input, 0.02, 3, -128, 127, ScalarType::kChar, *out));
    ExpectOk(quantize_to_nhwc_out(context, *input, 0.001, 3, -32768, 32767, ScalarType::kShort, *wide));
    for (const std::vector<int>& i : Indices(sizes)) {
      ASSERT_EQ(out.at({i[0], i[2], i[3], i[1]}), Expected(input.at(i), 0.02f, 3, -128, 127));
      ASSERT_EQ(wide.at({i[0], i[2], i[3], i[1]}), Expected(input.at(i), 0.001f, 3, -32768, 32767));
    }
    EXPECT_TRUE(out.intact());
    EXPECT_TRUE(wide.intact());
  }
}

TEST(DequantizePerTensor, EveryInt8) {
  KernelContext context;
  std::vector<int8_t> all(256);
  std::iota(all.begin(), all.end(), static_cast<int8_t>(-128));
  for (double scale : {0.0003, 0.1, 3.7}) {
    TestTensor<int8_t> input({256}, all);
    TestTensor<float> out({256});
    ExpectOk(dequantize_per_tensor_out(context, *input, scale, -5, -128, 127, ScalarType::kChar, *out));
    for (int i = 0; i < 256; ++i) {
      EXPECT_EQ(out.memory()[i], static_cast<float>(i - 128 + 5) * static_cast<float>(scale));
    }
    EXPECT_TRUE(out.intact());
  }
}

TEST(DequantizePerTensor, Int16) {
  KernelContext context;
  TestTensor<int16_t> input({4}, std::vector<int16_t>{-32768, -1, 0, 32767});
  TestTensor<float> out({4});
  ExpectOk(dequantize_per_tensor_out(context, *input, 0.5, 32767, -32768, 32767, ScalarType::kShort, *out));
  EXPECT_EQ(out.memory(), (std::vector<float>{-32767.5f, -16384.0f, -16383.5f, 0.0f}));
}

TEST(DequantizeFromNhwc, ReordersIntoAnyDimOrder) {
  KernelContext context;
  Random random(7);
  const Sizes sizes = {2, 3, 4, 5};
  for (const Order& order : {Order{0, 1, 2, 3}, kNhwcOrder, Order{3, 1, 0, 2}}) {
    TestTensor<int8_t> input({2, 4, 5, 3}, random.Bytes(120));
    TestTensor<float> out(sizes, order);
    ExpectOk(dequantize_from_nhwc_out(context, *input, 0.02, 3, -128, 127, ScalarType::kChar, *out));
    for (const std::vector<int>& i : Indices(sizes)) {
      ASSERT_EQ(out.at(i), static_cast<float>(input.at({i[0], i[2], i[3], i[1]}) - 3) * 0.02f);
    }
    EXPECT_TRUE(out.intact());
  }
}

TEST(Quantize, Refusals) {
  KernelContext context;
  TestTensor<float> input({1, 2, 3, 4}, std::vector<float>(24, 0.5f));
  TestTensor<int8_t> out({1, 2, 3, 4}), other({1, 2, 3, 5}), permuted({1, 2, 3, 4}, kNhwcOrder), nhwc({1, 3, 4, 2});
  TestTensor<int32_t> wide({1, 2, 3, 4});
  const auto quantize = [&](double scale, int64_t zp, int64_t low, int64_t high) {
    return quantize_per_tensor_out(context, *input, scale, zp, low, high, ScalarType::kChar, *out);
  };
  ExpectRefused(quantize(0.1, 0, -129, 127), "no range of the quantized type");
  ExpectRefused(quantize(0.1, 0, -128, 128), "no range of the quantized type");
  ExpectRefused(quantize(0.1, 0, 5, 4), "no range of the quantized type");
  ExpectRefused(quantize(0.1, 101, -128, 100), "zero point is outside");
  for (double scale : {0.0, -0.1, 1e-39, 1e38, std::nan(""), HUGE_VAL}) {
    ExpectRefused(quantize(scale, 0, -128, 127), "scale is not in");
  }
  const auto char_ = ScalarType::kChar;
  ExpectRefused(quantize_per_tensor_out(context, *out, 0.1, 0, -128, 127, char_, *out), "input must be float32");
  ExpectRefused(quantize_per_tensor_out(context, *input, 0.1, 0, -128, 127, ScalarType::kShort, *out), "another type");
  ExpectRefused(quantize_per_tensor_out(context, *input, 0.1, 0, -128, 127, ScalarType::kInt, *wide), "int8 or int16");
  ExpectRefused(quantize_per_tensor_out(context, *input, 0.1, 0, -128, 127, char_, *other), "different sizes");
  ExpectRefused(quantize_per_tensor_out(context, *input, 0.1, 0, -128, 127, char_, *permuted), "dim orders");
  ExpectRefused(quantize_to_nhwc_out(context, *out, 0.1, 0, -128, 127, char_, *nhwc), "input must be float32");
  ExpectRefused(quantize_to_nhwc_out(context, *input, 0.1, 0, -128, 127, char_, *out), "in the order N, H, W, C");
  ExpectRefused(quantize_to_nhwc_out(context, *input, 0.1, 0, -128, 127, char_, *permuted), "contiguous of rank 4");
  ExpectRefused(quantize_to_nhwc_out(context, *input, 0.1, 0, -128, 127, ScalarType::kShort, *nhwc), "another type");
  for (auto* tensor : {&out, &other, &permuted, &nhwc}) EXPECT_TRUE(tensor->untouched());
}

TEST(Dequantize, Refusals) {
  KernelContext context;
  TestTensor<int8_t> input({1, 2, 3, 4}, std::vector<int8_t>(24, 5)), permuted({1, 2, 3, 4}, kNhwcOrder);
  TestTensor<float> out({1, 2, 3, 4}), nchw({1, 4, 2, 3}), flat({24});
  const auto char_ = ScalarType::kChar;
  ExpectRefused(dequantize_per_tensor_out(context, *input, 0.1, 0, -128, 127, char_, *input), "output must be float32");
  ExpectRefused(dequantize_per_tensor_out(context, *input, 0.1, 0, -128, 127, ScalarType::kShort, *out),
                "another type");
  ExpectRefused(dequantize_per_tensor_out(context, *input, 0.1, 0, -128, 127, char_, *flat), "different sizes");
  ExpectRefused(dequantize_per_tensor_out(context, *permuted, 0.1, 0, -128, 127, char_, *out), "dim orders");
  ExpectRefused(dequantize_per_tensor_out(context, *input, 0.0, 0, -128, 127, char_, *out), "scale is not in");
  ExpectRefused(dequantize_per_tensor_out(context, *input, 0.1, -200, -128, 127, char_, *out), "zero point");
  ExpectRefused(dequantize_from_nhwc_out(context, *input, 0.1, 0, -128, 127, char_, *input), "output must be float32");
  ExpectRefused(dequantize_from_nhwc_out(context, *input, 0.1, 0, -128, 127, char_, *out), "in the order N, H, W, C");
  ExpectRefused(dequantize_from_nhwc_out(context, *permuted, 0.1, 0, -128, 127, char_, *nchw), "contiguous");
  ExpectRefused(dequantize_from_nhwc_out(context, *input, 0.1, 0, -128, 127, char_, *flat), "rank 4");
  ExpectRefused(dequantize_from_nhwc_out(context, *input, 0.1, 0, -128, 127, ScalarType::kShort, *nchw),
                "another type");
  for (auto* tensor : {&out, &nchw, &flat}) EXPECT_TRUE(tensor->untouched());
}

}  // namespace
}  // namespace cortex_m::ops
