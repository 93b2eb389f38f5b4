#include <functional>

#include "cortex_m/nn/transpose_conv_test_util.h"
#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

using cortex_m_nn_test::TransposeConvProblem;
using cortex_m_nn_test::TransposeConvShape;

// The tensors and arguments of one call; a test changes what it wants to and calls.
struct Call {
  Call(const TransposeConvShape& shape, bool nhwc)
      : problem(shape, 29),
        nhwc(nhwc),
        input(Image(problem.input_dims), Layout(), problem.input),
        weight({problem.filter_dims.n, problem.filter_dims.h, problem.filter_dims.w, problem.filter_dims.c},
               problem.filter),
        bias({shape.out_c}, problem.bias),
        multipliers({shape.out_c}, problem.multiplier),
        shifts({shape.out_c}, problem.shift),
        scratch({0}),
        output_scratch({0}),
        out(Image(problem.output_dims), Layout()),
        stride({shape.stride_h, shape.stride_w}),
        padding({shape.pad_h, shape.pad_w}),
        output_padding({shape.extra_h, shape.extra_w}),
        dilation({shape.dilation_h, shape.dilation_w}),
        input_offset(problem.input_offset),
        output_offset(problem.output_offset),
        min(problem.min),
        max(problem.max) {}

  Sizes Image(const cmsis_nn_dims& d) const { return nhwc ? Sizes{d.n, d.h, d.w, d.c} : Sizes{d.n, d.c, d.h, d.w}; }
  Order Layout() const { return nhwc ? LogicalOrder(4) : kNhwcOrder; }

  Status operator()() {
    KernelContext context;
    const auto function = nhwc ? quantized_transpose_conv2d_nhwc_out : quantized_transpose_conv2d_out;
    return function(context, *input, *weight, problem.shape.bias ? &*bias : nullptr, stride, padding, output_padding,
                    dilation, input_offset, output_offset, *multipliers, *shifts, min, max, *scratch, *output_scratch,
                    *out);
  }

  TransposeConvProblem problem;
  bool nhwc;
  TestTensor<int8_t> input, weight;
  TestTensor<int32_t> bias, multipliers, shifts;
  TestTensor<uint8_t> scratch, output_scratch;
  TestTensor<int8_t> out;
  Ints stride, padding, output_padding, dilation;
  int64_t input_offset, output_offset, min, max;
};

TEST(QuantizedTransposeConv2d, EveryShapeInBothLayouts) {
  for (const TransposeConvShape& shape : cortex_m_nn_test::TransposeConvShapes()) {
    const auto beyond = [](int extra, int stride, int dilation) { return extra >= stride && extra >= dilation; };
    ASSERT_FALSE(beyond(shape.extra_h, shape.stride_h, shape.dilation_h)) << shape;
    for (bool nhwc : {false, true}) {
      Call call(shape, nhwc);
      const std::vector<int8_t> expected = call.problem.Expected();
      cortex_m_nn_test::ExpectMostlyInsideRange(expected, call.problem.min, call.problem.max);
      ExpectOk(call());
      EXPECT_EQ(call.out.memory(), expected) << shape;
      EXPECT_TRUE(call.out.intact());
    }
  }
}

TEST(QuantizedTransposeConv2d, OneValueInAListServesBothAxes) {
  Call call({1, 4, 3, 3, 4, 3, 3, 1, 2, 2, 1, 1, 1, 1, 1, 1}, false);
  call.stride = Ints{2};
  call.padding = call.output_padding = call.dilation = Ints{1};
  ExpectOk(call());
  EXPECT_EQ(call.out.memory(), call.problem.Expected());
}

TEST(QuantizedTransposeConv2d, Refusals) {
  const auto refuse = [](const std::function<void(Call&)>& change, const std::string& text) {
    for (bool nhwc : {false, true}) {
      Call call({2, 4, 3, 4, 8, 3, 3, 1, 2, 2, 1, 1, 1, 1}, nhwc);
      change(call);
      ExpectRefused(call(), text);
      EXPECT_TRUE(call.out.untouched());
    }
  };
  const auto size = [](TestTensor<int8_t>& tensor, int dim, int32_t value) {
    const_cast<int32_t*>(tensor->sizes)[dim] = value;  // fewer elements than there are
  };
  refuse([](Call& c) { c.input->dtype = ScalarType::kByte; }, "must be int8");
  refuse([](Call& c) { c.weight->rank = 3; }, "weight is not a contiguous");
  refuse([](Call& c) { c.stride = Ints{2, 0}; }, "stride is not two values");
  refuse([](Call& c) { c.padding = Ints{-1}; }, "padding is not two values");
  refuse([](Call& c) { c.dilation = Ints{}; }, "dilation is not two values");
  refuse([](Call& c) { c.output_padding = Ints{0, -1}; }, "output_padding is not two values");
  refuse([](Call& c) { c.output_padding = Ints{2, 0}; }, "neither below the stride");
  refuse([](Call& c) { c.output_padding = Ints{0, 1}; }, "another size");
  refuse([](Call& c) { c.stride = Ints{1, 2}; }, "another size");
  refuse([](Call& c) { c.padding = Ints{0, 1}; }, "another size");
  refuse([](Call& c) { c.input_offset = 129; }, "input_offset");
  refuse([](Call& c) { c.output_offset = 128; }, "output_offset");
  refuse([](Call& c) { c.min = -129; }, "activation range");
  refuse([](Call& c) { c.shifts->mutable_as<int32_t>()[7] = -32; }, "shift is outside -31..30");
  refuse([](Call& c) { c.bias->dtype = ScalarType::kLong; }, "bias must be int32");
  refuse([&](Call& c) { size(c.weight, 3, 3); }, "do not form groups");
  refuse([&](Call& c) { size(c.weight, 0, 7); }, "different output channels");
  refuse([&](Call& c) { size(c.out, 0, 1); }, "different batch sizes");
}

}  // namespace
}  // namespace cortex_m::ops
