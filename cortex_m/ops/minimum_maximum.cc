#include "arm_nnfunctions.h"
#include "cortex_m/ops/broadcast.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

using Extremum = decltype(arm_minimum_s8);

Status Choose(KernelContext& context, const Tensor& self, const Tensor& other, const Tensor& out, Extremum* choose) {
  if (self.dtype != ScalarType::kChar || other.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("minimum, maximum: both operands and the output must be int8");
  }
  const cmsis_nn_context none = {nullptr, 0};
  Broadcast walk;
  CORTEX_M_RETURN_IF_ERROR(walk.Start(context, self, other, out));
  while (walk.Next()) {
    const cmsis_nn_dims dims = {1, 1, 1, walk.count()};
    if (choose(&none, walk.self<int8_t>(), &dims, walk.other<int8_t>(), &dims, walk.out<int8_t>(), &dims) !=
        ARM_CMSIS_NN_SUCCESS) {
      return context.Fail("minimum, maximum: the kernel library refused the arguments");
    }
  }
  return Status();
}

}  // namespace

Status minimum_out(KernelContext& context, const Tensor& self, const Tensor& other, const Tensor& out) {
  return Choose(context, self, other, out, arm_minimum_s8);
}

Status maximum_out(KernelContext& context, const Tensor& self, const Tensor& other, const Tensor& out) {
  return Choose(context, self, other, out, arm_maximum_s8);
}

}  // namespace cortex_m::ops
