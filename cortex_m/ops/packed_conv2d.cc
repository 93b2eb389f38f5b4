#include <cstring>

#include "cortex_m/nn/additional.h"
#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

// Whether this program's kernel reads that packing. The host has the scalar form of all of them, so that it stands for any core.
bool IsReadHere(int64_t packing, const cortex_m_nn_packed_conv_args& args) {
#if defined(__arm__)
  const cortex_m_nn_isa isa = CORTEX_M_NN_COMPILED_ISA;
#else
  const cortex_m_nn_isa isa = CORTEX_M_NN_ISA_MVE;
#endif
  return packing != CORTEX_M_NN_PACKING_NONE && packing == cortex_m_nn_packed_conv_packing(isa, &args);
}

// Whether kernels take the multipliers and shifts of all channels.
bool RequantizationIsPacked(const cortex_m_nn_packed_conv_args& args) {
  const int32_t pairs = args.output_channels / 2;
  const int32_t pair_bytes = cortex_m_nn_packed_conv_bytes(&args) / pairs;
  const int8_t* parameters = args.packed + pair_bytes - 4 * sizeof(int32_t);
  for (int32_t i = 0; i < pairs; ++i, parameters += pair_bytes) {
    int32_t values[4];  // two multipliers, two shifts
    std::memcpy(values, parameters, sizeof values);
    if (!cortex_m_nn_packed_requantization_is_valid(values[0], values[2]) ||
        !cortex_m_nn_packed_requantization_is_valid(values[1], values[3])) {
      return false;
    }
  }
  return true;
}

}  // namespace

Status packed_conv2d_nhwc_out(KernelContext& context, const Tensor& input, const Tensor& packed, int64_t packing,
                              int64_t output_channels, IntList kernel_size, IntList stride, IntList padding,
                              IntList dilation, int64_t input_offset, int64_t output_offset, int64_t activation_min,
                              int64_t activation_max, Tensor& scratch, const Tensor& out) {
  if (input.dtype != ScalarType::kChar || packed.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("packed convolution: input, packed weights and output must be int8");
  }
  cmsis_nn_dims from, to;
  if (!ReadImage(input, Layout::kNhwc, &from)) return context.Fail("packed convolution: input is no image in NHWC memory");
  if (!ReadImage(out, Layout::kNhwc, &to)) return context.Fail("packed convolution: output is no image in NHWC memory");
  cmsis_nn_tile kernel, steps, margins, gaps;
  if (!ReadTile(kernel_size, 1, INT16_MAX, &kernel) || !ReadTile(stride, 1, INT16_MAX, &steps) ||
      !ReadTile(padding, 0, INT16_MAX, &margins) || !ReadTile(dilation, 1, INT16_MAX, &gaps)) {
    return context.Fail("packed convolution: kernel_size, stride, padding or dilation is no pair of values in range");
  }
  cortex_m_nn_packed_conv_args args = {};
  args.input = input.as<int8_t>();
  args.packed = packed.as<int8_t>();
  args.out = out.mutable_as<int8_t>();
  args.batch = from.n;
  args.input_channels = from.c;
  args.rows = {from.h, to.h, kernel.h, steps.h, margins.h, gaps.h};
  args.columns = {from.w, to.w, kernel.w, steps.w, margins.w, gaps.w};
  if (!Narrow(output_channels, 1, INT32_MAX, &args.output_channels) || args.output_channels != to.c || from.n != to.n) {
    return context.Fail("packed convolution: the output has another batch size than the input, or not output_channels");
  }
  if (to.h != OutputSize(from.h, kernel.h, steps.h, margins.h, gaps.h, false) ||
      to.w != OutputSize(from.w, kernel.w, steps.w, margins.w, gaps.w, false)) {
    return context.Fail(
        "packed convolution: the output has another size than input, kernel, stride, padding and dilation give");
  }
  if (!Narrow(input_offset, -127, 128, &args.input_offset) || !Narrow(output_offset, -128, 127, &args.output_offset)) {
    return context.Fail("packed convolution: an offset is outside -127..128 (input) or -128..127 (output)");
  }
  cmsis_nn_activation activation;
  if (!ReadActivation(activation_min, activation_max, &activation)) {
    return context.Fail("packed convolution: the activation range is not inside -128..127");
  }
  args.activation_min = activation.min;
  args.activation_max = activation.max;
  if (!IsReadHere(packing, args)) {
    return context.Fail("packed convolution: this core's kernel reads another packing: export the program for this core");
  }
  if (packed.rank != 1 || packed.sizes[0] != cortex_m_nn_packed_conv_bytes(&args) ||
      reinterpret_cast<uintptr_t>(args.packed) % alignof(int32_t) != 0) {
    return context.Fail("packed convolution: packed weights are no aligned bytes of the size that the channels ask for");
  }
  if (!RequantizationIsPacked(args)) {
    return context.Fail("packed convolution: a multiplier is not positive, or a shift is outside -31..-1");
  }
  const cmsis_nn_context memory = Scratch(scratch);
  if (memory.size < cortex_m_nn_packed_conv_scratch_bytes(&args)) {
    return context.Fail("packed convolution: scratch is smaller than the kernel needs");
  }
  cortex_m_nn_packed_conv_s8(&args, memory.buf);
  return Status();
}

}  // namespace cortex_m::ops
