#include "cortex_m/nn/additional.h"
#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

// The core whose packings are taken. The host has the scalar form of all of them, so that it stands for any core.
#if defined(__arm__)
constexpr cortex_m_nn_isa kIsa = CORTEX_M_NN_COMPILED_ISA;
#else
constexpr cortex_m_nn_isa kIsa = CORTEX_M_NN_ISA_MVE;
#endif

// As they come from the program.
struct PackedArguments {
  const Tensor& input;
  const Tensor& packed;
  int64_t packing, output_channels;
  IntList kernel_size, stride, padding, dilation;
  int64_t input_offset, output_offset, activation_min, activation_max;
  const Tensor& out;
};

// What both convolutions have of their own.
struct Kernel {
  cortex_m_nn_packing (*packing)(cortex_m_nn_isa, const cortex_m_nn_packed_conv_args*);
  int32_t (*bytes)(const cortex_m_nn_packed_conv_args*);
  int32_t (*scratch_bytes)(const cortex_m_nn_packed_conv_args*);
  bool (*is_valid)(const cortex_m_nn_packed_conv_args*);
  void (*run)(const cortex_m_nn_packed_conv_args*, void*);
};

Status Convolve(KernelContext& context, const Kernel& kernel, const PackedArguments& a, const Tensor& scratch) {
  if (a.input.dtype != ScalarType::kChar || a.packed.dtype != ScalarType::kChar || a.out.dtype != ScalarType::kChar) {
    return context.Fail("packed convolution: input, packed weights and output must be int8");
  }
  cmsis_nn_dims from, to;
  if (!ReadImage(a.input, Layout::kNhwc, &from))
    return context.Fail("packed convolution: input is no image in NHWC memory");
  if (!ReadImage(a.out, Layout::kNhwc, &to))
    return context.Fail("packed convolution: output is no image in NHWC memory");
  cmsis_nn_tile taps, steps, margins, gaps;
  if (!ReadTile(a.kernel_size, 1, INT16_MAX, &taps) || !ReadTile(a.stride, 1, INT16_MAX, &steps) ||
      !ReadTile(a.padding, 0, INT16_MAX, &margins) || !ReadTile(a.dilation, 1, INT16_MAX, &gaps)) {
    return context.Fail("packed convolution: kernel_size, stride, padding or dilation is no pair of values in range");
  }
  cortex_m_nn_packed_conv_args args = {};
  args.input = a.input.as<int8_t>();
  args.packed = a.packed.as<int8_t>();
  args.out = a.out.mutable_as<int8_t>();
  args.batch = from.n;
  args.input_channels = from.c;
  args.rows = {from.h, to.h, taps.h, steps.h, margins.h, gaps.h};
  args.columns = {from.w, to.w, taps.w, steps.w, margins.w, gaps.w};
  if (!Narrow(a.output_channels, 1, INT32_MAX, &args.output_channels) || args.output_channels != to.c ||
      from.n != to.n) {
    return context.Fail("packed convolution: the output has another batch size than the input, or not output_channels");
  }
  if (to.h != OutputSize(from.h, taps.h, steps.h, margins.h, gaps.h, false) ||
      to.w != OutputSize(from.w, taps.w, steps.w, margins.w, gaps.w, false)) {
    return context.Fail(
        "packed convolution: the output has another size than input, kernel, stride, padding and dilation give");
  }
  if (!Narrow(a.input_offset, -127, 128, &args.input_offset) ||
      !Narrow(a.output_offset, -128, 127, &args.output_offset)) {
    return context.Fail("packed convolution: an offset is outside -127..128 (input) or -128..127 (output)");
  }
  cmsis_nn_activation activation;
  if (!ReadActivation(a.activation_min, a.activation_max, &activation)) {
    return context.Fail("packed convolution: the activation range is not inside -128..127");
  }
  args.activation_min = activation.min;
  args.activation_max = activation.max;
  if (a.packing == CORTEX_M_NN_PACKING_NONE || a.packing != kernel.packing(kIsa, &args)) {
    return context.Fail(
        "packed convolution: this core's kernel reads another packing: export the program for this core");
  }
  if (a.packed.rank != 1 || a.packed.sizes[0] != kernel.bytes(&args) ||
      reinterpret_cast<uintptr_t>(args.packed) % alignof(int32_t) != 0) {
    return context.Fail(
        "packed convolution: packed weights are no aligned bytes of the size that the channels ask for");
  }
  if (!kernel.is_valid(&args)) {
    return context.Fail(
        "packed convolution: a multiplier is not positive, a shift is outside -31..-1, or a tap is -128");
  }
  const cmsis_nn_context memory = Scratch(scratch);
  if (memory.size < kernel.scratch_bytes(&args)) {
    return context.Fail("packed convolution: scratch is smaller than the kernel needs");
  }
  kernel.run(&args, memory.buf);
  return Status();
}

}  // namespace

Status packed_conv2d_nhwc_out(KernelContext& context, const Tensor& input, const Tensor& packed, int64_t packing,
                              int64_t output_channels, IntList kernel_size, IntList stride, IntList padding,
                              IntList dilation, int64_t input_offset, int64_t output_offset, int64_t activation_min,
                              int64_t activation_max, Tensor& scratch, const Tensor& out) {
  return Convolve(context,
                  {cortex_m_nn_packed_conv_packing, cortex_m_nn_packed_conv_bytes,
                   cortex_m_nn_packed_conv_scratch_bytes, cortex_m_nn_packed_conv_is_valid, cortex_m_nn_packed_conv_s8},
                  {input, packed, packing, output_channels, kernel_size, stride, padding, dilation, input_offset,
                   output_offset, activation_min, activation_max, out},
                  scratch);
}

Status packed_depthwise_conv2d_nhwc_out(KernelContext& context, const Tensor& input, const Tensor& packed,
                                        int64_t packing, int64_t output_channels, IntList kernel_size, IntList stride,
                                        IntList padding, IntList dilation, int64_t input_offset, int64_t output_offset,
                                        int64_t activation_min, int64_t activation_max, Tensor& scratch,
                                        const Tensor& out) {
  return Convolve(context,
                  {cortex_m_nn_packed_depthwise_conv_packing, cortex_m_nn_packed_depthwise_conv_bytes,
                   cortex_m_nn_packed_depthwise_conv_scratch_bytes, cortex_m_nn_packed_depthwise_conv_is_valid,
                   cortex_m_nn_packed_depthwise_conv_s8},
                  {input, packed, packing, output_channels, kernel_size, stride, padding, dilation, input_offset,
                   output_offset, activation_min, activation_max, out},
                  scratch);
}

}  // namespace cortex_m::ops
