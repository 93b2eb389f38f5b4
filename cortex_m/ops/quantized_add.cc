#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

constexpr int32_t kLeftShift = 20;  // headroom of the sum: part of the operator's contract with the exporter

struct Operand {
  const int8_t* data;
  int32_t offset;  // minus the zero point
  int32_t multiplier;
  int32_t shift;
};

// True if `small` has one value for each index of one dimension, which is innermost in `big` (a value a channel), or one
// value in all.
bool Broadcasts(const Tensor& small, const Tensor& big) {
  if (small.rank != big.rank) return false;
  int dim = -1;
  for (int i = 0; i < small.rank; ++i) {
    if (small.sizes[i] == 1) continue;
    if (dim >= 0 || small.sizes[i] != big.sizes[i]) return false;
    dim = i;
  }
  return dim < 0 || IsInnermost(big, dim);
}

bool ReadOperand(const Tensor& tensor, int64_t zero_point, int64_t multiplier, int64_t shift, Operand* operand) {
  operand->data = tensor.as<int8_t>();
  return Narrow(-zero_point, -127, 128, &operand->offset) &&
         Narrow(multiplier, kMinMultiplier, INT32_MAX, &operand->multiplier) && Narrow(shift, -31, 30, &operand->shift);
}

}  // namespace

Status quantized_add_out(KernelContext& context, const Tensor& self, int64_t self_zero_point, int64_t self_multiplier,
                         int64_t self_shift, const Tensor& other, int64_t other_zero_point, int64_t other_multiplier,
                         int64_t other_shift, int64_t output_zero_point, int64_t output_multiplier,
                         int64_t output_shift, int64_t activation_min, int64_t activation_max, const Tensor& out) {
  if (self.dtype != ScalarType::kChar || other.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("add: both operands and the output must be int8");
  }
  Operand a, b;
  if (self_zero_point < -128 || self_zero_point > 127 || other_zero_point < -128 || other_zero_point > 127) {
    return context.Fail("add: a zero point is outside -128..127");
  }
  if (!ReadOperand(self, self_zero_point, self_multiplier, self_shift, &a) ||
      !ReadOperand(other, other_zero_point, other_multiplier, other_shift, &b)) {
    return context.Fail("add: an operand's multiplier is not in -(2^31-1)..2^31-1, or its shift is outside -31..30");
  }
  int32_t offset, multiplier, shift;
  if (!Narrow(output_zero_point, -128, 127, &offset) || !Narrow(output_multiplier, kMinMultiplier, INT32_MAX, &multiplier) ||
      !Narrow(output_shift, -31, 30, &shift)) {
    return context.Fail("add: the output's zero point, multiplier or shift is out of range");
  }
  cmsis_nn_activation activation;
  if (!ReadActivation(activation_min, activation_max, &activation)) {
    return context.Fail("add: the activation range is not inside -128..127");
  }

  const bool same = SameLayout(self, other);
  const bool swapped = !same && Broadcasts(self, other);
  if (!same && !swapped && !Broadcasts(other, self)) {
    return context.Fail("add: the operands have neither one shape and dim order, nor is one a value for each channel");
  }
  const Tensor& big = swapped ? other : self;
  const Tensor& small = swapped ? self : other;
  if (!SameLayout(big, out)) return context.Fail("add: the output has another shape or dim order than the larger operand");
  const size_t elements = ElementCount(big);
  const size_t block = ElementCount(small);
  if (elements == 0) return Status();
  if (elements > INT32_MAX) return context.Fail("add: more than 2^31 - 1 elements");

  const Operand& first = swapped ? b : a;
  const Operand& second = swapped ? a : b;
  int8_t* y = out.mutable_as<int8_t>();
  for (size_t i = 0; i < elements; i += block) {
    if (arm_elementwise_add_s8(first.data + i, second.data, first.offset, first.multiplier, first.shift, second.offset,
                               second.multiplier, second.shift, kLeftShift, y + i, offset, multiplier, shift,
                               activation.min, activation.max, static_cast<int32_t>(block)) != ARM_CMSIS_NN_SUCCESS) {
      return context.Fail("add: the kernel library refused the arguments");
    }
  }
  return Status();
}

}  // namespace cortex_m::ops
