// Three operations of float32, each rounded for itself, and then integers: the same bits with a floating-point unit and
// without one (docs/numerics.md).
#include "cortex_m/nn/quantization.h"
#include "cortex_m/ops/broadcast.h"
#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

struct Division {
  int32_t self_zero, other_zero, output_zero;
  float scale;
};

// The nearest integer, halves away from zero; beyond 2^17, which every int16 output saturates at, 2^17.
int32_t RoundAway(float value) {
  constexpr float kFar = 131072.0f;
  if (value >= kFar) return 131072;
  if (value <= -kFar) return -131072;
  const int32_t whole = static_cast<int32_t>(value);     // towards zero
  const float rest = value - static_cast<float>(whole);  // exact
  return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

template <typename T>
void Divide(const T* a, const T* b, const Division& division, int32_t low, int32_t high, int32_t count, T* to) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t numerator = a[i] - division.self_zero, denominator = b[i] - division.other_zero;
    int32_t value = division.output_zero;
    if (denominator != 0) {
      const float quotient = static_cast<float>(numerator) / static_cast<float>(denominator);
      value += RoundAway(cortex_m_nn_rounded(quotient * division.scale));
    }
    to[i] = static_cast<T>(value < low ? low : value > high ? high : value);
  }
}

}  // namespace

Status quantized_div_out(KernelContext& context, const Tensor& self, int64_t self_zero_point, const Tensor& other,
                         int64_t other_zero_point, int64_t output_zero_point, double output_scale, const Tensor& out) {
  const bool wide = out.dtype == ScalarType::kShort;
  if (self.dtype != out.dtype || other.dtype != out.dtype || (!wide && out.dtype != ScalarType::kChar)) {
    return context.Fail("div: both operands and the output must be int8, or all three int16");
  }
  const int32_t low = wide ? -32768 : -128, high = wide ? 32767 : 127;
  Division division;
  if (!Narrow(self_zero_point, low, high, &division.self_zero) ||
      !Narrow(other_zero_point, low, high, &division.other_zero) ||
      !Narrow(output_zero_point, low, high, &division.output_zero)) {
    return context.Fail("div: a zero point is outside the range of the type");
  }
  division.scale = static_cast<float>(output_scale);
  // A normal float32 number, so that flushing subnormal numbers to zero changes nothing.
  if (!(division.scale >= 1.17549435e-38f && division.scale <= 3.40282347e38f)) {
    return context.Fail("div: the scale is not a positive number in the normal range of float32");
  }
  Broadcast walk;
  CORTEX_M_RETURN_IF_ERROR(walk.Start(context, self, other, out));
  while (walk.Next()) {
    if (wide) {
      Divide(walk.self<int16_t>(), walk.other<int16_t>(), division, low, high, walk.count(), walk.out<int16_t>());
    } else {
      Divide(walk.self<int8_t>(), walk.other<int8_t>(), division, low, high, walk.count(), walk.out<int8_t>());
    }
  }
  return Status();
}

}  // namespace cortex_m::ops
