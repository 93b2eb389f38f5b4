#include "cortex_m/nn/additional.h"
#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

struct Arguments {
  const Tensor& input;
  IntList kernel_size, stride, padding, dilation;
  bool ceil_mode;
  int64_t input_zero_point, output_zero_point, activation_min, activation_max;
  const Tensor& out;
};

// Whether each window of one axis has a tap inside the input.
bool WindowsTouch(const cortex_m_nn_window_axis& axis) {
  for (int32_t o = 0; o < axis.output; ++o) {
    const int64_t start = int64_t{o} * axis.stride - axis.padding;
    const int64_t first =
        start >= 0 ? 0 : (-start + axis.dilation - 1) / axis.dilation;  // the first tap at 0 or behind
    if (first >= axis.kernel || start + first * axis.dilation >= axis.input) return false;
  }
  return true;
}

// Input and output share scale and zero point, so neither enters: the greatest stored value is the greatest value.
Status Pool(KernelContext& context, Layout layout, const Arguments& a) {
  if (a.input.dtype != ScalarType::kChar || a.out.dtype != ScalarType::kChar) {
    return context.Fail("max_pool2d: input and output must be int8");
  }
  cmsis_nn_dims in, out;
  if (!ReadImage(a.input, layout, &in)) return context.Fail("max_pool2d: input is no image in NHWC memory");
  if (!ReadImage(a.out, layout, &out)) return context.Fail("max_pool2d: output is no image in NHWC memory");
  cmsis_nn_tile kernel, dilation;
  cmsis_nn_pool_params params;
  if (!ReadTile(a.kernel_size, 1, 32767, &kernel)) {
    return context.Fail("max_pool2d: kernel_size is not two values of 1..32767");
  }
  if (!ReadTile(a.stride, 1, 32767, &params.stride)) {
    return context.Fail("max_pool2d: stride is not two values of 1..32767");
  }
  if (!ReadTile(a.padding, 0, 32767, &params.padding)) {
    return context.Fail("max_pool2d: padding is not two values of 0..32767");
  }
  if (!ReadTile(a.dilation, 1, 32767, &dilation)) {
    return context.Fail("max_pool2d: dilation is not two values of 1..32767");
  }
  if (2 * params.padding.h > kernel.h || 2 * params.padding.w > kernel.w) {
    return context.Fail("max_pool2d: padding is more than half of the kernel");
  }
  if (a.input_zero_point != a.output_zero_point || a.input_zero_point < -128 || a.input_zero_point > 127) {
    return context.Fail("max_pool2d: the zero points of input and output differ, or are outside -128..127");
  }
  if (!ReadActivation(a.activation_min, a.activation_max, &params.activation)) {
    return context.Fail("max_pool2d: the activation range is not inside -128..127");
  }
  if (in.n != out.n || in.c != out.c) {
    return context.Fail("max_pool2d: input and output have different batch sizes or channels");
  }
  if (out.h != OutputSize(in.h, kernel.h, params.stride.h, params.padding.h, dilation.h, a.ceil_mode) ||
      out.w != OutputSize(in.w, kernel.w, params.stride.w, params.padding.w, dilation.w, a.ceil_mode)) {
    return context.Fail(
        "max_pool2d: the output has another size than input, kernel, stride, padding, dilation and ceil_mode give");
  }
  const cortex_m_nn_window_axis rows = {in.h, out.h, kernel.h, params.stride.h, params.padding.h, dilation.h};
  const cortex_m_nn_window_axis columns = {in.w, out.w, kernel.w, params.stride.w, params.padding.w, dilation.w};
  if (!WindowsTouch(rows) || !WindowsTouch(columns)) {
    return context.Fail("max_pool2d: a window has no input in it");
  }
  const int8_t* input = a.input.as<int8_t>();
  int8_t* output = a.out.mutable_as<int8_t>();
  if (dilation.h != 1 || dilation.w != 1) {
    const cortex_m_nn_max_pool_args args = {
        input, output, in.n, in.c, rows, columns, params.activation.min, params.activation.max};
    cortex_m_nn_max_pool_dilated_s8(&args);
    return Status();
  }
  const cmsis_nn_context none = {nullptr, 0};
  const cmsis_nn_dims filter = {1, kernel.h, kernel.w, 1};
  if (arm_max_pool_s8(&none, &params, &in, input, &filter, &out, output) != ARM_CMSIS_NN_SUCCESS) {
    return context.Fail("max_pool2d: the kernel library refused the arguments");
  }
  return Status();
}

}  // namespace

Status quantized_max_pool2d_out(KernelContext& context, const Tensor& input, IntList kernel_size, IntList stride,
                                IntList padding, IntList dilation, bool ceil_mode, int64_t input_zero_point,
                                int64_t output_zero_point, int64_t activation_min, int64_t activation_max,
                                const Tensor& out) {
  return Pool(context, Layout::kChannelsLast,
              {input, kernel_size, stride, padding, dilation, ceil_mode, input_zero_point, output_zero_point,
               activation_min, activation_max, out});
}

Status quantized_max_pool2d_nhwc_out(KernelContext& context, const Tensor& input, IntList kernel_size, IntList stride,
                                     IntList padding, IntList dilation, bool ceil_mode, int64_t input_zero_point,
                                     int64_t output_zero_point, int64_t activation_min, int64_t activation_max,
                                     const Tensor& out) {
  return Pool(context, Layout::kNhwc,
              {input, kernel_size, stride, padding, dilation, ceil_mode, input_zero_point, output_zero_point,
               activation_min, activation_max, out});
}

}  // namespace cortex_m::ops
