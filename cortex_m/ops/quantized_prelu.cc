#include "cortex_m/nn/additional.h"
#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

Status quantized_prelu_out(KernelContext& context, const Tensor& input, int64_t dim, int64_t input_zero_point,
                           int64_t output_zero_point, int64_t multiplier, int64_t shift,
                           const Tensor& negative_multipliers, const Tensor& negative_shifts, const Tensor& out) {
  if (input.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("prelu: input and output must be int8");
  }
  if (!SameLayout(input, out)) return context.Fail("prelu: input and output have different sizes or dim orders");
  if (dim < 0) dim += input.rank;
  if (dim < 0 || dim >= input.rank) return context.Fail("prelu: dim is no dimension of the input");
  if (!IsInnermost(input, static_cast<int>(dim))) {
    return context.Fail("prelu: the values of dim are not neighbours in memory");
  }
  cortex_m_nn_prelu_args args = {};
  int32_t input_zero;
  if (!Narrow(input_zero_point, -128, 127, &input_zero) || !Narrow(output_zero_point, -128, 127, &args.output_offset)) {
    return context.Fail("prelu: a zero point is outside -128..127");
  }
  args.input_offset = -input_zero;
  args.channels = input.sizes[dim];
  args.negative_multiplier = Int32Values(negative_multipliers, args.channels);
  args.negative_shift = Int32Values(negative_shifts, args.channels);
  const size_t elements = ElementCount(input);
  if (elements > INT32_MAX) return context.Fail("prelu: more than 2^31 - 1 elements");
  if (elements == 0) return Status();
  if (args.negative_multiplier == nullptr || args.negative_shift == nullptr) {
    return context.Fail("prelu: multipliers and shifts must be contiguous int32, one for each index of dim");
  }
  if (!Narrow(multiplier, kMinMultiplier, INT32_MAX, &args.multiplier) || !Narrow(shift, -31, 30, &args.shift) ||
      !RequantizationIsValid(args.negative_multiplier, args.negative_shift, args.channels)) {
    return context.Fail("prelu: a multiplier is not in -(2^31-1)..2^31-1, or a shift is outside -31..30");
  }
  args.input = input.as<int8_t>();
  args.out = out.mutable_as<int8_t>();
  args.rows = static_cast<int32_t>(elements) / args.channels;
  cortex_m_nn_prelu_s8(&args);
  return Status();
}

}  // namespace cortex_m::ops
