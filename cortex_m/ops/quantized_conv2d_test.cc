#include <functional>

#include "cortex_m/nn/convolve_test_util.h"
#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

using cortex_m_nn_test::ConvolveProblem;
using cortex_m_nn_test::ConvolveShape;

// The tensors and arguments of one call; a test changes what it wants to and calls.
struct Call {
  Call(const ConvolveShape& shape, bool nhwc, int32_t scratch_bytes)
      : problem(shape, 19),
        nhwc(nhwc),
        input(Image(problem.input_dims), Layout(), problem.input),
        weight({problem.filter_dims.n, problem.filter_dims.h, problem.filter_dims.w, problem.filter_dims.c},
               problem.filter),
        bias({shape.out_c}, problem.bias),
        multipliers({shape.out_c}, problem.multiplier),
        shifts({shape.out_c}, problem.shift),
        scratch({scratch_bytes}),
        out(Image(problem.output_dims), Layout()),
        stride({shape.stride_h, shape.stride_w}),
        padding({shape.pad_h, shape.pad_w}),
        dilation({shape.dilation_h, shape.dilation_w}),
        depth_multiplier(shape.out_c / shape.in_c),
        input_offset(problem.input_offset),
        output_offset(problem.output_offset),
        min(problem.min),
        max(problem.max) {}

  Sizes Image(const cmsis_nn_dims& d) const { return nhwc ? Sizes{d.n, d.h, d.w, d.c} : Sizes{d.n, d.c, d.h, d.w}; }
  Order Layout() const { return nhwc ? LogicalOrder(4) : kNhwcOrder; }

  Status operator()() {
    KernelContext context;
    const Tensor* b = problem.shape().bias ? &*bias : nullptr;
    if (problem.shape().depthwise) {
      const auto function = nhwc ? quantized_depthwise_conv2d_nhwc_out : quantized_depthwise_conv2d_out;
      return function(context, *input, *weight, b, stride, padding, dilation, depth_multiplier, input_offset,
                      output_offset, *multipliers, *shifts, min, max, *scratch, *out);
    }
    const auto function = nhwc ? quantized_conv2d_nhwc_out : quantized_conv2d_out;
    return function(context, *input, *weight, b, stride, padding, dilation, input_offset, output_offset, *multipliers,
                    *shifts, min, max, *scratch, *out);
  }

  ConvolveProblem problem;
  bool nhwc;
  TestTensor<int8_t> input, weight;
  TestTensor<int32_t> bias, multipliers, shifts;
  TestTensor<uint8_t> scratch;
  TestTensor<int8_t> out;
  Ints stride, padding, dilation;
  int64_t depth_multiplier, input_offset, output_offset, min, max;
};

void ExpectEqualsTheDefinition(const ConvolveShape& shape, int32_t scratch_bytes) {
  for (bool nhwc : {false, true}) {
    Call call(shape, nhwc, scratch_bytes);
    const std::vector<int8_t> expected = call.problem.Expected();
    cortex_m_nn_test::ExpectMostlyInsideRange(expected, call.problem.min, call.problem.max);
    ExpectOk(call());
    EXPECT_EQ(call.out.memory(), expected) << shape;
    EXPECT_TRUE(call.out.intact());
    EXPECT_TRUE(call.scratch.intact());
  }
}

ConvolveShape Depthwise(int n, int c, int mult, int k, int stride, int pad, int dilation, bool bias = true) {
  ConvolveShape shape = {n, 7, 6, c, c * mult, k, k, c, stride, stride, pad, pad, dilation, dilation};
  shape.depthwise = true;
  shape.bias = bias;
  return shape;
}

TEST(QuantizedConv2d, EveryShapeInBothLayouts) {
  for (const ConvolveShape& shape : cortex_m_nn_test::ConvolveShapes()) {
    if (shape.extra_h != 0 || shape.extra_w != 0) continue;  // the operator's padding is symmetric
    ExpectEqualsTheDefinition(shape, 4 * shape.kh * shape.kw * shape.in_c);
    ExpectEqualsTheDefinition(shape, 0);
  }
}

TEST(QuantizedConv2d, PointwiseNeedsNoScratch) {
  for (const ConvolveShape& shape : cortex_m_nn_test::PointwiseShapes()) {
    if (shape.extra_h == 0 && shape.extra_w == 0) ExpectEqualsTheDefinition(shape, 0);
  }
}

TEST(QuantizedConv2d, OneValueInAListServesBothAxes) {
  Call call({1, 7, 6, 3, 4, 3, 3, 1, 2, 2, 1, 1, 1, 1}, false, 0);
  call.stride = Ints{2};
  call.padding = Ints{1};
  call.dilation = Ints{1};
  ExpectOk(call());
  EXPECT_EQ(call.out.memory(), call.problem.Expected());
}

TEST(QuantizedDepthwiseConv2d, EveryShapeInBothLayouts) {
  for (int c : {1, 3, 4, 8, 19}) {
    for (int mult : {1, 2, 5}) {
      ExpectEqualsTheDefinition(Depthwise(1, c, mult, 3, 1, 1, 1), 0);
      ExpectEqualsTheDefinition(Depthwise(3, c, mult, 3, 2, 1, 1), 0);  // a batch
      ExpectEqualsTheDefinition(Depthwise(2, c, mult, 2, 1, 0, 2, false), 0);
    }
  }
  ExpectEqualsTheDefinition(Depthwise(1, 300, 1, 3, 1, 1, 1), 0);
  ExpectEqualsTheDefinition(Depthwise(1, 4, 1, 3, 1, 1, 1), 4464);  // scratch for another library
}

// What both operators refuse; `text` is a part of the sentence. Nothing may be written then.
void ExpectBothRefuse(const std::function<void(Call&)>& change, const std::string& text) {
  for (bool depthwise : {false, true}) {
    for (bool nhwc : {false, true}) {
      Call call(depthwise ? Depthwise(1, 4, 2, 3, 1, 1, 1) : ConvolveShape{1, 7, 6, 4, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1},
                nhwc, 144);
      change(call);
      ExpectRefused(call(), text);
      EXPECT_TRUE(call.out.untouched());
    }
  }
}

TEST(QuantizedConv2dRefusals, Arguments) {
  ExpectBothRefuse([](Call& c) { c.input->dtype = ScalarType::kByte; }, "must be int8");
  ExpectBothRefuse([](Call& c) { c.weight->dtype = ScalarType::kShort; }, "must be int8");
  ExpectBothRefuse([](Call& c) { c.out->dtype = ScalarType::kFloat; }, "must be int8");
  ExpectBothRefuse([](Call& c) { c.input->rank = 3; }, "input is no image in NHWC memory");
  ExpectBothRefuse([](Call& c) { c.out->rank = 3; }, "output is no image in NHWC memory");
  ExpectBothRefuse([](Call& c) { c.weight->rank = 3; }, "weight is not a contiguous");
  ExpectBothRefuse([](Call& c) { c.stride = Ints{1, 1, 1}; }, "stride is not two values");
  ExpectBothRefuse([](Call& c) { c.stride = Ints{}; }, "stride is not two values");
  ExpectBothRefuse([](Call& c) { c.stride = Ints{1, 0}; }, "stride is not two values");
  ExpectBothRefuse([](Call& c) { c.padding = Ints{-1, 1}; }, "padding is not two values");
  ExpectBothRefuse([](Call& c) { c.dilation = Ints{0, 1}; }, "dilation is not two values");
  ExpectBothRefuse([](Call& c) { c.padding = Ints{2, 1}; }, "the output has another size");
  ExpectBothRefuse([](Call& c) { c.stride = Ints{1, 2}; }, "the output has another size");
  ExpectBothRefuse([](Call& c) { c.dilation = Ints{9, 9}; }, "the output has another size");
  ExpectBothRefuse([](Call& c) { c.input_offset = 129; }, "input_offset");
  ExpectBothRefuse([](Call& c) { c.input_offset = int64_t{1} << 32; }, "input_offset");
  ExpectBothRefuse([](Call& c) { c.output_offset = -129; }, "output_offset");
  ExpectBothRefuse([](Call& c) { c.min = 1, c.max = 0; }, "activation range");
  ExpectBothRefuse([](Call& c) { c.max = 128; }, "activation range");
  ExpectBothRefuse([](Call& c) { c.multipliers->dtype = ScalarType::kFloat; }, "multipliers and shifts must be int32");
  ExpectBothRefuse([](Call& c) { c.shifts->rank = 0; }, "multipliers and shifts must be int32");
  ExpectBothRefuse([](Call& c) { c.shifts->mutable_as<int32_t>()[7] = 31; }, "shift is outside -31..30");
  ExpectBothRefuse([](Call& c) { c.multipliers->mutable_as<int32_t>()[7] = INT32_MIN; }, "multiplier is -2^31");
  ExpectBothRefuse([](Call& c) { c.bias->dtype = ScalarType::kLong; }, "bias must be int32");
}

TEST(QuantizedConv2dRefusals, Sizes) {
  const auto sizes = [](TestTensor<int8_t>& tensor, int dim, int32_t value) {
    const_cast<int32_t*>(tensor->sizes)[dim] = value;  // fewer elements than there are
  };
  Call groups({1, 7, 6, 4, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1}, true, 144);
  sizes(groups.weight, 3, 3);
  ExpectRefused(groups(), "do not form groups");
  Call channels({1, 7, 6, 4, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1}, true, 144);
  sizes(channels.weight, 0, 7);
  ExpectRefused(channels(), "different output channels");
  for (bool depthwise : {false, true}) {
    ConvolveShape shape =
        depthwise ? Depthwise(2, 4, 2, 3, 1, 1, 1) : ConvolveShape{2, 7, 6, 4, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1};
    Call batch(shape, true, 144);
    sizes(batch.out, 0, 1);
    ExpectRefused(batch(), "different batch sizes");
    Call empty(shape, true, 144);
    sizes(empty.input, 1, 0);
    ExpectRefused(empty(), "input is no image");
    Call order(shape, false, 144);
    const Order contiguous = LogicalOrder(4);
    order.input->dim_order = contiguous.data();
    ExpectRefused(order(), "input is no image in NHWC memory");
    EXPECT_TRUE(order.out.untouched());
  }
  Call multiplier(Depthwise(1, 4, 2, 3, 1, 1, 1), true, 0);
  for (int64_t value : {int64_t{0}, int64_t{1}, int64_t{3}, (int64_t{1} << 32) + 2}) {
    multiplier.depth_multiplier = value;
    ExpectRefused(multiplier(), "depth_multiplier");
  }
  Call weight(Depthwise(1, 4, 2, 3, 1, 1, 1), true, 0);
  sizes(weight.weight, 0, 2);  // checked before anything is read
  ExpectRefused(weight(), "[1, H, W, C_out]");
}

}  // namespace
}  // namespace cortex_m::ops
