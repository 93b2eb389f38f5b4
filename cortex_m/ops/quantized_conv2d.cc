#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

struct Arguments {
  const Tensor& input;
  const Tensor& weight;
  const Tensor* bias;
  IntList stride, padding, dilation;
  int64_t input_offset, output_offset;
  const Tensor& multipliers;
  const Tensor& shifts;
  int64_t activation_min, activation_max;
  const Tensor& scratch;
  const Tensor& out;
};

Status Convolve(KernelContext& context, Layout layout, const Arguments& a) {
  if (a.input.dtype != ScalarType::kChar || a.weight.dtype != ScalarType::kChar || a.out.dtype != ScalarType::kChar) {
    return context.Fail("conv2d: input, weight and output must be int8");
  }
  cmsis_nn_dims input, filter, output;
  if (!ReadImage(a.input, layout, &input)) return context.Fail("conv2d: input is no image in NHWC memory");
  if (!ReadImage(a.out, layout, &output)) return context.Fail("conv2d: output is no image in NHWC memory");
  if (!ReadContiguous4(a.weight, &filter)) return context.Fail("conv2d: weight is not a contiguous OHWI tensor");

  cmsis_nn_conv_params params;
  if (!ReadTile(a.stride, 1, 32767, &params.stride)) return context.Fail("conv2d: stride is not two values of 1..32767");
  if (!ReadTile(a.padding, 0, 32767, &params.padding)) return context.Fail("conv2d: padding is not two values of 0..32767");
  if (!ReadTile(a.dilation, 1, 32767, &params.dilation)) {
    return context.Fail("conv2d: dilation is not two values of 1..32767");
  }
  if (!Narrow(a.input_offset, -127, 128, &params.input_offset)) {
    return context.Fail("conv2d: input_offset (minus the zero point) is outside -127..128");
  }
  if (!Narrow(a.output_offset, -128, 127, &params.output_offset)) {
    return context.Fail("conv2d: output_offset is outside -128..127");
  }
  if (!ReadActivation(a.activation_min, a.activation_max, &params.activation)) {
    return context.Fail("conv2d: the activation range is not inside -128..127");
  }

  if (input.c % filter.c != 0 || output.c % (input.c / filter.c) != 0) {
    return context.Fail("conv2d: the channels of input, weight and output do not form groups");
  }
  if (filter.n != output.c) return context.Fail("conv2d: output and weight have different output channels");
  if (input.n != output.n) return context.Fail("conv2d: input and output have different batch sizes");
  if (output.h != OutputSize(input.h, filter.h, params.stride.h, params.padding.h, params.dilation.h, false) ||
      output.w != OutputSize(input.w, filter.w, params.stride.w, params.padding.w, params.dilation.w, false)) {
    return context.Fail("conv2d: the output has another size than input, kernel, stride, padding and dilation give");
  }
  const int32_t* multipliers = Int32Values(a.multipliers, output.c);
  const int32_t* shifts = Int32Values(a.shifts, output.c);
  if (multipliers == nullptr || shifts == nullptr) {
    return context.Fail("conv2d: multipliers and shifts must be int32, one for each output channel");
  }
  if (!RequantizationIsValid(multipliers, shifts, output.c)) {
    return context.Fail("conv2d: a requantize multiplier is -2^31, or a shift is outside -31..30");
  }
  const int32_t* bias = a.bias == nullptr ? nullptr : Int32Values(*a.bias, output.c);
  if (a.bias != nullptr && bias == nullptr) {
    return context.Fail("conv2d: bias must be int32, one value for each output channel");
  }

  const cmsis_nn_context scratch = Scratch(a.scratch);
#ifndef CORTEX_M_NN
  if (scratch.size < arm_convolve_wrapper_s8_get_buffer_size(&params, &input, &filter, &output)) {
    return context.Fail("conv2d: scratch is smaller than the kernel library needs on this core");
  }
  if (bias == nullptr && input.c != filter.c) {
    return context.Fail("conv2d: the kernel library needs a bias for a convolution in groups");
  }
#endif
  // The library's struct has pointers to non-const for historical reasons; it only reads.
  const cmsis_nn_per_channel_quant_params quant = {const_cast<int32_t*>(multipliers), const_cast<int32_t*>(shifts)};
  const cmsis_nn_dims bias_dims = {1, 1, 1, output.c};
  if (arm_convolve_wrapper_s8(&scratch, &params, &quant, &input, a.input.as<int8_t>(), &filter, a.weight.as<int8_t>(),
                              &bias_dims, bias, &output, a.out.mutable_as<int8_t>()) != ARM_CMSIS_NN_SUCCESS) {
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
                   requantize_shifts, activation_min, activation_max, scratch, out});
}

Status quantized_conv2d_nhwc_out(KernelContext& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                                 IntList stride, IntList padding, IntList dilation, int64_t input_offset,
                                 int64_t output_offset, const Tensor& requantize_multipliers,
                                 const Tensor& requantize_shifts, int64_t activation_min, int64_t activation_max,
                                 Tensor& scratch, const Tensor& out) {
  return Convolve(context, Layout::kNhwc,
                  {input, weight, bias, stride, padding, dilation, input_offset, output_offset, requantize_multipliers,
                   requantize_shifts, activation_min, activation_max, scratch, out});
}

}  // namespace cortex_m::ops
