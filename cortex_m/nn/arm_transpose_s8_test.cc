#include <algorithm>
#include <numeric>

#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {
namespace {

TEST(ArmTransposeS8, EveryPermutationOfEveryRank) {
  const int sizes[4] = {3, 5, 2, 7};
  Random random(41);
  int cases = 0;
  for (int rank = 1; rank <= 4; ++rank) {
    int elements = 1;
    for (int i = 0; i < rank; ++i) elements *= sizes[i];
    const std::vector<int8_t> input = random.Bytes(elements);
    std::vector<uint32_t> perm(rank);
    std::iota(perm.begin(), perm.end(), 0u);
    do {
      int32_t out_sizes[4] = {1, 1, 1, 1};
      for (int i = 0; i < rank; ++i) out_sizes[i] = sizes[perm[i]];
      std::vector<int8_t> expected(elements);
      for (int flat = 0; flat < elements; ++flat) {  // each input element, to the place its index goes to
        int index[4] = {}, rest = flat;
        for (int i = rank - 1; i >= 0; --i) {
          index[i] = rest % sizes[i];
          rest /= sizes[i];
        }
        int place = 0;
        for (int i = 0; i < rank; ++i) place = place * out_sizes[i] + index[perm[i]];
        expected[place] = input[flat];
      }
      const cmsis_nn_dims in = {sizes[0], sizes[1], sizes[2], sizes[3]};
      const cmsis_nn_dims out = {out_sizes[0], out_sizes[1], out_sizes[2], out_sizes[3]};
      const cmsis_nn_transpose_params params = {rank, perm.data()};
      Guarded output(elements);
      ASSERT_EQ(arm_transpose_s8(input.data(), output.data(), &in, &out, &params), ARM_CMSIS_NN_SUCCESS);
      EXPECT_EQ(output.values(), expected);
      EXPECT_TRUE(output.intact());
      ++cases;
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
  EXPECT_EQ(cases, 1 + 2 + 6 + 24);
}

TEST(ArmTransposeS8, RefusesAndWritesNothing) {
  const int8_t input[6] = {};
  const cmsis_nn_dims in = {2, 3, 1, 1}, out = {3, 2, 1, 1};
  Guarded output(6);
  const auto refused = [&](int32_t rank, std::vector<uint32_t> perm, const cmsis_nn_dims& out_dims) {
    const cmsis_nn_transpose_params params = {rank, perm.data()};
    EXPECT_EQ(arm_transpose_s8(input, output.data(), &in, &out_dims, &params), ARM_CMSIS_NN_ARG_ERROR);
    EXPECT_TRUE(output.untouched());
  };
  refused(2, {1, 1}, out);
  refused(2, {1, 2}, out);
  refused(2, {1, 0}, in);  // sizes that are not permuted
  refused(0, {}, out);
  refused(5, {0, 1, 2, 3, 4}, out);
}

}  // namespace
}  // namespace cortex_m_nn_test
