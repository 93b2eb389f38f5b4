#include "cortex_m/nn/additional.h"
#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

// The core whose packings are taken; the host stands for any.
#if defined(__arm__)
constexpr cortex_m_nn_isa kIsa = CORTEX_M_NN_COMPILED_ISA;
#else
constexpr cortex_m_nn_isa kIsa = CORTEX_M_NN_ISA_DSP;
#endif

}  // namespace

Status packed_linear_out(KernelContext& context, const Tensor& input, const Tensor& packed, int64_t packing,
                         int64_t output_channels, int64_t output_offset, int64_t activation_min, int64_t activation_max,
                         Tensor& scratch, const Tensor& out) {
  if (input.dtype != ScalarType::kChar || packed.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("packed linear: input, packed weights and output must be int8");
  }
  if (input.rank < 1 || input.rank != out.rank || !IsContiguous(input) || !IsContiguous(out)) {
    return context.Fail("packed linear: input and output must be contiguous, of one rank of at least 1");
  }
  const int last = input.rank - 1;
  int64_t rows = 1;
  for (int i = 0; i < last; ++i) {
    if (input.sizes[i] != out.sizes[i])
      return context.Fail("packed linear: input and output have different leading sizes");
    rows *= input.sizes[i];
  }
  cortex_m_nn_packed_linear_args args = {};
  args.input = input.as<int8_t>();
  args.packed = packed.as<int8_t>();
  args.out = out.mutable_as<int8_t>();
  args.depth = input.sizes[last];
  if (!Narrow(output_channels, 1, INT32_MAX, &args.channels) || args.channels != out.sizes[last]) {
    return context.Fail("packed linear: the output's last size is not output_channels");
  }
  if (rows < 1 || args.depth < 1 || rows * args.depth > INT32_MAX || rows * args.channels > INT32_MAX) {
    return context.Fail("packed linear: a size is 0, or too large");
  }
  args.rows = static_cast<int32_t>(rows);
  cmsis_nn_activation activation;
  if (!Narrow(output_offset, -128, 127, &args.output_offset)) {
    return context.Fail("packed linear: output_offset is outside -128..127");
  }
  if (!ReadActivation(activation_min, activation_max, &activation)) {
    return context.Fail("packed linear: the activation range is not inside -128..127");
  }
  args.activation_min = activation.min;
  args.activation_max = activation.max;
  if (packing == CORTEX_M_NN_PACKING_NONE || packing != cortex_m_nn_packed_linear_packing(kIsa, &args)) {
    return context.Fail("packed linear: this core's kernel reads another packing: export the program for this core");
  }
  if (packed.rank != 1 || packed.sizes[0] != cortex_m_nn_packed_linear_bytes(&args) ||
      reinterpret_cast<uintptr_t>(args.packed) % alignof(int32_t) != 0) {
    return context.Fail("packed linear: packed weights are no aligned bytes of the size that the channels ask for");
  }
  if (!cortex_m_nn_packed_linear_is_valid(&args)) {
    return context.Fail("packed linear: a multiplier is not positive, or a shift is outside -31..-1");
  }
  const cmsis_nn_context memory = Scratch(scratch);
  if (memory.size < cortex_m_nn_packed_linear_scratch_bytes(&args) ||
      reinterpret_cast<uintptr_t>(memory.buf) % alignof(int32_t) != 0) {
    return context.Fail("packed linear: scratch is smaller than the kernel needs, or not aligned");
  }
  cortex_m_nn_packed_linear_s8(&args, memory.buf);
  return Status();
}

}  // namespace cortex_m::ops
