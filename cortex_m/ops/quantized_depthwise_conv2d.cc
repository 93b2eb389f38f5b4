#include "cortex_m/ops/convolution.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

Status Convolve(KernelContext& context, Layout layout, const ConvolutionArguments& arguments, int64_t depth_multiplier,
                const Tensor& scratch) {
  Convolution c;
  CORTEX_M_RETURN_IF_ERROR(ReadConvolution(context, layout, arguments, &c));
  if (c.filter.n != 1) return context.Fail("depthwise conv2d: weight is not a contiguous tensor [1, H, W, C_out]");
  cmsis_nn_dw_conv_params params = {c.input_offset, c.output_offset, 1, c.stride, c.padding, c.dilation, c.activation};
  if (!Narrow(depth_multiplier, 1, INT32_MAX, &params.ch_mult) || int64_t{c.input.c} * params.ch_mult != c.output.c ||
      c.filter.c != c.output.c) {
    return context.Fail(
        "depthwise conv2d: output channels are not input channels times depth_multiplier, or not the weight's");
  }
  CORTEX_M_RETURN_IF_ERROR(CheckOutputSize(context, c));

  // CMSIS-NN's depthwise kernels take one image: a batch is run image by image.
  const int32_t images = c.input.n;
  c.input.n = 1;
  c.output.n = 1;
  const cmsis_nn_context memory = Scratch(scratch);
#ifndef CORTEX_M_NN
  if (memory.size < arm_depthwise_conv_wrapper_s8_get_buffer_size(&params, &c.input, &c.filter, &c.output)) {
    return context.Fail("depthwise conv2d: scratch is smaller than the kernel library needs on this core");
  }
  if (c.bias == nullptr) return context.Fail("depthwise conv2d: the kernel library needs a bias");
#endif
  const cmsis_nn_dims bias_dims = {1, 1, 1, c.output.c};
  for (int32_t i = 0; i < images; ++i) {
    if (arm_depthwise_conv_wrapper_s8(&memory, &params, &c.quant, &c.input, c.in, &c.filter, c.weight, &bias_dims,
                                      c.bias, &c.output, c.out) != ARM_CMSIS_NN_SUCCESS) {
      return context.Fail("depthwise conv2d: the kernel library refused the arguments");
    }
    c.in += c.input.h * c.input.w * c.input.c;
    c.out += c.output.h * c.output.w * c.output.c;
  }
  return Status();
}

}  // namespace

Status quantized_depthwise_conv2d_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                                      const Tensor* bias, IntList stride, IntList padding, IntList dilation,
                                      int64_t depth_multiplier, int64_t input_offset, int64_t output_offset,
                                      const Tensor& requantize_multipliers, const Tensor& requantize_shifts,
                                      int64_t activation_min, int64_t activation_max, Tensor& scratch,
                                      const Tensor& out) {
  return Convolve(context, Layout::kChannelsLast,
                  {input, weight, bias, stride, padding, dilation, input_offset, output_offset, requantize_multipliers,
                   requantize_shifts, activation_min, activation_max, out},
                  depth_multiplier, scratch);
}

Status quantized_depthwise_conv2d_nhwc_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                                           const Tensor* bias, IntList stride, IntList padding, IntList dilation,
                                           int64_t depth_multiplier, int64_t input_offset, int64_t output_offset,
                                           const Tensor& requantize_multipliers, const Tensor& requantize_shifts,
                                           int64_t activation_min, int64_t activation_max, Tensor& scratch,
                                           const Tensor& out) {
  return Convolve(context, Layout::kNhwc,
                  {input, weight, bias, stride, padding, dilation, input_offset, output_offset, requantize_multipliers,
                   requantize_shifts, activation_min, activation_max, out},
                  depth_multiplier, scratch);
}

}  // namespace cortex_m::ops
