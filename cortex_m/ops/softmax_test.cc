#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

// Scale 0.1: 0.1 * 2^26 = multiplier * 2^shift / 2^31; diff_min = -floor(31 * 2^26 / 2^shift).
constexpr double kScale = 0.1;
constexpr int64_t kMultiplier = 1717986918, kShift = 23, kDiffMin = -248;

Status Softmax(const Tensor& in, int64_t dim, const Tensor& out) {
  KernelContext context;
  return softmax_out(context, in, dim, 17, -128, kMultiplier, kShift, kDiffMin, out);
}

// Against exp in float64; arm_softmax_s8_test compares the bits with the fixed-point reference.
void ExpectSoftmax(const Sizes& sizes, const Order& order, int dim) {
  cortex_m_nn_test::Random random(67);
  TestTensor<int8_t> in(sizes, order), out(sizes, order);
  const std::vector<int8_t> values = random.Bytes(in.memory().size(), -30, 30);
  std::memcpy(in->data, values.data(), values.size());
  for (int64_t given : {dim, dim - static_cast<int>(sizes.size())}) {
    ExpectOk(Softmax(*in, given, *out));
    int inside = 0;
    for (const std::vector<int>& index : Indices(sizes)) {
      double sum = 0;
      for (int i = 0; i < sizes[dim]; ++i) {
        std::vector<int> other = index;
        other[dim] = i;
        sum += std::exp(kScale * in.at(other));
      }
      const double real = std::fmin(std::exp(kScale * in.at(index)) / sum * 256 - 128, 127);
      ASSERT_NEAR(out.at(index), real, 0.51);
      inside += out.at(index) > -128 && out.at(index) < 127;
    }
    if (sizes[dim] > 1) {
      EXPECT_GT(2 * static_cast<size_t>(inside), values.size());
    }
    EXPECT_TRUE(out.intact());
  }
}

TEST(SoftmaxOut, TheLastDimension) {
  ExpectSoftmax({10}, {0}, 0);
  ExpectSoftmax({3, 7}, {0, 1}, 1);
  ExpectSoftmax({2, 3, 4, 9}, LogicalOrder(4), 3);
}

TEST(SoftmaxOut, ChannelsOfChannelsLastMemory) {
  ExpectSoftmax({2, 9, 3, 4}, kNhwcOrder, 1);
  ExpectSoftmax({1, 9, 1, 1}, LogicalOrder(4), 1);
  ExpectSoftmax({4, 9}, {1, 0}, 0);
}

TEST(SoftmaxOut, ARowOfOne) { ExpectSoftmax({3, 1, 4}, {0, 1, 2}, 1); }

TEST(SoftmaxOut, Refusals) {
  KernelContext context;
  TestTensor<int8_t> in({2, 3, 4, 5}, std::vector<int8_t>(120, 1)), out({2, 3, 4, 5}),
      permuted({2, 3, 4, 5}, kNhwcOrder);
  TestTensor<int8_t> scalar(Sizes{}, std::vector<int8_t>(1, 1)), lng({8192}, std::vector<int8_t>(8192, 1)),
      lng_out({8192});
  TestTensor<float> real({2, 3, 4, 5});
  ExpectRefused(Softmax(*in, 3, *real), "must be int8");
  ExpectRefused(Softmax(*in, 3, *permuted), "different sizes or dim orders");
  ExpectRefused(Softmax(*in, 4, *out), "no dimension");
  ExpectRefused(Softmax(*in, -5, *out), "no dimension");
  ExpectRefused(Softmax(*scalar, 0, *scalar), "no dimension");
  ExpectRefused(Softmax(*in, 1, *out), "not neighbours in memory");
  ExpectRefused(Softmax(*permuted, 3, *permuted), "not neighbours in memory");
  ExpectRefused(Softmax(*lng, 0, *lng_out), "more than 8191");
  ExpectRefused(softmax_out(context, *in, 3, 0, 0, kMultiplier, kShift, kDiffMin, *out), "zero point is not -128");
  ExpectRefused(softmax_out(context, *in, 3, 0, -128, -1, kShift, kDiffMin, *out), "input_multiplier");
  ExpectRefused(softmax_out(context, *in, 3, 0, -128, kMultiplier, 31, kDiffMin, *out), "input_shift");
  ExpectRefused(softmax_out(context, *in, 3, 0, -128, kMultiplier, kShift, 1, *out), "diff_min");
  for (auto* tensor : {&out, &permuted, &lng_out}) EXPECT_TRUE(tensor->untouched());
}

}  // namespace
}  // namespace cortex_m::ops
