#include <algorithm>

#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

TEST(Transpose, EveryPermutationOfEveryRankAndDimOrder) {
  cortex_m_nn_test::Random random(61);
  const Sizes all = {3, 2, 4, 5};
  int cases = 0;
  for (int rank = 1; rank <= 4; ++rank) {
    const Sizes sizes(all.begin(), all.begin() + rank);
    std::vector<int64_t> perm(rank);
    std::iota(perm.begin(), perm.end(), 0);
    do {
      Order in_order = LogicalOrder(rank);
      do {
        Order out_order = in_order;  // each pair of an order and its reverse
        std::reverse(out_order.begin(), out_order.end());
        Sizes out_sizes;
        for (int64_t source : perm) out_sizes.push_back(sizes[source]);
        TestTensor<int8_t> in(sizes, in_order), out(out_sizes, out_order);
        const std::vector<int8_t> values = random.Bytes(in.memory().size());
        std::memcpy(in->data, values.data(), values.size());
        KernelContext context;
        ExpectOk(transpose_out(context, *in, Ints(perm), *out));
        for (const std::vector<int>& index : Indices(out_sizes)) {
          std::vector<int> source(rank);
          for (int i = 0; i < rank; ++i) source[perm[i]] = index[i];
          ASSERT_EQ(out.at(index), in.at(source));
        }
        EXPECT_TRUE(out.intact());
        ++cases;
      } while (std::next_permutation(in_order.begin(), in_order.end()));
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
  EXPECT_EQ(cases, 1 + 4 + 36 + 576);
}

TEST(Transpose, Refusals) {
  KernelContext context;
  TestTensor<int8_t> in({2, 3}, std::vector<int8_t>(6, 1)), out({3, 2}), cube({3, 2, 1});
  TestTensor<int8_t> deep({1, 1, 1, 1, 1}, std::vector<int8_t>(1, 1));
  TestTensor<float> real({3, 2});
  ExpectRefused(transpose_out(context, *in, Ints{1, 0}, *real), "must be int8");
  ExpectRefused(transpose_out(context, *in, Ints{1, 0}, *cube), "one rank");
  ExpectRefused(transpose_out(context, *in, Ints{1}, *out), "one rank");
  ExpectRefused(transpose_out(context, *deep, Ints{0, 1, 2, 3, 4}, *deep), "one rank of 1..4");
  ExpectRefused(transpose_out(context, *in, Ints{1, 1}, *out), "no permutation");
  ExpectRefused(transpose_out(context, *in, Ints{-1, 0}, *out), "no permutation");
  ExpectRefused(transpose_out(context, *in, Ints{2, 0}, *out), "no permutation");
  ExpectRefused(transpose_out(context, *in, Ints{0, 1}, *out), "in the order of perm");
  EXPECT_TRUE(out.untouched());
  EXPECT_TRUE(cube.untouched());
}

}  // namespace
}  // namespace cortex_m::ops
