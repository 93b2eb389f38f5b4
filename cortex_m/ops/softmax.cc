#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {
constexpr int32_t kMaxRow = 8191;  // above, the kernel's sum of exponentials does not fit (docs/numerics.md)
}  // namespace

// input_zero_point is not used: a softmax does not change when all its inputs are shifted.
Status softmax_out(KernelContext& context, const Tensor& input, int64_t dim, int64_t, int64_t output_zero_point,
                   int64_t input_multiplier, int64_t input_shift, int64_t diff_min, const Tensor& out) {
  if (input.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("softmax: input and output must be int8");
  }
  if (!SameLayout(input, out)) return context.Fail("softmax: input and output have different sizes or dim orders");
  if (dim < 0) dim += input.rank;
  if (dim < 0 || dim >= input.rank) return context.Fail("softmax: dim is no dimension of the input");
  if (!IsInnermost(input, static_cast<int>(dim))) {
    return context.Fail("softmax: the values of dim are not neighbours in memory");
  }
  if (output_zero_point != -128)
    return context.Fail("softmax: the output's zero point is not -128 (its scale is 1/256)");
  int32_t multiplier, shift, smallest;
  if (!Narrow(input_multiplier, 0, INT32_MAX, &multiplier) || !Narrow(input_shift, 0, 30, &shift)) {
    return context.Fail("softmax: input_multiplier is not in 0..2^31-1, or input_shift not in 0..30");
  }
  if (!Narrow(diff_min, INT32_MIN, 0, &smallest)) return context.Fail("softmax: diff_min is positive, or no int32");
  const size_t elements = ElementCount(input);
  if (elements == 0) return Status();
  const int32_t row = input.sizes[dim];
  if (row > kMaxRow || elements > INT32_MAX) return context.Fail("softmax: more than 8191 values in a row");
  arm_softmax_s8(input.as<int8_t>(), static_cast<int32_t>(elements) / row, row, multiplier, shift, smallest,
                 out.mutable_as<int8_t>());
  return Status();
}

}  // namespace cortex_m::ops
