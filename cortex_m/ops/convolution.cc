#include "cortex_m/ops/convolution.h"

namespace cortex_m::ops {

Status ReadConvolution(KernelContext& context, Layout layout, const ConvolutionArguments& a, Convolution* c) {
  if (a.input.dtype != ScalarType::kChar || a.weight.dtype != ScalarType::kChar || a.out.dtype != ScalarType::kChar) {
    return context.Fail("convolution: input, weight and output must be int8");
  }
  if (!ReadImage(a.input, layout, &c->input)) return context.Fail("convolution: input is no image in NHWC memory");
  if (!ReadImage(a.out, layout, &c->output)) return context.Fail("convolution: output is no image in NHWC memory");
  if (!ReadContiguous4(a.weight, &c->filter)) {
    return context.Fail("convolution: weight is not a contiguous tensor of rank 4");
  }
  if (!ReadTile(a.stride, 1, 32767, &c->stride)) {
    return context.Fail("convolution: stride is not two values of 1..32767");
  }
  if (!ReadTile(a.padding, 0, 32767, &c->padding)) {
    return context.Fail("convolution: padding is not two values of 0..32767");
  }
  if (!ReadTile(a.dilation, 1, 32767, &c->dilation)) {
    return context.Fail("convolution: dilation is not two values of 1..32767");
  }
  if (!Narrow(a.input_offset, -127, 128, &c->input_offset)) {
    return context.Fail("convolution: input_offset (minus the zero point) is outside -127..128");
  }
  if (!Narrow(a.output_offset, -128, 127, &c->output_offset)) {
    return context.Fail("convolution: output_offset is outside -128..127");
  }
  if (!ReadActivation(a.activation_min, a.activation_max, &c->activation)) {
    return context.Fail("convolution: the activation range is not inside -128..127");
  }
  if (c->input.n != c->output.n) return context.Fail("convolution: input and output have different batch sizes");
  const int32_t channels = c->output.c;
  const int32_t* multipliers = Int32Values(a.multipliers, channels);
  const int32_t* shifts = Int32Values(a.shifts, channels);
  if (multipliers == nullptr || shifts == nullptr) {
    return context.Fail("convolution: multipliers and shifts must be int32, one for each output channel");
  }
  if (!RequantizationIsValid(multipliers, shifts, channels)) {
    return context.Fail("convolution: a requantize multiplier is -2^31, or a shift is outside -31..30");
  }
  // The library's struct has pointers to non-const for historical reasons; it only reads.
  c->quant = {const_cast<int32_t*>(multipliers), const_cast<int32_t*>(shifts)};
  c->bias = a.bias == nullptr ? nullptr : Int32Values(*a.bias, channels);
  if (a.bias != nullptr && c->bias == nullptr) {
    return context.Fail("convolution: bias must be int32, one value for each output channel");
  }
  c->in = a.input.as<int8_t>();
  c->weight = a.weight.as<int8_t>();
  c->out = a.out.mutable_as<int8_t>();
  return Status();
}

Status CheckGroups(KernelContext& context, const Convolution& c) {
  if (c.input.c % c.filter.c != 0 || c.output.c % (c.input.c / c.filter.c) != 0) {
    return context.Fail("convolution: the channels of input, weight and output do not form groups");
  }
  if (c.filter.n != c.output.c) {
    return context.Fail("convolution: output and weight have different output channels");
  }
  return Status();
}

Status CheckOutputSize(KernelContext& context, const Convolution& c) {
  if (c.output.h != OutputSize(c.input.h, c.filter.h, c.stride.h, c.padding.h, c.dilation.h, false) ||
      c.output.w != OutputSize(c.input.w, c.filter.w, c.stride.w, c.padding.w, c.dilation.w, false)) {
    return context.Fail(
        "convolution: the output has another size than input, kernel, stride, padding and dilation give");
  }
  return Status();
}

}  // namespace cortex_m::ops
