#include "additional.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

struct Prelu {
  int32_t rows, input_offset, output_offset;
  Factor positive;
  std::vector<Factor> negative;  // one for each channel
};

class PreluS8 : public ::testing::TestWithParam<Prelu> {};

// All values of every channel, for 256 rows; where there are other rows, values at random.
TEST_P(PreluS8, EqualsTheDefinition) {
  const Prelu p = GetParam();
  const int32_t channels = static_cast<int32_t>(p.negative.size());
  std::vector<int8_t> input = Random(71).Bytes(static_cast<size_t>(p.rows) * channels), expected;
  std::vector<int32_t> multipliers, shifts;
  for (const Factor& factor : p.negative) {
    multipliers.push_back(factor.multiplier);
    shifts.push_back(factor.shift);
  }
  for (size_t i = 0; i < input.size(); ++i) {
    if (p.rows == 256) input[i] = static_cast<int8_t>(static_cast<int32_t>(i) / channels - 128);
    const int32_t value = input[i] + p.input_offset;
    const Factor factor = value >= 0 ? p.positive : p.negative[i % channels];
    expected.push_back(
        static_cast<int8_t>(Clamp(Requantize(value, factor.multiplier, factor.shift) + p.output_offset, -128, 127)));
  }
  ExpectMostlyInsideRange(expected);
  for (const auto function : {cortex_m_nn_prelu_s8, cortex_m_nn_prelu_scalar}) {
    Guarded output(expected.size());
    const cortex_m_nn_prelu_args args = {input.data(),   output.data(),  multipliers.data(),    shifts.data(),
                                         p.rows,         channels,       p.positive.multiplier, p.positive.shift,
                                         p.input_offset, p.output_offset};
    function(&args);
    EXPECT_EQ(output.values(), expected);
    EXPECT_TRUE(output.intact());
  }
}

constexpr Factor kOne = {1 << 30, 1}, kZero = {0, 0}, kQuarter = {1 << 30, -1}, kMinusHalf = {-(1 << 30), 0},
                 kTwoThirds = {1431655765, 0}, kFourThirds = {1431655765, 1}, kTiny = {1 << 30, -31};

INSTANTIATE_TEST_SUITE_P(
    Parameters, PreluS8,
    ::testing::Values(Prelu{256, 3, -5, kTwoThirds, {kQuarter}},
                      Prelu{256, -20, 7, kOne, {kQuarter, kZero, kMinusHalf, kFourThirds, kTiny}},
                      Prelu{256, 127, -128, kFourThirds, {kOne, kTwoThirds, kMinusHalf, kZero}},
                      Prelu{256, -127, 100, kMinusHalf, {kMinusHalf, kQuarter, {1518500250, -3}}},
                      Prelu{256, 0, 0, {1 << 20, 11}, {{1 << 20, 9}, {-(1 << 22), 7}}},  // shifts to the left
                      Prelu{9, 11, 2, kTwoThirds, std::vector<Factor>(67, kQuarter)},
                      Prelu{1, 0, 0, kOne, {kTwoThirds}}, Prelu{0, 0, 0, kOne, {kOne, kZero}}));

}  // namespace
}  // namespace cortex_m_nn_test
