#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

struct Pool {
  int n, h, w, c, kh, kw, sh, sw, ph, pw;
  bool ceil_mode;
  int out_h, out_w;  // as torch.nn.functional.avg_pool2d gives them
};

const Pool kPools[] = {
    {1, 7, 7, 5, 7, 7, 1, 1, 0, 0, false, 1, 1},  // global
    {2, 7, 6, 3, 2, 3, 2, 1, 0, 1, false, 3, 6},
    {1, 7, 6, 4, 2, 2, 2, 2, 0, 0, true, 4, 3},
    {1, 7, 7, 4, 3, 3, 2, 2, 1, 1, true, 4, 4},
    {1, 4, 4, 4, 2, 2, 3, 3, 1, 1, true, 2, 2},  // a third window would start in the padding behind
    {1, 8, 8, 2, 3, 3, 2, 2, 1, 1, false, 4, 4},
    {1, 5, 9, 1, 1, 1, 2, 3, 0, 0, false, 3, 3},
};

Status Pool2d(bool nhwc, const Pool& p, const Tensor& in, Tensor& scratch, const Tensor& out) {
  KernelContext context;
  const auto function = nhwc ? quantized_avg_pool2d_nhwc_out : quantized_avg_pool2d_out;
  return function(context, in, Ints{p.kh, p.kw}, Ints{p.sh, p.sw}, Ints{p.ph, p.pw}, p.ceil_mode, 5, 1 << 30, -3,
                  scratch, out);
}

// Halves away from zero.
int RoundedMean(int sum, int count) {
  const int magnitude = (2 * std::abs(sum) + count) / (2 * count);
  return sum < 0 ? -magnitude : magnitude;
}

TEST(QuantizedAvgPool2d, EqualsTheDefinitionInBothLayouts) {
  for (const Pool& p : kPools) {
    cortex_m_nn_test::Random random(53);
    const std::vector<int8_t> values = random.Bytes(static_cast<size_t>(p.n) * p.h * p.w * p.c);
    for (bool nhwc : {false, true}) {
      TestTensor<int8_t> in(nhwc ? Sizes{p.n, p.h, p.w, p.c} : Sizes{p.n, p.c, p.h, p.w},
                            nhwc ? LogicalOrder(4) : kNhwcOrder, values);
      TestTensor<int8_t> out(nhwc ? Sizes{p.n, p.out_h, p.out_w, p.c} : Sizes{p.n, p.c, p.out_h, p.out_w},
                             nhwc ? LogicalOrder(4) : kNhwcOrder);
      TestTensor<uint8_t> scratch({0});
      ExpectOk(Pool2d(nhwc, p, *in, *scratch, *out));
      std::vector<int8_t> expected;
      for (int n = 0; n < p.n; ++n)
        for (int y = 0; y < p.out_h; ++y)
          for (int x = 0; x < p.out_w; ++x)
            for (int c = 0; c < p.c; ++c) {
              int sum = 0, count = 0;
              for (int iy = std::max(0, y * p.sh - p.ph); iy < std::min(p.h, y * p.sh - p.ph + p.kh); ++iy)
                for (int ix = std::max(0, x * p.sw - p.pw); ix < std::min(p.w, x * p.sw - p.pw + p.kw); ++ix, ++count)
                  sum += values[((n * p.h + iy) * p.w + ix) * p.c + c];
              expected.push_back(static_cast<int8_t>(RoundedMean(sum, count)));
            }
      EXPECT_EQ(out.memory(), expected);
      EXPECT_TRUE(out.intact());
    }
  }
}

TEST(QuantizedAvgPool2d, Refusals) {
  KernelContext context;
  TestTensor<int8_t> in({1, 4, 6, 6}, kNhwcOrder, std::vector<int8_t>(144, 1)), contiguous({1, 4, 6, 6});
  TestTensor<int8_t> out({1, 4, 3, 3}, kNhwcOrder), channels({1, 3, 3, 3}, kNhwcOrder), flat({36}), plain({1, 4, 3, 3});
  TestTensor<float> real({1, 4, 3, 3}, kNhwcOrder);
  TestTensor<uint8_t> scratch({0});
  const Pool good = {1, 6, 6, 4, 2, 2, 2, 2, 0, 0, false, 3, 3};
  const auto refused = [&](auto&& change, const char* text) {
    Pool p = good;
    change(p);
    ExpectRefused(Pool2d(false, p, *in, *scratch, *out), text);
  };
  refused([](Pool& p) { p.kh = 0; }, "kernel_size");
  refused([](Pool& p) { p.sw = 0; }, "stride");
  refused([](Pool& p) { p.ph = -1; }, "padding is not two values");
  refused([](Pool& p) { p.pw = 2; }, "more than half of the kernel");
  refused([](Pool& p) { p.kw = 3, p.pw = 2; }, "more than half of the kernel");
  refused([](Pool& p) { p.ph = 1; }, "another size");
  refused([](Pool& p) { p.kh = p.kw = 7; }, "another size");
  ExpectRefused(Pool2d(false, good, *in, *scratch, *real), "must be int8");
  ExpectRefused(Pool2d(false, good, *contiguous, *scratch, *out), "input is no image");
  ExpectRefused(Pool2d(false, good, *in, *scratch, *plain), "output is no image");
  ExpectRefused(Pool2d(true, good, *in, *scratch, *out), "input is no image");
  ExpectRefused(Pool2d(false, good, *in, *scratch, *flat), "output is no image");
  ExpectRefused(Pool2d(false, good, *in, *scratch, *channels), "different batch sizes or channels");
  ExpectRefused(quantized_avg_pool2d_out(context, *in, Ints{2, 2}, Ints{}, Ints{0, 0}, false, 5, 0, 0, *scratch, *out),
                "stride");
  for (int64_t zero_point : {-129, 128}) {
    ExpectRefused(quantized_avg_pool2d_out(context, *in, Ints{2, 2}, Ints{2, 2}, Ints{0, 0}, false, zero_point, 0, 0,
                                           *scratch, *out),
                  "zero_point");
  }
  EXPECT_TRUE(out.untouched());
}

}  // namespace
}  // namespace cortex_m::ops
