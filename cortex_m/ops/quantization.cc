#include "cortex_m/ops/quantization.h"

namespace cortex_m::ops {

Status ReadQuantization(KernelContext& context, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max,
                        ScalarType dtype, Quantization* quantization) {
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
  // Both the scale and its inverse must be normal float32 numbers.
  if (!(narrow >= 1.17549435e-38f && narrow <= 8.5070592e37f)) {
    return context.Fail("quantize: the scale is not in 2^-126..2^126");
  }
  quantization->scale = narrow;
  quantization->inverse = 1.0f / narrow;
  quantization->zero_point = static_cast<int32_t>(zero_point);
  quantization->low = static_cast<float>(quant_min - zero_point);
  quantization->high = static_cast<float>(quant_max - zero_point);
  return Status();
}

}  // namespace cortex_m::ops
