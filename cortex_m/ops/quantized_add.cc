#include "cortex_m/ops/broadcast.h"
#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

constexpr int32_t kLeftShift = 20;  // headroom of the sum: part of the operator's contract with the exporter

struct Operand {
  int32_t offset;  // minus the zero point
  int32_t multiplier;
  int32_t shift;
};

bool ReadOperand(int64_t zero_point, int64_t multiplier, int64_t shift, Operand* operand) {
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
  if (!ReadOperand(self_zero_point, self_multiplier, self_shift, &a) ||
      !ReadOperand(other_zero_point, other_multiplier, other_shift, &b)) {
    return context.Fail("add: an operand's multiplier is not in -(2^31-1)..2^31-1, or its shift is outside -31..30");
  }
  int32_t offset, multiplier, shift;
  if (!Narrow(output_zero_point, -128, 127, &offset) ||
      !Narrow(output_multiplier, kMinMultiplier, INT32_MAX, &multiplier) || !Narrow(output_shift, -31, 30, &shift)) {
    return context.Fail("add: the output's zero point, multiplier or shift is out of range");
  }
  cmsis_nn_activation activation;
  if (!ReadActivation(activation_min, activation_max, &activation)) {
    return context.Fail("add: the activation range is not inside -128..127");
  }
  Broadcast walk;
  CORTEX_M_RETURN_IF_ERROR(walk.Start(context, self, other, out));
  while (walk.Next()) {
    if (arm_elementwise_add_s8(walk.self<int8_t>(), walk.other<int8_t>(), a.offset, a.multiplier, a.shift, b.offset,
                               b.multiplier, b.shift, kLeftShift, walk.out<int8_t>(), offset, multiplier, shift,
                               activation.min, activation.max, walk.count()) != ARM_CMSIS_NN_SUCCESS) {
      return context.Fail("add: the kernel library refused the arguments");
    }
  }
  return Status();
}

}  // namespace cortex_m::ops
