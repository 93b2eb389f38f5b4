#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

struct Shape {
  int left_n, left_h, right_n, right_h, rows, depth, columns;
};

class ArmBatchMatmulS8 : public ::testing::TestWithParam<Shape> {};

TEST_P(ArmBatchMatmulS8, EqualsTheDefinition) {
  const Shape s = GetParam();
  const int n = std::max(s.left_n, s.right_n), h = std::max(s.left_h, s.right_h);
  Random random(41);
  const std::vector<int8_t> left = random.Bytes(static_cast<size_t>(s.left_n) * s.left_h * s.rows * s.depth);
  const std::vector<int8_t> right = random.Bytes(static_cast<size_t>(s.right_n) * s.right_h * s.columns * s.depth);
  const Factor factor = FactorForDepth(random, s.depth);
  const cmsis_nn_per_tensor_quant_params quant = {factor.multiplier, factor.shift};
  const cmsis_nn_bmm_params params = {false, false, {-17, 9, -5, {-100, 110}}};
  std::vector<int8_t> expected;
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < h; ++b)
      for (int i = 0; i < s.rows; ++i)
        for (int j = 0; j < s.columns; ++j) {
          int64_t sum = 0;
          for (int k = 0; k < s.depth; ++k) {
            const int l = ((a % s.left_n * s.left_h + b % s.left_h) * s.rows + i) * s.depth + k;
            const int r = ((a % s.right_n * s.right_h + b % s.right_h) * s.columns + j) * s.depth + k;
            sum += int64_t{left[l] - 17} * (right[r] + 9);
          }
          expected.push_back(
              static_cast<int8_t>(Clamp(Requantize(sum, factor.multiplier, factor.shift) - 5, -100, 110)));
        }
  ExpectMostlyInsideRange(expected, -100, 110);
  const cmsis_nn_dims left_dims = {s.left_n, s.left_h, s.rows, s.depth}, out_dims = {n, h, s.rows, s.columns};
  const cmsis_nn_dims right_dims = {s.right_n, s.right_h, s.columns, s.depth};
  Guarded output(expected.size());
  ASSERT_EQ(arm_batch_matmul_s8(nullptr, &params, &quant, &left_dims, left.data(), &right_dims, right.data(), &out_dims,
                                output.data()),
            ARM_CMSIS_NN_SUCCESS);
  EXPECT_EQ(output.values(), expected);
  EXPECT_TRUE(output.intact());
}

INSTANTIATE_TEST_SUITE_P(Shapes, ArmBatchMatmulS8,
                         ::testing::Values(Shape{1, 1, 1, 1, 1, 1, 1}, Shape{1, 3, 1, 3, 5, 7, 4},
                                           Shape{2, 3, 2, 3, 4, 33, 9}, Shape{2, 3, 1, 3, 2, 16, 5},
                                           Shape{1, 1, 2, 3, 3, 19, 6}, Shape{2, 1, 1, 4, 3, 5, 2},
                                           Shape{1, 4, 3, 1, 1, 40, 11}, Shape{3, 1, 3, 1, 6, 2, 1}));

TEST(ArmBatchMatmulS8Refusals, NothingIsWritten) {
  const std::vector<int8_t> data(256, 1);
  const cmsis_nn_per_tensor_quant_params quant = {1 << 30, -3};
  const cmsis_nn_bmm_params good = {false, false, {0, 0, 0, {-128, 127}}};
  const cmsis_nn_dims left = {1, 2, 3, 4}, right = {1, 2, 5, 4}, out = {1, 2, 3, 5};
  Guarded output(30);
  const auto run = [&](const cmsis_nn_bmm_params& params, cmsis_nn_dims l, cmsis_nn_dims r, cmsis_nn_dims o) {
    return arm_batch_matmul_s8(nullptr, &params, &quant, &l, data.data(), &r, data.data(), &o, output.data());
  };
  EXPECT_EQ(run({false, false, {129, 0, 0, {-128, 127}}}, left, right, out), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_EQ(run({false, false, {0, 0, 0, {5, 4}}}, left, right, out), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_EQ(run(good, {1, 2, 3, 5}, right, out), ARM_CMSIS_NN_ARG_ERROR);  // another depth
  EXPECT_EQ(run(good, {1, 2, 2, 4}, right, out), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_EQ(run(good, left, {1, 2, 4, 4}, out), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_EQ(run(good, {1, 3, 3, 4}, right, out), ARM_CMSIS_NN_ARG_ERROR);  // 3 matrices for 2
  EXPECT_EQ(run(good, left, {2, 2, 5, 4}, out), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_EQ(run(good, left, right, {1, 0, 3, 5}), ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_EQ(arm_batch_matmul_s8(nullptr, nullptr, &quant, &left, data.data(), &right, data.data(), &out, output.data()),
            ARM_CMSIS_NN_ARG_ERROR);
  EXPECT_TRUE(output.untouched());
}

}  // namespace
}  // namespace cortex_m_nn_test
