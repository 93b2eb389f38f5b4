#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

struct Shape {
  int rows, depth, channels;
  bool bias;
  int filter_offset;
};

std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.rows << "x" << s.depth << " -> " << s.channels << (s.bias ? "" : ", no bias") << ", filter offset "
             << s.filter_offset;
}

std::vector<Shape> Shapes() {
  std::vector<Shape> shapes;
  for (int c = 1; c <= 19; ++c) {
    shapes.push_back({1, c, 20 - c, true, 0});
    shapes.push_back({3, 20 - c, c, c % 2 == 0, c % 3 == 0 ? c - 9 : 0});
  }
  shapes.push_back({1, 1280, 10, true, 0});
  shapes.push_back({2, 33, 1000, true, 0});
  shapes.push_back({2, 300, 5, false, 3});
  return shapes;
}

struct Problem {
  explicit Problem(const Shape& shape) : s(shape) {
    Random random(23);
    input = random.Bytes(s.rows * s.depth);
    filter = random.Bytes(s.channels * s.depth);
    bias = random.Words(s.channels, -5000, 5000);
    for (int c = 0; c < s.channels; ++c) {
      const Factor factor = FactorForDepth(random, s.depth);
      multiplier.push_back(factor.multiplier);
      shift.push_back(factor.shift);
    }
    params = {random.Between(-20, 20), s.filter_offset, random.Between(-15, 15), {-110, 105}};
    input_dims = {s.rows, 1, 1, s.depth};
    filter_dims = {s.depth, 1, 1, s.channels};
    output_dims = {s.rows, 1, 1, s.channels};
  }

  std::vector<int8_t> Expected(bool per_channel) const {
    std::vector<int8_t> result;
    for (int r = 0; r < s.rows; ++r) {
      for (int c = 0; c < s.channels; ++c) {
        int64_t sum = s.bias ? bias[c] : 0;
        for (int i = 0; i < s.depth; ++i) {
          sum +=
              int64_t{input[r * s.depth + i] + params.input_offset} * (filter[c * s.depth + i] + params.filter_offset);
        }
        const int q = per_channel ? c : 0;
        result.push_back(static_cast<int8_t>(Clamp(Requantize(sum, multiplier[q], shift[q]) + params.output_offset,
                                                   params.activation.min, params.activation.max)));
      }
    }
    return result;
  }
  const int32_t* bias_or_null() const { return s.bias ? bias.data() : nullptr; }

  Shape s;
  std::vector<int8_t> input, filter;
  std::vector<int32_t> bias, multiplier, shift;
  cmsis_nn_fc_params params;
  cmsis_nn_dims input_dims, filter_dims, output_dims;
};

class ArmFullyConnectedS8 : public ::testing::TestWithParam<Shape> {};

TEST_P(ArmFullyConnectedS8, PerTensorEqualsTheDefinition) {
  Problem p(GetParam());
  const std::vector<int8_t> expected = p.Expected(false);
  ExpectMostlyInsideRange(expected, p.params.activation.min, p.params.activation.max);
  const cmsis_nn_per_tensor_quant_params quant = {p.multiplier[0], p.shift[0]};
  Guarded output(expected.size());
  ASSERT_EQ(arm_fully_connected_s8(nullptr, &p.params, &quant, &p.input_dims, p.input.data(), &p.filter_dims,
                                   p.filter.data(), nullptr, p.bias_or_null(), &p.output_dims, output.data()),
            ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(output.values(), expected);
  EXPECT_TRUE(output.intact());

  const cmsis_nn_quant_params either = {p.multiplier.data(), p.shift.data(), 0};
  Guarded again(expected.size());
  ASSERT_EQ(arm_fully_connected_wrapper_s8(nullptr, &p.params, &either, &p.input_dims, p.input.data(), &p.filter_dims,
                                           p.filter.data(), nullptr, p.bias_or_null(), &p.output_dims, again.data()),
            ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(again.values(), expected);
}

TEST_P(ArmFullyConnectedS8, PerChannelEqualsTheDefinition) {
  Problem p(GetParam());
  const std::vector<int8_t> expected = p.Expected(true);
  ExpectMostlyInsideRange(expected, p.params.activation.min, p.params.activation.max);
  const cmsis_nn_per_channel_quant_params quant = {p.multiplier.data(), p.shift.data()};
  Guarded output(expected.size());
  ASSERT_EQ(
      arm_fully_connected_per_channel_s8(nullptr, &p.params, &quant, &p.input_dims, p.input.data(), &p.filter_dims,
                                         p.filter.data(), nullptr, p.bias_or_null(), &p.output_dims, output.data()),
      ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(output.values(), expected);
  EXPECT_TRUE(output.intact());

  const cmsis_nn_quant_params either = {p.multiplier.data(), p.shift.data(), 1};
  Guarded again(expected.size());
  ASSERT_EQ(arm_fully_connected_wrapper_s8(nullptr, &p.params, &either, &p.input_dims, p.input.data(), &p.filter_dims,
                                           p.filter.data(), nullptr, p.bias_or_null(), &p.output_dims, again.data()),
            ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(again.values(), expected);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ArmFullyConnectedS8, ::testing::ValuesIn(Shapes()));

TEST(ArmFullyConnectedS8Refusals, NothingIsWritten) {
  const auto refused = [](auto&& change) {
    Problem p({2, 8, 6, true, 0});
    change(p);
    const cmsis_nn_per_tensor_quant_params tensor = {p.multiplier[0], p.shift[0]};
    const cmsis_nn_per_channel_quant_params channel = {p.multiplier.data(), p.shift.data()};
    Guarded output(12);
    EXPECT_EQ(arm_fully_connected_s8(nullptr, &p.params, &tensor, &p.input_dims, p.input.data(), &p.filter_dims,
                                     p.filter.data(), nullptr, p.bias.data(), &p.output_dims, output.data()),
              ARM_CMSIS_NN_ARG_ERROR);
    EXPECT_EQ(
        arm_fully_connected_per_channel_s8(nullptr, &p.params, &channel, &p.input_dims, p.input.data(), &p.filter_dims,
                                           p.filter.data(), nullptr, p.bias.data(), &p.output_dims, output.data()),
        ARM_CMSIS_NN_ARG_ERROR);
    EXPECT_TRUE(output.untouched());
  };
  refused([](Problem& p) { p.input_dims.n = 0; });
  refused([](Problem& p) { p.filter_dims.n = 0; });
  refused([](Problem& p) { p.filter_dims.c = 5; });
  refused([](Problem& p) { p.filter_dims.n = INT32_MAX; });
  refused([](Problem& p) { p.shift[0] = 31; });
  refused([](Problem& p) { p.params.input_offset = 129; });
  refused([](Problem& p) { p.params.filter_offset = -128; });
  refused([](Problem& p) { p.params.output_offset = 128; });
  refused([](Problem& p) { p.params.activation = {1, -1}; });
}

}  // namespace
}  // namespace cortex_m_nn_test
