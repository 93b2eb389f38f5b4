#include "cortex_m/ops/quantization.h"

namespace cortex_m::ops {

Status ReadQuantization(KernelContext& context, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max,
                        ScalarType dtype, cortex_m_nn_quantization* quantization) {
  if (dtype != ScalarType::kChar && dtype != ScalarType::kShort) {
    return context.Fail("quantize: the quantized tensor must be int8 or int16");
  }
  const int64_t limit = dtype == ScalarType::kChar ? 128 : 32768;
  if (quant_min < -limit || quant_max > limit - 1 || quant_min > quant_max) {
    return context.Fail("quantize: quant_min..quant_max is no range of the quantized type");
  }
  if (zero_point < quant_min || zero_point > quant_max) {
    return context.Fail("quantize: the zero point is outside quant_min..quant_max");
  }
  const float narrow = static_cast<float>(scale);
  // Both the scale and its inverse must be normal float32 numbers, and a subnormal input times the inverse at most 1/2.
  if (!(narrow >= 2.35098870e-38f && narrow <= 8.5070592e37f)) {
    return context.Fail("quantize: the scale is not in 2^-125..2^126");
  }
  *quantization = {narrow, 1.0f / narrow, static_cast<int32_t>(zero_point), static_cast<int32_t>(quant_min),
                   static_cast<int32_t>(quant_max)};
  return Status();
}

}  // namespace cortex_m::ops
