#include <memory>

#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

using cortex_m_nn_test::Clamp;
using cortex_m_nn_test::FactorForDepth;
using cortex_m_nn_test::Random;
using cortex_m_nn_test::Requantize;

struct Call {
  Call(Sizes leading, int depth, int channels)
      : rows(1), depth(depth), channels(channels), input_sizes(leading), out_sizes(leading) {
    for (int32_t size : leading) rows *= size;
    input_sizes.push_back(depth);
    out_sizes.push_back(channels);
    Random random(43);
    x = random.Bytes(static_cast<size_t>(rows) * depth);
    w = random.Bytes(static_cast<size_t>(channels) * depth);
    b = random.Words(channels, -5000, 5000);
    for (int c = 0; c < channels; ++c) {
      const auto factor = FactorForDepth(random, depth);
      multiplier.push_back(factor.multiplier);
      shift.push_back(factor.shift);
    }
    input = std::make_unique<TestTensor<int8_t>>(input_sizes, x);
    weights = std::make_unique<TestTensor<int8_t>>(Sizes{channels, depth}, w);
    bias = std::make_unique<TestTensor<int32_t>>(Sizes{channels}, b);
    multipliers = std::make_unique<TestTensor<int32_t>>(Sizes{channels}, multiplier);
    shifts = std::make_unique<TestTensor<int32_t>>(Sizes{channels}, shift);
    out = std::make_unique<TestTensor<int8_t>>(out_sizes);
  }

  // per_channel: one multiplier and shift an output, else the first for all.
  std::vector<int8_t> Expected(bool with_bias, bool per_channel, int filter_offset = 0) const {
    std::vector<int8_t> result;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < channels; ++c) {
        int64_t sum = with_bias ? b[c] : 0;
        for (int i = 0; i < depth; ++i) {
          sum += int64_t{x[r * depth + i] + static_cast<int>(input_offset)} * (w[c * depth + i] + filter_offset);
        }
        const int q = per_channel ? c : 0;
        result.push_back(
            static_cast<int8_t>(Clamp(Requantize(sum, multiplier[q], shift[q]) + output_offset, min, max)));
      }
    }
    cortex_m_nn_test::ExpectMostlyInsideRange(result, static_cast<int32_t>(min), static_cast<int32_t>(max));
    return result;
  }

  Status PerTensor(const Tensor* bias_or_null, const Tensor* kernel_sum = nullptr, int64_t filter_offset = 0) {
    return WithLists(bias_or_null, kernel_sum, filter_offset, Ints{multiplier[0]}, Ints{shift[0]});
  }
  Status WithLists(const Tensor* bias_or_null, const Tensor* kernel_sum, int64_t filter_offset, IntList m, IntList s) {
    KernelContext context;
    return quantized_linear_out(context, **input, **weights, bias_or_null, kernel_sum, input_offset, filter_offset,
                                output_offset, m, s, max, min, **out);
  }
  Status PerChannel(const Tensor* bias_or_null) {
    KernelContext context;
    return quantized_linear_per_channel_out(context, **input, **weights, bias_or_null, input_offset, output_offset,
                                            **multipliers, **shifts, min, max, **out);
  }
  std::vector<int8_t> Result() {
    EXPECT_TRUE(out->intact());
    return out->memory();
  }

  int rows, depth, channels;
  Sizes input_sizes, out_sizes;
  std::vector<int8_t> x, w;
  std::vector<int32_t> b, multiplier, shift;
  std::unique_ptr<TestTensor<int8_t>> input, weights, out;
  std::unique_ptr<TestTensor<int32_t>> bias, multipliers, shifts;
  int64_t input_offset = 9, output_offset = -4, min = -115, max = 101;
};

TEST(QuantizedLinear, BiasForm) {
  for (int channels : {1, 3, 4, 10, 257}) {
    for (const Sizes& leading : {Sizes{}, Sizes{1}, Sizes{5}, Sizes{2, 3}}) {
      Call call(leading, 37, channels);
      ExpectOk(call.PerTensor(&**call.bias));
      EXPECT_EQ(call.Result(), call.Expected(true, false));
      ExpectOk(call.PerTensor(nullptr));
      EXPECT_EQ(call.Result(), call.Expected(false, false));
    }
  }
}

// Programs for Helium bring input_offset * sum(w) + bias instead of the bias; the result is the same.
TEST(QuantizedLinear, KernelSumForm) {
  Call call({3}, 64, 10);
  std::vector<int32_t> sums;
  for (int c = 0; c < 10; ++c) {
    int32_t sum = 0;
    for (int i = 0; i < 64; ++i) sum += call.w[c * 64 + i];
    sums.push_back(static_cast<int32_t>(call.input_offset) * sum + call.b[c]);
  }
  TestTensor<int32_t> kernel_sum({1, 10}, sums);
  ExpectOk(call.PerTensor(nullptr, &*kernel_sum));
  EXPECT_EQ(call.Result(), call.Expected(true, false));
}

// out = x @ w.T + filter_offset * sum(x) + kernel_sum
TEST(QuantizedLinear, KernelSumWithAFilterOffset) {
  Call call({2}, 40, 6);
  std::vector<int32_t> sums;
  for (int c = 0; c < 6; ++c) sums.push_back(call.b[c] * 7);
  TestTensor<int32_t> kernel_sum({1, 6}, sums);
  ExpectOk(call.PerTensor(nullptr, &*kernel_sum, 5));
  call.b = sums;
  call.input_offset = 0;
  EXPECT_EQ(call.Result(), call.Expected(true, false, 5));
}

TEST(QuantizedLinear, FilterOffset) {
  Call call({2}, 40, 6);
  ExpectOk(call.PerTensor(&**call.bias, nullptr, -3));
  EXPECT_EQ(call.Result(), call.Expected(true, false, -3));
}

TEST(QuantizedLinear, AListOfOneForEachOutput) {
  Call call({3}, 33, 7);
  const Ints m(std::vector<int64_t>(call.multiplier.begin(), call.multiplier.end()));
  const Ints s(std::vector<int64_t>(call.shift.begin(), call.shift.end()));
  ExpectOk(call.WithLists(&**call.bias, nullptr, 0, m, s));
  EXPECT_EQ(call.Result(), call.Expected(true, true));
  std::vector<int32_t> sums;
  for (int c = 0; c < 7; ++c) {
    int32_t sum = call.b[c];
    for (int i = 0; i < 33; ++i) sum += static_cast<int32_t>(call.input_offset) * call.w[c * 33 + i];
    sums.push_back(sum);
  }
  TestTensor<int32_t> kernel_sum({1, 7}, sums);
  ExpectOk(call.WithLists(nullptr, &*kernel_sum, 0, m, s));
  EXPECT_EQ(call.Result(), call.Expected(true, true));
}

TEST(QuantizedLinearPerChannel, EqualsTheDefinition) {
  for (int channels : {1, 3, 4, 10, 257}) {
    Call call({2, 3}, 50, channels);
    ExpectOk(call.PerChannel(&**call.bias));
    EXPECT_EQ(call.Result(), call.Expected(true, true));
    ExpectOk(call.PerChannel(nullptr));
    EXPECT_EQ(call.Result(), call.Expected(false, true));
  }
}

template <typename Change>
void ExpectBothRefuse(Change change, const char* text) {
  Call call({2}, 8, 6);
  change(call);
  ExpectRefused(call.PerTensor(&**call.bias), text);
  ExpectRefused(call.PerChannel(&**call.bias), text);
  EXPECT_TRUE(call.out->untouched());
}

TEST(QuantizedLinearRefusals, BothOperators) {
  const auto size = [](TestTensor<int8_t>& t, int dim, int32_t value) { const_cast<int32_t*>(t->sizes)[dim] = value; };
  static const Order swapped = {1, 0};
  ExpectBothRefuse([](Call& c) { (*c.input)->dtype = ScalarType::kByte; }, "must be int8");
  ExpectBothRefuse([](Call& c) { (*c.weights)->dtype = ScalarType::kShort; }, "must be int8");
  ExpectBothRefuse([](Call& c) { (*c.out)->dtype = ScalarType::kFloat; }, "must be int8");
  ExpectBothRefuse([](Call& c) { (*c.out)->rank = 1; }, "one rank");
  ExpectBothRefuse([](Call& c) { (*c.weights)->rank = 1; }, "weights rank 2");
  ExpectBothRefuse([](Call& c) { (*c.input)->dim_order = swapped.data(); }, "must be contiguous");
  ExpectBothRefuse([](Call& c) { (*c.weights)->dim_order = swapped.data(); }, "must be contiguous");
  ExpectBothRefuse([&](Call& c) { size(*c.out, 0, 1); }, "different leading sizes");
  ExpectBothRefuse([&](Call& c) { size(*c.input, 1, 7); }, "do not fit");
  ExpectBothRefuse([&](Call& c) { size(*c.out, 1, 5); }, "do not fit");
  ExpectBothRefuse([&](Call& c) { size(*c.input, 0, 0), size(*c.out, 0, 0); }, "a size is 0");
  ExpectBothRefuse([](Call& c) { c.input_offset = -128; }, "input_offset");
  ExpectBothRefuse([](Call& c) { c.output_offset = 128; }, "output_offset");
  ExpectBothRefuse([](Call& c) { c.min = 102; }, "activation range");
  ExpectBothRefuse([](Call& c) { (*c.bias)->dtype = ScalarType::kFloat; }, "must be int32");
}

TEST(QuantizedLinearRefusals, EachOfThem) {
  Call call({2}, 8, 6);
  ExpectRefused(call.PerTensor(&**call.bias, &**call.bias), "both bias and kernel_sum");
  ExpectRefused(call.PerTensor(nullptr, &**call.input), "bias or kernel_sum must be int32");
  ExpectRefused(call.PerTensor(nullptr, nullptr, 129), "filter_offset");
  ExpectRefused(call.WithLists(nullptr, nullptr, 0, Ints{1, 2}, Ints{0, 0}), "one multiplier and one shift");
  ExpectRefused(call.WithLists(nullptr, nullptr, 0, Ints{1}, Ints{0, 0}), "one multiplier and one shift");
  ExpectRefused(call.WithLists(nullptr, nullptr, 0, Ints{}, Ints{}), "one multiplier and one shift");
  ExpectRefused(call.WithLists(nullptr, nullptr, 0, Ints{int64_t{1} << 31}, Ints{0}), "multiplier is not in");
  ExpectRefused(call.WithLists(nullptr, nullptr, 0, Ints{INT32_MIN}, Ints{0}), "multiplier is not in");
  ExpectRefused(call.WithLists(nullptr, nullptr, 0, Ints{1}, Ints{-32}), "outside -31..30");
  (*call.shifts)->mutable_as<int32_t>()[5] = 31;
  ExpectRefused(call.PerChannel(nullptr), "outside -31..30");
  (*call.multipliers)->rank = 0;
  ExpectRefused(call.PerChannel(nullptr), "one for each output");
  EXPECT_TRUE(call.out->untouched());
}

}  // namespace
}  // namespace cortex_m::ops
