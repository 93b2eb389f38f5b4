#include "cortex_m/ops/convolution.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

Status Convolve(KernelContext& context, Layout layout, const ConvolutionArguments& arguments, const Tensor& scratch) {
  Convolution c;
  CORTEX_M_RETURN_IF_ERROR(ReadConvolution(context, layout, arguments, &c));
  CORTEX_M_RETURN_IF_ERROR(CheckGroups(context, c));
  CORTEX_M_RETURN_IF_ERROR(CheckOutputSize(context, c));
  const cmsis_nn_conv_params params = {c.input_offset, c.output_offset, c.stride, c.padding, c.dilation, c.activation};
  const cmsis_nn_context memory = Scratch(scratch);
#ifndef CORTEX_M_NN
  if (memory.size < arm_convolve_wrapper_s8_get_buffer_size(&params, &c.input, &c.filter, &c.output)) {
    return context.Fail("conv2d: scratch is smaller than the kernel library needs on this core");
  }
  if (c.bias == nullptr && c.input.c != c.filter.c) {
    return context.Fail("conv2d: the kernel library needs a bias for a convolution in groups");
  }
#endif
  const cmsis_nn_dims bias_dims = {1, 1, 1, c.output.c};
  if (arm_convolve_wrapper_s8(&memory, &params, &c.quant, &c.input, c.in, &c.filter, c.weight, &bias_dims, c.bias,
                              &c.output, c.out) != ARM_CMSIS_NN_SUCCESS) {
    return context.Fail("conv2d: the kernel library refused the arguments");
  }
  return Status();
}

}  // namespace

Status quantized_conv2d_out(KernelContext& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                            IntList stride, IntList padding, IntList dilation, int64_t input_offset,
                            int64_t output_offset, const Tensor& requantize_multipliers,
                            const Tensor& requantize_shifts, int64_t activation_min, int64_t activation_max,
                            Tensor& scratch, const Tensor& out) {
  return Convolve(context, Layout::kChannelsLast,
                  {input, weight, bias, stride, padding, dilation, input_offset, output_offset, requantize_multipliers,
                   requantize_shifts, activation_min, activation_max, out},
                  scratch);
}

Status quantized_conv2d_nhwc_out(KernelContext& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                                 IntList stride, IntList padding, IntList dilation, int64_t input_offset,
                                 int64_t output_offset, const Tensor& requantize_multipliers,
                                 const Tensor& requantize_shifts, int64_t activation_min, int64_t activation_max,
                                 Tensor& scratch, const Tensor& out) {
  return Convolve(context, Layout::kNhwc,
                  {input, weight, bias, stride, padding, dilation, input_offset, output_offset, requantize_multipliers,
                   requantize_shifts, activation_min, activation_max, out},
                  scratch);
}

}  // namespace cortex_m::ops
