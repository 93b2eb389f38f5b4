#include <functional>

#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

struct Pool {
  int n, h, w, c, kh, kw, sh, sw, ph, pw, dh, dw;
  bool ceil_mode;
  int out_h, out_w;  // as torch.nn.functional.max_pool2d gives them
};

const Pool kPools[] = {
    {1, 8, 8, 5, 2, 2, 2, 2, 0, 0, 1, 1, false, 4, 4},
    {2, 7, 6, 3, 3, 2, 2, 1, 1, 1, 1, 1, false, 4, 7},
    {1, 7, 6, 4, 2, 2, 2, 2, 0, 0, 1, 1, true, 4, 3},
    {1, 4, 4, 4, 2, 2, 3, 3, 1, 1, 1, 1, true, 2, 2},  // a third window would start in the padding behind
    {1, 9, 8, 3, 3, 2, 1, 2, 1, 1, 2, 3, false, 7, 4},
    {2, 9, 9, 17, 2, 3, 3, 2, 0, 1, 3, 2, true, 3, 4},
};

struct Call {
  Call(const Pool& p, bool nhwc, const std::vector<int8_t>& values)
      : nhwc(nhwc),
        in(nhwc ? Sizes{p.n, p.h, p.w, p.c} : Sizes{p.n, p.c, p.h, p.w}, nhwc ? LogicalOrder(4) : kNhwcOrder, values),
        out(nhwc ? Sizes{p.n, p.out_h, p.out_w, p.c} : Sizes{p.n, p.c, p.out_h, p.out_w},
            nhwc ? LogicalOrder(4) : kNhwcOrder),
        kernel({p.kh, p.kw}),
        stride({p.sh, p.sw}),
        padding({p.ph, p.pw}),
        dilation({p.dh, p.dw}),
        ceil_mode(p.ceil_mode) {}

  Status operator()() {
    KernelContext context;
    const auto function = nhwc ? quantized_max_pool2d_nhwc_out : quantized_max_pool2d_out;
    return function(context, *in, kernel, stride, padding, dilation, ceil_mode, input_zero, output_zero, min, max,
                    *out);
  }

  bool nhwc;
  TestTensor<int8_t> in, out;
  Ints kernel, stride, padding, dilation;
  bool ceil_mode;
  int64_t input_zero = 7, output_zero = 7, min = -100, max = 110;
};

TEST(QuantizedMaxPool2d, EqualsTheDefinitionInBothLayouts) {
  for (const Pool& p : kPools) {
    cortex_m_nn_test::Random random(67);
    const std::vector<int8_t> values = random.Bytes(static_cast<size_t>(p.n) * p.h * p.w * p.c, -128, 90);
    std::vector<int8_t> expected;
    for (int n = 0; n < p.n; ++n)
      for (int y = 0; y < p.out_h; ++y)
        for (int x = 0; x < p.out_w; ++x)
          for (int c = 0; c < p.c; ++c) {
            int largest = -1000;
            for (int ky = 0; ky < p.kh; ++ky)
              for (int kx = 0; kx < p.kw; ++kx) {
                const int in_y = y * p.sh - p.ph + ky * p.dh, in_x = x * p.sw - p.pw + kx * p.dw;
                if (in_y < 0 || in_y >= p.h || in_x < 0 || in_x >= p.w) continue;
                largest = std::max<int>(largest, values[((n * p.h + in_y) * p.w + in_x) * p.c + c]);
              }
            expected.push_back(static_cast<int8_t>(std::clamp(largest, -100, 110)));
          }
    cortex_m_nn_test::ExpectMostlyInsideRange(expected, -100, 110);
    for (bool nhwc : {false, true}) {
      Call call(p, nhwc, values);
      ExpectOk(call());
      EXPECT_EQ(call.out.memory(), expected);
      EXPECT_TRUE(call.out.intact());
    }
  }
}

TEST(QuantizedMaxPool2d, Refusals) {
  const Pool good = {1, 6, 6, 4, 2, 2, 2, 2, 0, 0, 1, 1, false, 3, 3};
  const auto refuse = [&](const std::function<void(Call&)>& change, const std::string& text) {
    Call call(good, false, std::vector<int8_t>(144, 1));
    change(call);
    ExpectRefused(call(), text);
    EXPECT_TRUE(call.out.untouched());
  };
  refuse([](Call& c) { c.in->dtype = ScalarType::kByte; }, "must be int8");
  refuse([](Call& c) { c.nhwc = true; }, "input is no image");
  refuse([](Call& c) { c.out->rank = 3; }, "output is no image");
  refuse([](Call& c) { c.kernel = Ints{0}; }, "kernel_size");
  refuse([](Call& c) { c.stride = Ints{2, 0}; }, "stride");
  refuse([](Call& c) { c.padding = Ints{-1, 0}; }, "padding is not two values");
  refuse([](Call& c) { c.padding = Ints{2, 0}; }, "more than half of the kernel");
  refuse([](Call& c) { c.kernel = Ints{3}, c.padding = Ints{2, 0}; }, "more than half of the kernel");
  refuse([](Call& c) { c.kernel = Ints{3}, c.padding = Ints{0, 2}; }, "more than half of the kernel");
  refuse([](Call& c) { c.dilation = Ints{0, 1}; }, "dilation");
  refuse([](Call& c) { c.dilation = Ints{3, 3}; }, "another size");
  refuse([](Call& c) { c.padding = Ints{1, 1}; }, "another size");
  refuse([](Call& c) { c.output_zero = 8; }, "zero points");
  refuse([](Call& c) { c.input_zero = c.output_zero = 128; }, "zero points");
  refuse([](Call& c) { c.min = 111; }, "activation range");
  refuse([](Call& c) { const_cast<int32_t*>(c.out->sizes)[1] = 3; }, "different batch sizes or channels");
  // Taps at -1 and 3 of an image of 3: PyTorch's answer is minus infinity.
  Call empty({1, 3, 3, 4, 2, 2, 1, 1, 1, 1, 4, 4, false, 1, 1}, true, std::vector<int8_t>(36, 1));
  ExpectRefused(empty(), "a window has no input");
}

}  // namespace
}  // namespace cortex_m::ops
