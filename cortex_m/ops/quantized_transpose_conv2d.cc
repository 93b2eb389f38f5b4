#include "cortex_m/nn/additional.h"
#include "cortex_m/ops/convolution.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

int64_t TransposedSize(int32_t input, int32_t kernel, int32_t stride, int32_t padding, int32_t dilation,
                       int32_t extra) {
  return (int64_t{input} - 1) * stride - 2 * int64_t{padding} + int64_t{dilation} * (kernel - 1) + 1 + extra;
}

// What the interface of CMSIS-NN has no words for, in either library.
void ConvolveGeneral(const Convolution& c) {
  cortex_m_nn_transpose_conv_args args = {};
  args.input = c.in;
  args.filter = c.weight;
  args.bias = c.bias;
  args.multiplier = c.quant.multiplier;
  args.shift = c.quant.shift;
  args.out = c.out;
  args.batch = c.input.n;
  args.input_channels = c.input.c;
  args.output_channels = c.output.c;
  args.groups = c.input.c / c.filter.c;
  args.rows = {c.input.h, c.output.h, c.filter.h, c.stride.h, c.padding.h, c.dilation.h};
  args.columns = {c.input.w, c.output.w, c.filter.w, c.stride.w, c.padding.w, c.dilation.w};
  args.input_offset = c.input_offset;
  args.output_offset = c.output_offset;
  args.activation_min = c.activation.min;
  args.activation_max = c.activation.max;
  cortex_m_nn_transpose_conv_s8(&args);
}

Status Convolve(KernelContext& context, Layout layout, const ConvolutionArguments& arguments, IntList output_padding,
                const Tensor& scratch, const Tensor& output_scratch) {
  Convolution c;
  CORTEX_M_RETURN_IF_ERROR(ReadConvolution(context, layout, arguments, &c));
  CORTEX_M_RETURN_IF_ERROR(CheckGroups(context, c));
  cmsis_nn_tile extra;
  if (!ReadTile(output_padding, 0, 32767, &extra)) {
    return context.Fail("transpose conv2d: output_padding is not two values of 0..32767");
  }
  // As in PyTorch: more rows or columns than these would be beyond everything that the input reaches.
  if ((extra.h >= c.stride.h && extra.h >= c.dilation.h) || (extra.w >= c.stride.w && extra.w >= c.dilation.w)) {
    return context.Fail("transpose conv2d: output_padding is neither below the stride nor below the dilation");
  }
  if (c.output.h != TransposedSize(c.input.h, c.filter.h, c.stride.h, c.padding.h, c.dilation.h, extra.h) ||
      c.output.w != TransposedSize(c.input.w, c.filter.w, c.stride.w, c.padding.w, c.dilation.w, extra.w)) {
    return context.Fail(
        "transpose conv2d: the output has another size than input, kernel, stride, padding, dilation and output_padding give");
  }
  if (c.bias == nullptr ||
      cortex_m_nn_transpose_conv_is_general(c.input.c / c.filter.c, c.dilation.h, c.dilation.w, extra.h, extra.w)) {
    ConvolveGeneral(c);
    return Status();
  }
  const cmsis_nn_transpose_conv_params params = {c.input_offset, c.output_offset, c.stride,    c.padding,
                                                 extra,          c.dilation,      c.activation};
  const cmsis_nn_context memory = Scratch(scratch), output_memory = Scratch(output_scratch);
  if (memory.size < arm_transpose_conv_s8_get_buffer_size(&params, &c.input, &c.filter, &c.output) ||
      output_memory.size < arm_transpose_conv_s8_get_reverse_conv_buffer_size(&params, &c.input, &c.filter)) {
    return context.Fail("transpose conv2d: scratch is smaller than the kernel library needs on this core");
  }
  const cmsis_nn_dims bias_dims = {1, 1, 1, c.output.c};
  if (arm_transpose_conv_wrapper_s8(&memory, &output_memory, &params, &c.quant, &c.input, c.in, &c.filter, c.weight,
                                    &bias_dims, c.bias, &c.output, c.out) != ARM_CMSIS_NN_SUCCESS) {
    return context.Fail("transpose conv2d: the kernel library refused the arguments");
  }
  return Status();
}

}  // namespace

Status quantized_transpose_conv2d_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                                      const Tensor* bias, IntList stride, IntList padding, IntList output_padding,
                                      IntList dilation, int64_t input_offset, int64_t output_offset,
                                      const Tensor& requantize_multipliers, const Tensor& requantize_shifts,
                                      int64_t activation_min, int64_t activation_max, Tensor& scratch,
                                      Tensor& output_scratch, const Tensor& out) {
  return Convolve(context, Layout::kChannelsLast,
                  {input, weight, bias, stride, padding, dilation, input_offset, output_offset, requantize_multipliers,
                   requantize_shifts, activation_min, activation_max, out},
                  output_padding, scratch, output_scratch);
}

Status quantized_transpose_conv2d_nhwc_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                                           const Tensor* bias, IntList stride, IntList padding, IntList output_padding,
                                           IntList dilation, int64_t input_offset, int64_t output_offset,
                                           const Tensor& requantize_multipliers, const Tensor& requantize_shifts,
                                           int64_t activation_min, int64_t activation_max, Tensor& scratch,
                                           Tensor& output_scratch, const Tensor& out) {
  return Convolve(context, Layout::kNhwc,
                  {input, weight, bias, stride, padding, dilation, input_offset, output_offset, requantize_multipliers,
                   requantize_shifts, activation_min, activation_max, out},
                  output_padding, scratch, output_scratch);
}

}  // namespace cortex_m::ops
