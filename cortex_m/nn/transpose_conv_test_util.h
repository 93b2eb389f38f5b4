// A transposed convolution problem and its exact solution, by scattering: each input value adds to the outputs that it meets.
#ifndef CORTEX_M_NN_TRANSPOSE_CONV_TEST_UTIL_H_
#define CORTEX_M_NN_TRANSPOSE_CONV_TEST_UTIL_H_

#include <ostream>
#include <vector>

#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {

struct TransposeConvShape {
  int n, h, w, in_c, out_c, kh, kw, groups;
  int stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int extra_h = 0, extra_w = 0;  // output_padding
  bool bias = true;

  int out_h() const { return (h - 1) * stride_h - 2 * pad_h + dilation_h * (kh - 1) + 1 + extra_h; }
  int out_w() const { return (w - 1) * stride_w - 2 * pad_w + dilation_w * (kw - 1) + 1 + extra_w; }
};

inline std::ostream& operator<<(std::ostream& out, const TransposeConvShape& s) {
  return out << s.n << "x" << s.h << "x" << s.w << "x" << s.in_c << " -> " << s.out_c << ", kernel " << s.kh << "x"
             << s.kw << ", groups " << s.groups << ", stride " << s.stride_h << "x" << s.stride_w << ", pad " << s.pad_h
             << "x" << s.pad_w << ", dilation " << s.dilation_h << "x" << s.dilation_w << ", extra " << s.extra_h << "x"
             << s.extra_w << (s.bias ? "" : ", no bias");
}

class TransposeConvProblem {
 public:
  TransposeConvProblem(const TransposeConvShape& shape, uint32_t seed) : shape(shape) {
    Random random(seed);
    const int group_in = shape.in_c / shape.groups;
    input = random.Bytes(static_cast<size_t>(shape.n) * shape.h * shape.w * shape.in_c);
    filter = random.Bytes(static_cast<size_t>(shape.out_c) * shape.kh * shape.kw * group_in);
    bias = random.Words(shape.out_c, -5000, 5000);
    // About one in stride_h * stride_w kernel taps meets an input pixel.
    const double depth = std::max(1.0, 1.0 * shape.kh * shape.kw * group_in / (shape.stride_h * shape.stride_w));
    for (int c = 0; c < shape.out_c; ++c) {
      const Factor factor = FactorForDepth(random, depth);
      multiplier.push_back(factor.multiplier);
      shift.push_back(factor.shift);
    }
    input_offset = random.Between(-20, 20);
    output_offset = random.Between(-15, 15);
    input_dims = {shape.n, shape.h, shape.w, shape.in_c};
    filter_dims = {shape.out_c, shape.kh, shape.kw, group_in};
    output_dims = {shape.n, shape.out_h(), shape.out_w(), shape.out_c};
    quant = {multiplier.data(), shift.data()};
  }
  const int32_t* bias_or_null() const { return shape.bias ? bias.data() : nullptr; }
  size_t output_size() const {
    return static_cast<size_t>(output_dims.n) * output_dims.h * output_dims.w * output_dims.c;
  }
  cmsis_nn_transpose_conv_params params() const {
    return {input_offset,
            output_offset,
            {shape.stride_w, shape.stride_h},
            {shape.pad_w, shape.pad_h},
            {shape.extra_w, shape.extra_h},
            {shape.dilation_w, shape.dilation_h},
            {min, max}};
  }

  std::vector<int8_t> Expected() const {
    const TransposeConvShape& s = shape;
    const int group_in = s.in_c / s.groups, group_out = s.out_c / s.groups;
    std::vector<int64_t> sums;
    for (size_t pixel = 0; pixel < output_size() / s.out_c; ++pixel)
      for (int o = 0; o < s.out_c; ++o) sums.push_back(s.bias ? bias[o] : 0);
    for (int n = 0; n < s.n; ++n)
      for (int y = 0; y < s.h; ++y)
        for (int x = 0; x < s.w; ++x)
          for (int ky = 0; ky < s.kh; ++ky)
            for (int kx = 0; kx < s.kw; ++kx) {
              const int out_y = y * s.stride_h - s.pad_h + ky * s.dilation_h;
              const int out_x = x * s.stride_w - s.pad_w + kx * s.dilation_w;
              if (out_y < 0 || out_y >= output_dims.h || out_x < 0 || out_x >= output_dims.w) continue;
              for (int o = 0; o < s.out_c; ++o)
                for (int i = 0; i < group_in; ++i) {
                  const int in_c = o / group_out * group_in + i;
                  const int64_t value = input[((n * s.h + y) * s.w + x) * s.in_c + in_c] + input_offset;
                  sums[((n * output_dims.h + out_y) * output_dims.w + out_x) * s.out_c + o] +=
                      value * filter[((o * s.kh + ky) * s.kw + kx) * group_in + i];
                }
            }
    std::vector<int8_t> result;
    for (size_t i = 0; i < sums.size(); ++i) {
      const int o = static_cast<int>(i) % s.out_c;
      result.push_back(
          static_cast<int8_t>(Clamp(Requantize(sums[i], multiplier[o], shift[o]) + output_offset, min, max)));
    }
    return result;
  }

  TransposeConvShape shape;
  std::vector<int8_t> input, filter;
  std::vector<int32_t> bias, multiplier, shift;
  int32_t input_offset = 0, output_offset = 0;
  int32_t min = -110, max = 105;
  cmsis_nn_dims input_dims, filter_dims, output_dims;
  cmsis_nn_per_channel_quant_params quant;
};

inline std::vector<TransposeConvShape> TransposeConvShapes() {
  std::vector<TransposeConvShape> shapes;
  for (int c = 1; c <= 19; ++c) shapes.push_back({1, 3, 4, c, 20 - c, 3, 3, 1, 2, 2, 1, 1, 1, 1});  // channel tails
  for (int k : {1, 2, 3, 5})
    for (int stride : {1, 2, 3, 4})
      for (int pad : {0, 1, 2})
        for (int dilation : {1, 2, 3}) {
          if (4 * stride - 2 * pad + dilation * (k - 1) < 0) continue;  // no output
          shapes.push_back({1, 5, 6, 2, 3, k, k, 1, stride, stride, pad, pad, dilation, dilation});
        }
  shapes.push_back({2, 4, 3, 5, 6, 3, 2, 1, 2, 3, 1, 0, 1, 2});        // a batch, nothing square
  shapes.push_back({1, 4, 5, 3, 4, 3, 3, 1, 2, 3, 1, 1, 1, 1, 1, 2});  // output padding, asymmetric
  shapes.push_back({1, 4, 5, 3, 4, 2, 2, 1, 4, 4, 0, 0, 1, 1, 3, 1});  // rows and columns that nothing reaches
  shapes.push_back({1, 3, 4, 8, 6, 3, 3, 2, 2, 2, 1, 1, 1, 1});        // groups
  shapes.push_back({2, 3, 4, 6, 15, 2, 3, 3, 2, 1, 0, 1, 2, 1, 1, 0, false});
  shapes.push_back({1, 4, 4, 7, 7, 3, 3, 7, 2, 2, 1, 1, 1, 1, 1, 1});  // depthwise
  shapes.push_back({1, 3, 3, 5, 10, 3, 3, 5, 1, 2, 1, 1, 2, 2});       // with a multiplier of 2
  shapes.push_back({1, 1, 7, 4, 5, 1, 4, 1, 1, 2, 0, 1, 1, 1});        // one row
  shapes.push_back({1, 2, 2, 65, 9, 3, 3, 1, 2, 2, 1, 1, 1, 1});
  shapes.push_back({1, 2, 3, 4, 5, 3, 3, 1, 2, 2, 2, 2, 6, 4});  // stride and dilation with a common divisor
  shapes.push_back({1, 2, 3, 4, 5, 3, 3, 1, 6, 4, 0, 0, 4, 6});
  return shapes;
}

}  // namespace cortex_m_nn_test

#endif  // CORTEX_M_NN_TRANSPOSE_CONV_TEST_UTIL_H_
