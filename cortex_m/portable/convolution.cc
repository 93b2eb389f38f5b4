// convolution of float32: one or two spatial dimensions, groups, dilation, padding, and transposed with output_padding.
//
// Each output is a sum of products over the kernel's rows, then columns, then the channels of the group (dot.h), and
// the bias last.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/dot.h"
#include "cortex_m/portable/window.h"

namespace cortex_m {
namespace {

using namespace portable;

struct Geometry {
  Images in, out;
  Images weight;  // n: first dimension, c: second; h and w: the kernel
  Pair stride, padding, dilation, output_padding;
  int32_t groups;
};

// The input position that kernel position `k` of output position `o` falls on; false where there is none.
bool InputAt(bool transposed, int32_t o, int32_t k, int32_t stride, int32_t padding, int32_t dilation, int32_t size,
             int32_t& i) {
  if (!transposed) {
    i = o * stride - padding + k * dilation;
    return i >= 0 && i < size;
  }
  const int32_t distance = o + padding - k * dilation;
  i = distance / stride;
  return distance >= 0 && distance % stride == 0 && i < size;
}

void Convolve(const Geometry& g, bool transposed, const Tensor& input, const Tensor& weight, const float* bias,
              const Tensor& out) {
  const int32_t in_channels = g.in.c / g.groups;
  const int32_t out_channels = g.out.c / g.groups;
  float* to = out.mutable_as<float>();
  for (int32_t n = 0; n < g.out.n; ++n) {
    for (int32_t c = 0; c < g.out.c; ++c) {
      const int32_t group = c / out_channels;
      // Weights: [out channels, in channels of the group, ...], transposed [in channels, out channels of the group,
      // ...].
      const ptrdiff_t weight_base =
          transposed ? g.weight.At(group * in_channels, c % out_channels, 0, 0) : g.weight.At(c, 0, 0, 0);
      const int32_t weight_stride = transposed ? g.weight.n_stride : g.weight.c_stride;
      for (int32_t y = 0; y < g.out.h; ++y) {
        for (int32_t x = 0; x < g.out.w; ++x) {
          float sum = 0;
          for (int32_t ky = 0; ky < g.weight.h; ++ky) {
            int32_t iy;
            if (!InputAt(transposed, y, ky, g.stride.h, g.padding.h, g.dilation.h, g.in.h, iy)) continue;
            for (int32_t kx = 0; kx < g.weight.w; ++kx) {
              int32_t ix;
              if (!InputAt(transposed, x, kx, g.stride.w, g.padding.w, g.dilation.w, g.in.w, ix)) continue;
              sum = Dot({&input, g.in.At(n, group * in_channels, iy, ix), g.in.c_stride},
                        {&weight, weight_base + g.weight.At(0, 0, ky, kx), weight_stride}, in_channels, sum);
            }
          }
          to[g.out.At(n, c, y, x)] = bias == nullptr ? sum : sum + bias[c];
        }
      }
    }
  }
}

int64_t OutputSize(bool transposed, int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                   int64_t more) {
  if (transposed) return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + more + 1;
  return WindowCount(size, kernel, stride, padding, dilation, false);
}

}  // namespace

Status aten::convolution_out(KernelContext&, const Tensor& input, const Tensor& weight, const Tensor* bias,
                             IntList stride, IntList padding, IntList dilation, bool transposed, IntList output_padding,
                             int64_t groups, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckAll({&input, &weight, &out}));
  if (!IsFloat(input.dtype) || !IsFloat(weight.dtype) || !IsFloat(out.dtype)) {
    return Refuse("convolution is defined for float32 only");
  }
  const int spatial = weight.rank - 2;
  if (spatial != 1 && spatial != 2) return Refuse("convolution has one or two spatial dimensions here");
  Geometry g;
  if (!ImagesOf(input, spatial, g.in) || !ImagesOf(weight, spatial, g.weight) || !ImagesOf(out, spatial, g.out) ||
      input.rank != weight.rank || out.rank != weight.rank) {
    return Refuse("input, weight and out tensor differ in their number of dimensions");
  }
  if (!PairOf(stride, spatial, 1, {1, 1}, 1, g.stride) || !PairOf(dilation, spatial, 1, {1, 1}, 1, g.dilation)) {
    return Refuse("stride and dilation must be positive, one for each spatial dimension");
  }
  if (!PairOf(padding, spatial, 0, {0, 0}, 0, g.padding) ||
      !PairOf(output_padding, spatial, 0, {0, 0}, 0, g.output_padding)) {
    return Refuse("padding and output_padding must not be negative, one for each spatial dimension");
  }
  if (groups <= 0 || g.in.c % groups != 0) return Refuse("the channels cannot be divided into the groups");
  g.groups = static_cast<int32_t>(groups);
  const int32_t channels_of_weight = transposed ? g.weight.n : g.weight.c * g.groups;
  if (channels_of_weight != g.in.c) return Refuse("the weight is made for another number of input channels");
  const int64_t out_channels = transposed ? int64_t{g.weight.c} * groups : g.weight.n;
  if (out_channels % groups != 0) return Refuse("the channels cannot be divided into the groups");
  const bool fits =
      g.out.n == g.in.n && g.out.c == out_channels &&
      g.out.h ==
          OutputSize(transposed, g.in.h, g.weight.h, g.stride.h, g.padding.h, g.dilation.h, g.output_padding.h) &&
      g.out.w == OutputSize(transposed, g.in.w, g.weight.w, g.stride.w, g.padding.w, g.dilation.w, g.output_padding.w);
  if (!fits) return Refuse(kWrongOutSizes);
  if (bias != nullptr) {
    CORTEX_M_RETURN_IF_ERROR(Check(*bias));
    if (!IsFloat(bias->dtype) || bias->rank != 1 || bias->sizes[0] != g.out.c) {
      return Refuse("the bias must be float32, one a channel");
    }
  }
  Convolve(g, transposed, input, weight, bias == nullptr ? nullptr : bias->as<float>(), out);
  return Status();
}

}  // namespace cortex_m
