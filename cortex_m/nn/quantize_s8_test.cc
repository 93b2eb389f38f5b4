#include "quantize_s8.h"

#include "additional.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

cortex_m_nn_quantization Make(float scale, int32_t zero_point, int32_t min = -128, int32_t max = 127) {
  return {scale, 1.0f / scale, zero_point, min, max};
}

// docs/numerics.md in float64, where a product of two float32 is exact; the cast rounds it once.
int8_t Quantized(float x, const cortex_m_nn_quantization& q) {
  const float product = static_cast<float>(static_cast<double>(x) * static_cast<double>(q.inverse));
  if (std::isnan(product)) return static_cast<int8_t>(q.zero_point);
  const double value = std::nearbyint(static_cast<double>(product)) + q.zero_point;
  return static_cast<int8_t>(std::fmin(std::fmax(value, q.min), q.max));
}

void ExpectQuantized(const std::vector<float>& x, const cortex_m_nn_quantization& q) {
  const int32_t count = static_cast<int32_t>(x.size());
  std::vector<int8_t> output(x.size());
  for (const auto function : {cortex_m_nn_quantize_s8, cortex_m_nn_quantize_scalar, cortex_m_nn_quantize_integer}) {
    function(x.data(), output.data(), 1, count, &q);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(output[i], Quantized(x[i], q))
          << "bits " << std::hex << cortex_m_nn_bits(x[i]) << ", scale " << q.scale;
    }
  }
}

// Scales from end to end of the range, with mantissas of all kinds.
std::vector<float> Scales() {
  std::vector<float> scales = {0x1p-125f, 0x1.000002p-125f, 0x1.fffffep-120f, 0x1p125f, 0x1.fffffep125f, 0x1p126f};
  Random random(11);
  for (int exponent = -124; exponent < 126; exponent += 3) {
    scales.push_back(std::ldexp(1.0f + static_cast<float>(random.Between(0, (1 << 23) - 1)) * 0x1p-23f, exponent));
  }
  return scales;
}

// All signs, exponents and first seven bits of the mantissa; the other sixteen at their ends and at random.
TEST(QuantizeS8, EveryKindOfFloat) {
  Random random(12);
  for (const float scale : Scales()) {
    std::vector<float> x;
    for (uint32_t upper = 0; upper <= 0xFFFF; upper += scale == 0x1p-125f ? 1 : 3) {
      for (const uint32_t lower : {0u, static_cast<uint32_t>(random.Between(1, 0xFFFE)), 0xFFFFu}) {
        x.push_back(cortex_m_nn_float(upper << 16 | lower));
      }
    }
    ExpectQuantized(x, Make(scale, random.Between(-128, 127)));
    if (HasFatalFailure()) return;
  }
}

// Each tie, and the floats around it: where one rounding instead of two would show.
TEST(QuantizeS8, AroundEachTie) {
  Random random(13);
  for (const float scale : Scales()) {
    std::vector<float> x;
    for (int step = -270; step <= 270; ++step) {
      const float middle = static_cast<float>((step + 0.5) * static_cast<double>(scale));
      if (!std::isfinite(middle)) continue;
      for (uint32_t ulps = 0; ulps < 15; ++ulps) x.push_back(cortex_m_nn_float(cortex_m_nn_bits(middle) - 7 + ulps));
    }
    for (const int32_t zero_point : {-128, 127, random.Between(-127, 126)}) ExpectQuantized(x, Make(scale, zero_point));
    ExpectQuantized(x, Make(scale, 3, -40, 90));
    if (HasFatalFailure()) return;
  }
}

TEST(QuantizeS8, StepsAndTails) {
  const cortex_m_nn_quantization q = Make(0.5f, 1);
  for (const int32_t count : {0, 1, 7, 8, 9, 23}) {
    for (const int32_t step : {1, 2, 3, 17, 9363, 70000}) {
      std::vector<float> x(count);
      for (int32_t i = 0; i < count; ++i) x[i] = static_cast<float>(i) - 10;
      Guarded output(static_cast<size_t>(count) * step + 1);
      const int8_t untouched = output.values().back();
      cortex_m_nn_quantize_s8(x.data(), output.data(), step, count, &q);
      std::vector<int8_t> expected(static_cast<size_t>(count) * step + 1, untouched);
      for (int32_t i = 0; i < count; ++i) expected[i * step] = static_cast<int8_t>(2 * (i - 10) + 1);
      EXPECT_EQ(output.values(), expected);
      EXPECT_TRUE(output.intact());
    }
  }
}

TEST(DequantizeS8, EveryValueAndZeroPoint) {
  std::vector<int8_t> input(256);
  for (int i = 0; i < 256; ++i) input[i] = static_cast<int8_t>(i - 128);
  std::vector<float> output(256);
  for (const float scale : Scales()) {
    for (int32_t zero_point = -128; zero_point <= 127; zero_point += 5) {
      const cortex_m_nn_quantization q = Make(scale, zero_point);
      for (const auto function :
           {cortex_m_nn_dequantize_s8, cortex_m_nn_dequantize_scalar, cortex_m_nn_dequantize_integer}) {
        function(input.data(), 1, output.data(), 256, &q);
        for (int i = 0; i < 256; ++i) {
          const float expected = static_cast<float>((i - 128.0 - zero_point) * static_cast<double>(scale));
          ASSERT_EQ(cortex_m_nn_bits(output[i]), cortex_m_nn_bits(expected)) << i - 128 << ", scale " << scale;
        }
      }
    }
  }
}

TEST(DequantizeS8, Steps) {
  const cortex_m_nn_quantization q = Make(0.5f, 1);
  const std::vector<int8_t> input = {1, 90, 90, 3, 90, 90, 7};
  std::vector<float> output(4, -1);
  cortex_m_nn_dequantize_s8(input.data(), 3, output.data(), 3, &q);
  EXPECT_EQ(output, (std::vector<float>{0, 1, 3, -1}));
}

}  // namespace
}  // namespace cortex_m_nn_test
