#include "cortex_m/ops/broadcast.h"
#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

Status quantized_mul_out(KernelContext& context, const Tensor& self, int64_t self_zero_point, const Tensor& other,
                         int64_t other_zero_point, int64_t output_zero_point, int64_t output_multiplier,
                         int64_t output_shift, const Tensor& out) {
  if (self.dtype != ScalarType::kChar || other.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("mul: both operands and the output must be int8");
  }
  int32_t self_zero, other_zero, offset, multiplier, shift;
  if (!Narrow(self_zero_point, -128, 127, &self_zero) || !Narrow(other_zero_point, -128, 127, &other_zero) ||
      !Narrow(output_zero_point, -128, 127, &offset)) {
    return context.Fail("mul: a zero point is outside -128..127");
  }
  if (!Narrow(output_multiplier, kMinMultiplier, INT32_MAX, &multiplier) || !Narrow(output_shift, -31, 30, &shift)) {
    return context.Fail("mul: the multiplier is not in -(2^31-1)..2^31-1, or the shift is outside -31..30");
  }
  Broadcast walk;
  CORTEX_M_RETURN_IF_ERROR(walk.Start(context, self, other, out));
  while (walk.Next()) {
    if (arm_elementwise_mul_s8(walk.self<int8_t>(), walk.other<int8_t>(), -self_zero, -other_zero, walk.out<int8_t>(),
                               offset, multiplier, shift, -128, 127, walk.count()) != ARM_CMSIS_NN_SUCCESS) {
      return context.Fail("mul: the kernel library refused the arguments");
    }
  }
  return Status();
}

}  // namespace cortex_m::ops
