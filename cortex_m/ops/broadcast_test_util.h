// Broadcasting by its definition, for the tests of the elementwise operators: element by logical index, from the right.
#ifndef CORTEX_M_OPS_BROADCAST_TEST_UTIL_H_
#define CORTEX_M_OPS_BROADCAST_TEST_UTIL_H_

#include <algorithm>
#include <functional>

#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {

struct Operands {
  Sizes a_sizes;
  Order a_order;
  Sizes b_sizes;
  Order b_order;
  Order out_order;
};

inline Sizes BroadcastSizes(Sizes a, Sizes b) {
  const size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  for (size_t i = 0; i < rank; ++i) a[i] = a[i] == 1 ? b[i] : a[i];
  return a;
}

template <typename T>
T AtRepeated(TestTensor<T>& tensor, const Sizes& sizes, const std::vector<int>& index) {
  std::vector<int> own(index.end() - static_cast<ptrdiff_t>(sizes.size()), index.end());
  for (size_t i = 0; i < sizes.size(); ++i) own[i] = sizes[i] == 1 ? 0 : own[i];
  return tensor.at(own);
}

// Random operands, the result of `run`, and `expected` of each pair: equal everywhere. Returns the expected values.
template <typename T>
std::vector<T> ExpectElementwise(const Operands& o, const std::function<Status(Tensor&, Tensor&, Tensor&)>& run,
                                 const std::function<T(T, T)>& expected, uint32_t seed = 47) {
  cortex_m_nn_test::Random random(seed);
  TestTensor<T> a(o.a_sizes, o.a_order), b(o.b_sizes, o.b_order);
  for (TestTensor<T>* tensor : {&a, &b}) {
    const std::vector<int8_t> bytes = random.Bytes(tensor->memory().size() * sizeof(T));
    if (!bytes.empty()) std::memcpy((*tensor)->data, bytes.data(), bytes.size());
  }
  const Sizes sizes = BroadcastSizes(o.a_sizes, o.b_sizes);
  TestTensor<T> out(sizes, o.out_order);
  ExpectOk(run(*a, *b, *out));
  std::vector<T> all;
  for (const std::vector<int>& index : Indices(sizes)) {
    all.push_back(expected(AtRepeated(a, o.a_sizes, index), AtRepeated(b, o.b_sizes, index)));
    EXPECT_EQ(out.at(index), all.back());
    if (out.at(index) != all.back()) break;
  }
  EXPECT_TRUE(out.intact());
  return all;
}

inline Order Reversed(size_t rank) {
  Order order = LogicalOrder(rank);
  std::reverse(order.begin(), order.end());
  return order;
}

// Shapes and dim orders that every elementwise operator takes: equal layouts, a value for each channel, one value, any
// dimension repeated in either operand, operands that lie differently in memory, ranks that differ.
inline std::vector<Operands> BroadcastCases() {
  const Order four = LogicalOrder(4);
  std::vector<Operands> cases = {
      {{2, 3, 4, 5}, four, {2, 3, 4, 5}, four, four},
      {{2, 3, 4, 5}, kNhwcOrder, {2, 3, 4, 5}, kNhwcOrder, kNhwcOrder},
      {{1, 1, 4, 5}, kNhwcOrder, {1, 1, 4, 5}, four, {0, 2, 1, 3}},  // the same places
      {{2, 3, 4, 5}, kNhwcOrder, {1, 3, 1, 1}, four, kNhwcOrder},    // a value for each channel
      {{1, 3, 1, 1}, kNhwcOrder, {2, 3, 4, 5}, kNhwcOrder, kNhwcOrder},
      {{1, 40, 1, 1}, kNhwcOrder, {1, 40, 3, 2}, kNhwcOrder, kNhwcOrder},
      {{1, 70, 1, 1}, four, {2, 70, 3, 2}, kNhwcOrder, kNhwcOrder},
      {{2, 3, 4, 5}, four, {1, 3, 1, 1}, four, four},  // channels that are not innermost
      {{2, 3, 4, 5}, kNhwcOrder, {1, 1, 1, 5}, four, kNhwcOrder},
      {{2, 3, 9, 10}, four, {1}, {0}, four},  // one value
      {{}, {}, {2, 3, 9, 10}, kNhwcOrder, kNhwcOrder},
      {{2, 3, 4, 5}, four, {2, 3, 4, 5}, kNhwcOrder, four},  // operands in different orders
      {{2, 3, 4, 5}, kNhwcOrder, {2, 3, 4, 5}, four, Reversed(4)},
      {{2, 1, 30, 5}, four, {3, 1, 5}, LogicalOrder(3), kNhwcOrder},
      {{300}, {0}, {2, 1}, LogicalOrder(2), LogicalOrder(2)},  // both are repeated
      {{7}, {0}, {7}, {0}, {0}},
      {{}, {}, {}, {}, {}},
      {{1, 1}, LogicalOrder(2), {1}, {0}, LogicalOrder(2)},
      {{2, 0, 3}, LogicalOrder(3), {1, 1, 3}, LogicalOrder(3), LogicalOrder(3)},  // nothing
      {{2, 1, 3, 1, 2, 2}, LogicalOrder(6), {3, 1, 2, 1, 2}, LogicalOrder(5), Reversed(6)},
  };
  for (int kept = 0; kept < 256; ++kept) {
    const auto sizes = [](int bits) {
      return Sizes{bits & 1 ? 2 : 1, bits & 2 ? 3 : 1, bits & 4 ? 4 : 1, bits & 8 ? 5 : 1};
    };
    const Order order = kept % 3 == 0 ? kNhwcOrder : four;
    cases.push_back({sizes(kept & 15), order, sizes(kept >> 4), kept % 5 == 0 ? kNhwcOrder : four, order});
  }
  return cases;
}

}  // namespace cortex_m::ops

#endif  // CORTEX_M_OPS_BROADCAST_TEST_UTIL_H_
