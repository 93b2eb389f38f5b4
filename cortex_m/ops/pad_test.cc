#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

// pre, post: for the logical dimensions of `sizes`.
void ExpectPadded(const Sizes& sizes, const Order& order, const std::vector<int>& pre, const std::vector<int>& post,
                  const Order& out_order, const Order& list_order) {
  cortex_m_nn_test::Random random(59);
  Sizes out_sizes = sizes;
  for (size_t i = 0; i < sizes.size(); ++i) out_sizes[i] += pre[i] + post[i];
  TestTensor<int8_t> in(sizes, order), out(out_sizes, out_order);
  const std::vector<int8_t> values = random.Bytes(in.memory().size());
  std::memcpy(in->data, values.data(), values.size());
  std::vector<int64_t> pre_list(4 - sizes.size(), 0), post_list(4 - sizes.size(), 0);
  for (uint8_t dim : list_order) {
    pre_list.push_back(pre[dim]);
    post_list.push_back(post[dim]);
  }
  KernelContext context;
  ExpectOk(pad_out(context, *in, Ints(pre_list), Ints(post_list), -99, *out));
  for (std::vector<int> index : Indices(out_sizes)) {
    std::vector<int> source = index;
    bool inside = true;
    for (size_t i = 0; i < sizes.size(); ++i) {
      source[i] -= pre[i];
      inside = inside && source[i] >= 0 && source[i] < sizes[i];
    }
    ASSERT_EQ(out.at(index), inside ? in.at(source) : -99);
  }
  EXPECT_TRUE(out.intact());
}

TEST(Pad, ListsAreInMemoryOrder) {
  const Order logical = LogicalOrder(4);
  ExpectPadded({2, 3, 4, 5}, logical, {1, 0, 2, 3}, {0, 2, 1, 0}, logical, logical);
  ExpectPadded({2, 3, 4, 5}, kNhwcOrder, {1, 0, 2, 3}, {0, 2, 1, 0}, kNhwcOrder, kNhwcOrder);
  ExpectPadded({2, 3, 4, 5}, {3, 1, 0, 2}, {1, 0, 2, 3}, {0, 2, 1, 0}, {3, 1, 0, 2}, {3, 1, 0, 2});
  ExpectPadded({2, 3, 4, 5}, kNhwcOrder, {0, 0, 0, 0}, {0, 0, 0, 0}, kNhwcOrder, kNhwcOrder);
}

TEST(Pad, LowerRanks) {
  ExpectPadded({3, 4, 5}, LogicalOrder(3), {1, 0, 2}, {0, 3, 1}, LogicalOrder(3), LogicalOrder(3));
  ExpectPadded({3, 4}, {1, 0}, {1, 2}, {0, 3}, {1, 0}, {1, 0});
  ExpectPadded({6}, {0}, {2}, {3}, {0}, {0});
}

// A single channel lies in more than one order; exporters write down one and mean another.
TEST(Pad, AmbiguousOrders) {
  for (const Order& in_order : {LogicalOrder(4), kNhwcOrder, Order{0, 2, 1, 3}}) {
    for (const Order& out_order : {LogicalOrder(4), kNhwcOrder, Order{0, 2, 1, 3}}) {
      ExpectPadded({1, 1, 7, 5}, in_order, {0, 0, 1, 2}, {0, 0, 3, 0}, out_order, kNhwcOrder);
      ExpectPadded({1, 1, 7, 5}, in_order, {0, 0, 1, 2}, {0, 0, 3, 0}, out_order, in_order);
    }
  }
  ExpectPadded({1, 6, 1, 1}, LogicalOrder(4), {0, 0, 2, 1}, {0, 0, 0, 1}, kNhwcOrder, kNhwcOrder);
}

TEST(Pad, Refusals) {
  KernelContext context;
  TestTensor<int8_t> in({1, 2, 3, 4}, std::vector<int8_t>(24, 1)), out({1, 2, 4, 4}), empty({0, 2, 3, 4});
  TestTensor<int8_t> permuted({1, 2, 4, 4}, kNhwcOrder), vector({4}, std::vector<int8_t>(4, 1)), longer({5});
  TestTensor<int8_t> deep({1, 1, 1, 1, 1}, std::vector<int8_t>(1, 1));
  TestTensor<float> real({1, 2, 4, 4});
  const Ints none = {0, 0, 0, 0}, one = {0, 0, 1, 0};
  ExpectRefused(pad_out(context, *in, one, none, 0, *real), "must be int8");
  ExpectRefused(pad_out(context, *in, one, none, 0, *longer), "one rank");
  ExpectRefused(pad_out(context, *deep, one, none, 0, *deep), "one rank of 1..4");
  ExpectRefused(pad_out(context, *empty, one, none, 0, *out), "the input is empty");
  ExpectRefused(pad_out(context, *in, Ints{0, 0, 1}, none, 0, *out), "four values");
  ExpectRefused(pad_out(context, *in, one, Ints{0, 0, -1, 0}, 0, *out), "not negative");
  ExpectRefused(pad_out(context, *vector, Ints{1, 0, 0, 1}, none, 0, *longer), "0 beyond the rank");
  ExpectRefused(pad_out(context, *in, one, none, 128, *out), "pad_value");
  ExpectRefused(pad_out(context, *in, none, none, 0, *out), "another size or dim order");
  ExpectRefused(pad_out(context, *in, one, one, 0, *out), "another size or dim order");
  ExpectRefused(pad_out(context, *in, one, none, 0, *permuted), "another size or dim order");
  for (auto* tensor : {&out, &permuted, &longer}) EXPECT_TRUE(tensor->untouched());
}

}  // namespace
}  // namespace cortex_m::ops
