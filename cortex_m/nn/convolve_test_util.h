// A convolution problem, its exact solution, and a run of the code under test between guard bytes.
#ifndef CORTEX_M_NN_CONVOLVE_TEST_UTIL_H_
#define CORTEX_M_NN_CONVOLVE_TEST_UTIL_H_

#include <ostream>
#include <vector>

#include "arm_nnfunctions.h"
#include "test_util.h"

namespace cortex_m_nn_test {

struct ConvolveShape {
  int n, h, w, in_c;
  int out_c, kh, kw, groups;
  int stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  // Rows and columns by which the output exceeds what symmetric padding gives (TensorFlow's "same"), or falls short of it.
  int extra_h = 0, extra_w = 0;
  bool bias = true;
  bool depthwise = false;  // filter [1, KH, KW, C_OUT], groups == in_c

  int out_h() const { return (h + 2 * pad_h - dilation_h * (kh - 1) - 1) / stride_h + 1 + extra_h; }
  int out_w() const { return (w + 2 * pad_w - dilation_w * (kw - 1) - 1) / stride_w + 1 + extra_w; }
};

inline std::ostream& operator<<(std::ostream& out, const ConvolveShape& s) {
  return out << s.n << "x" << s.h << "x" << s.w << "x" << s.in_c << " -> " << s.out_c << ", kernel " << s.kh << "x"
             << s.kw << ", groups " << s.groups << ", stride " << s.stride_h << "x" << s.stride_w << ", pad " << s.pad_h
             << "x" << s.pad_w << ", dilation " << s.dilation_h << "x" << s.dilation_w << ", extra " << s.extra_h << "x"
             << s.extra_w << (s.bias ? "" : ", no bias");
}

class ConvolveProblem {
 public:
  ConvolveProblem(const ConvolveShape& shape, uint32_t seed) : shape_(shape) {
    Random random(seed);
    const int depth = shape.kh * shape.kw * shape.in_c / shape.groups;
    input = random.Bytes(static_cast<size_t>(shape.n) * shape.h * shape.w * shape.in_c);
    filter = random.Bytes(static_cast<size_t>(shape.out_c) * depth);
    bias = random.Words(shape.out_c, -5000, 5000);
    for (int c = 0; c < shape.out_c; ++c) {
      const Factor factor = FactorForDepth(random, depth);
      multiplier.push_back(factor.multiplier);
      shift.push_back(factor.shift);
    }
    input_offset = random.Between(-20, 20);
    output_offset = random.Between(-15, 15);
    input_dims = {shape.n, shape.h, shape.w, shape.in_c};
    output_dims = {shape.n, shape.out_h(), shape.out_w(), shape.out_c};
    filter_dims = shape.depthwise ? cmsis_nn_dims{1, shape.kh, shape.kw, shape.out_c}
                                  : cmsis_nn_dims{shape.out_c, shape.kh, shape.kw, shape.in_c / shape.groups};
    quant = {multiplier.data(), shift.data()};
  }

  const ConvolveShape& shape() const { return shape_; }
  const int32_t* bias_or_null() const { return shape_.bias ? bias.data() : nullptr; }
  size_t output_size() const {
    return static_cast<size_t>(output_dims.n) * output_dims.h * output_dims.w * output_dims.c;
  }
  cmsis_nn_conv_params conv_params() const {
    return {input_offset,
            output_offset,
            {shape_.stride_w, shape_.stride_h},
            {shape_.pad_w, shape_.pad_h},
            {shape_.dilation_w, shape_.dilation_h},
            {min, max}};
  }
  cmsis_nn_dw_conv_params dw_params() const {
    return {input_offset,
            output_offset,
            shape_.out_c / shape_.in_c,
            {shape_.stride_w, shape_.stride_h},
            {shape_.pad_w, shape_.pad_h},
            {shape_.dilation_w, shape_.dilation_h},
            {min, max}};
  }

  // The definition: a sum over logical indices in 64 bits, then the requantization contract.
  std::vector<int8_t> Expected() const {
    const ConvolveShape& s = shape_;
    const int group_in = s.in_c / s.groups;
    const int group_out = s.out_c / s.groups;
    std::vector<int8_t> result;
    for (int n = 0; n < s.n; ++n)
      for (int y = 0; y < output_dims.h; ++y)
        for (int x = 0; x < output_dims.w; ++x)
          for (int o = 0; o < s.out_c; ++o) {
            int64_t sum = s.bias ? bias[o] : 0;
            for (int ky = 0; ky < s.kh; ++ky)
              for (int kx = 0; kx < s.kw; ++kx)
                for (int i = 0; i < group_in; ++i) {
                  const int in_y = y * s.stride_h - s.pad_h + ky * s.dilation_h;
                  const int in_x = x * s.stride_w - s.pad_w + kx * s.dilation_w;
                  if (in_y < 0 || in_y >= s.h || in_x < 0 || in_x >= s.w) continue;
                  const int in_c = o / group_out * group_in + i;
                  const int64_t value = input[((n * s.h + in_y) * s.w + in_x) * s.in_c + in_c] + input_offset;
                  const int64_t weight = s.depthwise ? filter[(ky * s.kw + kx) * s.out_c + o]
                                                     : filter[((o * s.kh + ky) * s.kw + kx) * group_in + i];
                  sum += value * weight;
                }
            result.push_back(
                static_cast<int8_t>(Clamp(Requantize(sum, multiplier[o], shift[o]) + output_offset, min, max)));
          }
    return result;
  }

  std::vector<int8_t> input, filter;
  std::vector<int32_t> bias, multiplier, shift;
  int32_t input_offset = 0, output_offset = 0;
  int32_t min = -110, max = 105;
  cmsis_nn_dims input_dims, filter_dims, output_dims;
  cmsis_nn_per_channel_quant_params quant;

 private:
  ConvolveShape shape_;
};

// Shapes of a convolution that each variant must take: strides, paddings, dilations, groups, batches, channels, kernels.
inline std::vector<ConvolveShape> ConvolveShapes() {
  std::vector<ConvolveShape> shapes;
  for (int c = 1; c <= 19; ++c) shapes.push_back({1, 4, 5, c, 20 - c, 3, 3, 1, 1, 1, 1, 1, 1, 1});  // channel tails
  for (int k : {1, 2, 3, 5})
    for (int stride : {1, 2, 3})
      for (int pad : {0, 1, 2}) shapes.push_back({1, 7, 9, 3, 5, k, k, 1, stride, stride, pad, pad, 1, 1});
  shapes.push_back({1, 9, 7, 4, 6, 3, 2, 1, 2, 1, 1, 0, 1, 1});          // nothing square
  shapes.push_back({1, 1, 16, 8, 4, 1, 3, 1, 1, 1, 0, 1, 1, 1});         // one row
  shapes.push_back({1, 16, 1, 8, 4, 3, 1, 1, 2, 1, 1, 0, 1, 1});         // one column
  shapes.push_back({1, 8, 8, 3, 4, 3, 3, 1, 2, 2, 0, 0, 1, 1, 1, 1});    // "same" with stride 2: right and bottom only
  shapes.push_back({1, 8, 8, 3, 4, 3, 3, 1, 2, 2, 1, 1, 1, 1, -1, -1});  // "valid" beyond the left padding
  shapes.push_back({1, 9, 11, 3, 5, 3, 3, 1, 1, 1, 2, 2, 2, 2});         // dilation
  shapes.push_back({1, 9, 11, 3, 5, 3, 2, 1, 2, 1, 3, 1, 3, 4});
  shapes.push_back({1, 3, 3, 2, 3, 3, 3, 1, 1, 1, 4, 4, 4, 4});   // dilated beyond the image
  shapes.push_back({1, 2, 2, 3, 3, 5, 5, 1, 1, 1, 4, 4, 1, 1});   // windows that are all padding
  shapes.push_back({1, 5, 6, 12, 8, 3, 3, 4, 1, 1, 1, 1, 1, 1});  // groups
  shapes.push_back({1, 5, 6, 6, 9, 3, 3, 3, 2, 2, 1, 1, 1, 1});
  shapes.push_back({2, 5, 6, 6, 6, 2, 3, 6, 1, 1, 0, 1, 2, 1});    // as many groups as channels
  shapes.push_back({3, 4, 5, 7, 6, 3, 3, 1, 1, 1, 1, 1, 1, 1});    // batch
  shapes.push_back({2, 6, 4, 8, 6, 1, 1, 2, 1, 1, 0, 0, 1, 1});    // grouped pointwise
  shapes.push_back({1, 3, 3, 300, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1});  // more than 256 channels in
  shapes.push_back({1, 3, 3, 5, 301, 1, 2, 1, 1, 1, 0, 0, 1, 1});  // and out
  const size_t count = shapes.size();
  for (size_t i = 0; i < count; i += 3) {
    shapes.push_back(shapes[i]);
    shapes.back().bias = false;
  }
  return shapes;
}

inline std::vector<ConvolveShape> PointwiseShapes() {
  std::vector<ConvolveShape> shapes;
  for (int c = 1; c <= 19; ++c) shapes.push_back({1, 3, 4, c, 20 - c, 1, 1, 1, 1, 1, 0, 0, 1, 1});
  for (int side = 1; side <= 5; ++side) shapes.push_back({2, side, 6 - side, 6, 3, 1, 1, 1, 1, 1, 0, 0, 1, 1});
  for (int stride : {2, 3}) {
    shapes.push_back({1, 7, 8, 5, 6, 1, 1, 1, stride, stride, 0, 0, 1, 1});
    shapes.push_back({2, 8, 7, 4, 3, 1, 1, 1, stride, 1, 0, 0, 1, 1});
    shapes.push_back({2, 8, 7, 4, 3, 1, 1, 1, 1, stride, 0, 0, 1, 1});
  }
  shapes.push_back({1, 6, 6, 5, 4, 1, 1, 1, 1, 1, 0, 0, 1, 1, -2, -1});  // only a part of the image
  shapes.push_back({1, 2, 3, 320, 5, 1, 1, 1, 1, 1, 0, 0, 1, 1});
  shapes.push_back({1, 1, 1, 33, 280, 1, 1, 1, 1, 1, 0, 0, 1, 1});
  shapes.push_back({1, 4, 4, 9, 9, 1, 1, 1, 1, 1, 0, 0, 1, 1});
  shapes.back().bias = false;
  return shapes;
}

}  // namespace cortex_m_nn_test

#endif  // CORTEX_M_NN_CONVOLVE_TEST_UTIL_H_
