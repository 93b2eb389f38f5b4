#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

// zero_point, multiplier and shift describe the quantization that input and output share, for the host's reference and
// tools: the rounded mean of int8 values needs none of them.
Status Pool(KernelContext& context, Layout layout, const Tensor& input, IntList kernel_size, IntList stride,
            IntList padding, bool ceil_mode, int64_t zero_point, const Tensor& scratch, const Tensor& out) {
  if (input.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("avg_pool2d: input and output must be int8");
  }
  cmsis_nn_dims in, output;
  if (!ReadImage(input, layout, &in)) return context.Fail("avg_pool2d: input is no image in NHWC memory");
  if (!ReadImage(out, layout, &output)) return context.Fail("avg_pool2d: output is no image in NHWC memory");
  cmsis_nn_tile kernel;
  cmsis_nn_pool_params params;
  params.activation = {-128, 127};
  if (!ReadTile(kernel_size, 1, 32767, &kernel)) {
    return context.Fail("avg_pool2d: kernel_size is not two values of 1..32767");
  }
  if (!ReadTile(stride, 1, 32767, &params.stride))
    return context.Fail("avg_pool2d: stride is not two values of 1..32767");
  if (!ReadTile(padding, 0, 32767, &params.padding)) {
    return context.Fail("avg_pool2d: padding is not two values of 0..32767");
  }
  if (2 * params.padding.h > kernel.h || 2 * params.padding.w > kernel.w) {
    return context.Fail("avg_pool2d: padding is more than half of the kernel");
  }
  if (zero_point < -128 || zero_point > 127) return context.Fail("avg_pool2d: zero_point is outside -128..127");
  if (in.n != output.n || in.c != output.c) {
    return context.Fail("avg_pool2d: input and output have different batch sizes or channels");
  }
  if (output.h != OutputSize(in.h, kernel.h, params.stride.h, params.padding.h, 1, ceil_mode) ||
      output.w != OutputSize(in.w, kernel.w, params.stride.w, params.padding.w, 1, ceil_mode)) {
    return context.Fail(
        "avg_pool2d: the output has another size than input, kernel, stride, padding and ceil_mode give");
  }
  const cmsis_nn_context memory = Scratch(scratch);
  if (memory.size < arm_avgpool_s8_get_buffer_size(output.w, in.c)) {
    return context.Fail("avg_pool2d: scratch is smaller than the kernel library needs on this core");
  }
  const cmsis_nn_dims filter = {1, kernel.h, kernel.w, 1};
  if (arm_avgpool_s8(&memory, &params, &in, input.as<int8_t>(), &filter, &output, out.mutable_as<int8_t>()) !=
      ARM_CMSIS_NN_SUCCESS) {
    return context.Fail("avg_pool2d: the kernel library refused the arguments");
  }
  return Status();
}

}  // namespace

Status quantized_avg_pool2d_out(KernelContext& context, const Tensor& input, IntList kernel_size, IntList stride,
                                IntList padding, bool ceil_mode, int64_t zero_point, int64_t, int64_t, Tensor& scratch,
                                const Tensor& out) {
  return Pool(context, Layout::kChannelsLast, input, kernel_size, stride, padding, ceil_mode, zero_point, scratch, out);
}

Status quantized_avg_pool2d_nhwc_out(KernelContext& context, const Tensor& input, IntList kernel_size, IntList stride,
                                     IntList padding, bool ceil_mode, int64_t zero_point, int64_t, int64_t,
                                     Tensor& scratch, const Tensor& out) {
  return Pool(context, Layout::kNhwc, input, kernel_size, stride, padding, ceil_mode, zero_point, scratch, out);
}

}  // namespace cortex_m::ops
