#include "cortex_m/nn/additional.h"
#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

Status quantized_activation_out(KernelContext& context, const Tensor& input, const Tensor& lut, const Tensor& out) {
  if (input.dtype != ScalarType::kChar || lut.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("activation: input, table and output must be int8");
  }
  if (ElementCount(lut) != 256 || !IsContiguous(lut)) return context.Fail("activation: the table has not 256 entries");
  if (!SameLayout(input, out)) {
    return context.Fail("activation: input and output have different sizes or dim orders");
  }
  const size_t count = ElementCount(input);
  if (count > INT32_MAX) return context.Fail("activation: more than 2^31 - 1 elements");
  cortex_m_nn_lookup_s8(input.as<int8_t>(), lut.as<int8_t>(), out.mutable_as<int8_t>(), static_cast<int32_t>(count));
  return Status();
}

}  // namespace cortex_m::ops
