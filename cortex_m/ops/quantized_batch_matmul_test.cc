#include <functional>

#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

struct Shape {
  Sizes left, right;  // [batch..., M, K], [batch..., N, K]
};

Sizes Product(const Shape& s) {
  const size_t rank = s.left.size();
  Sizes out = s.left;
  for (size_t i = 0; i + 2 < rank; ++i) out[i] = std::max(s.left[i], s.right[i]);
  out[rank - 1] = s.right[rank - 2];
  return out;
}

size_t Count(const Sizes& sizes) {
  size_t count = 1;
  for (int32_t size : sizes) count *= static_cast<size_t>(size);
  return count;
}

struct Call {
  explicit Call(const Shape& s)
      : random(71),
        shape(s),
        left_values(random.Bytes(Count(s.left))),
        right_values(random.Bytes(Count(s.right))),
        factor(cortex_m_nn_test::FactorForDepth(random, s.left.back())),
        left(s.left, left_values),
        right(s.right, right_values),
        scratch({0}),
        out(Product(s)),
        multiplier(factor.multiplier),
        shift(factor.shift) {}

  Status operator()() {
    KernelContext context;
    return quantized_batch_matmul_out(context, *left, left_offset, *right, right_offset, zero, multiplier, shift,
                                      *scratch, *out);
  }

  std::vector<int8_t> Expected() {
    std::vector<int8_t> expected;
    const size_t rank = shape.left.size();
    for (const std::vector<int>& index : Indices(Product(shape))) {
      std::vector<int> l = index, r = index;
      for (size_t i = 0; i + 2 < rank; ++i) {
        l[i] %= shape.left[i];
        r[i] %= shape.right[i];
      }
      r[rank - 2] = index[rank - 1];
      int64_t sum = 0;
      for (int k = 0; k < shape.left.back(); ++k) {
        l[rank - 1] = r[rank - 1] = k;
        sum += (left_values[left.Place(l)] + left_offset) * (right_values[right.Place(r)] + right_offset);
      }
      const int64_t value = cortex_m_nn_test::Requantize(sum, factor.multiplier, factor.shift) + zero;
      expected.push_back(static_cast<int8_t>(cortex_m_nn_test::Clamp(value, -128, 127)));
    }
    return expected;
  }

  cortex_m_nn_test::Random random;
  Shape shape;
  std::vector<int8_t> left_values, right_values;
  cortex_m_nn_test::Factor factor;
  TestTensor<int8_t> left, right;
  TestTensor<uint8_t> scratch;
  TestTensor<int8_t> out;
  int64_t left_offset = -13, right_offset = 21, zero = 4, multiplier, shift;
};

TEST(QuantizedBatchMatmul, EqualsTheDefinition) {
  const Shape shapes[] = {
      {{1, 1, 1}, {1, 1, 1}},       {{3, 4, 17}, {3, 5, 17}},     {{1, 4, 40}, {3, 2, 40}},  // one left matrix for all
      {{3, 2, 9}, {1, 8, 9}},       {{2, 3, 4, 5}, {2, 3, 6, 5}}, {{2, 1, 4, 16}, {1, 3, 6, 16}},
      {{1, 3, 2, 7}, {2, 3, 9, 7}},
  };
  for (const Shape& shape : shapes) {
    Call call(shape);
    const std::vector<int8_t> expected = call.Expected();
    cortex_m_nn_test::ExpectMostlyInsideRange(expected);
    ExpectOk(call());
    EXPECT_EQ(call.out.memory(), expected);
    EXPECT_TRUE(call.out.intact());
  }
}

TEST(QuantizedBatchMatmul, Refusals) {
  const auto refuse = [](const std::function<void(Call&)>& change, const std::string& text) {
    Call call({{2, 3, 4, 5}, {2, 3, 6, 5}});
    change(call);
    ExpectRefused(call(), text);
    EXPECT_TRUE(call.out.untouched());
  };
  const auto size = [](TestTensor<int8_t>& tensor, int dim, int32_t value) {
    const_cast<int32_t*>(tensor->sizes)[dim] = value;  // fewer elements than there are
  };
  const Order order = {0, 2, 3, 1};
  refuse([](Call& c) { c.right->dtype = ScalarType::kFloat; }, "must be int8");
  refuse([](Call& c) { c.left->rank = 3; }, "not all of rank 3");
  refuse([](Call& c) { c.left->rank = c.right->rank = c.out->rank = 2; }, "not all of rank 3");
  refuse([&](Call& c) { c.right->dim_order = order.data(); }, "not contiguous");
  refuse([&](Call& c) { size(c.left, 0, 0); }, "or empty");
  refuse([&](Call& c) { size(c.left, 3, 4); }, "does not give an output of this size");
  refuse([&](Call& c) { size(c.right, 2, 5); }, "does not give an output of this size");
  refuse([&](Call& c) { size(c.out, 2, 3); }, "does not give an output of this size");
  refuse([&](Call& c) { size(c.left, 1, 2); }, "batch sizes");
  refuse([&](Call& c) { size(c.left, 0, 1), size(c.right, 0, 1); }, "batch sizes");
  refuse([](Call& c) { c.left_offset = 129; }, "lhs_zero_point");
  refuse([](Call& c) { c.right_offset = -128; }, "rhs_zero_point");
  refuse([](Call& c) { c.zero = 128; }, "output_zero_point");
  refuse([](Call& c) { c.multiplier = INT32_MIN; }, "output_multiplier");
  refuse([](Call& c) { c.shift = 31; }, "output_shift");
}

}  // namespace
}  // namespace cortex_m::ops
