// Four exponentials at a time, computed twice rather than stored: once for the sum, once for the results.
#include "fixed_point.h"
#include "mve.h"
#include "softmax_s8.h"

#if CORTEX_M_NN_MVE

// cortex_m_nn_exp_on_negative_values, four at a time; VQRDMULH is cortex_m_nn_saturating_high_mul.
static inline __attribute__((always_inline)) int32x4_t exponential(int32x4_t a) {
  const int32_t quarter = 1 << 24;
  const int32x4_t low = vsubq_n_s32(vandq_s32(a, vdupq_n_s32(quarter - 1)), quarter);
  const int32x4_t rest = vsubq_s32(low, a);
  const int32_t exp_minus_one_eighth = 1895147668;
  const int32_t one_third = 715827883;
  const int32x4_t x = vaddq_n_s32(vshlq_n_s32(low, 5), 1 << 28);
  const int32x4_t x2 = vqrdmulhq_s32(x, x);
  const int32x4_t x3 = vqrdmulhq_s32(x2, x);
  const int32x4_t x4_over_4 = cortex_m_nn_divide_right_mve(vqrdmulhq_s32(x2, x2), vdupq_n_s32(-2));
  const int32x4_t thirds = vqrdmulhq_n_s32(vaddq_s32(x4_over_4, x3), one_third);
  const int32x4_t higher = cortex_m_nn_divide_right_mve(vaddq_s32(thirds, x2), vdupq_n_s32(-1));
  int32x4_t result = vqrdmulhq_n_s32(vaddq_s32(x, higher), exp_minus_one_eighth);
  result = vaddq_n_s32(result, exp_minus_one_eighth);
  // Times exp(-2^(bit - 26)) where that bit of the rest is set; it is moved to the sign.
#define FACTOR(bit, factor) \
  result = vqrdmulhq_m_n_s32(result, result, factor, vcmpltq_n_s32(vshlq_n_s32(rest, 31 - (bit)), 0))
  FACTOR(24, 1672461947);
  FACTOR(25, 1302514674);
  FACTOR(26, 790015084);
  FACTOR(27, 290630308);
  FACTOR(28, 39332535);
  FACTOR(29, 720401);
  FACTOR(30, 242);
#undef FACTOR
  return vpselq_s32(vdupq_n_s32(INT32_MAX), result, vcmpeqq_n_s32(a, 0));
}

static int32_t max_of(const int8_t *x, int32_t size) {
  int32_t max = -128;
  for (; size >= 16; size -= 16, x += 16) {
    max = vmaxvq_s8((int8_t)max, vldrbq_s8(x));
  }
  if (size > 0) {
    const mve_pred16_t lanes = vctp8q((uint32_t)size);
    max = vmaxvq_p_s8((int8_t)max, vldrbq_z_s8(x, lanes), lanes);
  }
  return max;
}

static void softmax_row(const cortex_m_nn_softmax_call *call, const int8_t *x, int8_t *out) {
  const int32_t size = call->row_size, multiplier = call->multiplier, diff_min = call->diff_min;
  const int32_t max = max_of(x, size);
  const int32_t one = (int32_t)1 << call->shift;
  uint32_t sum = 0;
  for (int32_t i = 0; i < size; i += 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)(size - i));
    const int32x4_t diff = vsubq_n_s32(vldrbq_z_s32(x + i, lanes), max);
    const int32x4_t e = exponential(vqrdmulhq_n_s32(vmulq_n_s32(diff, one), multiplier));
    const mve_pred16_t counts = vcmpgeq_m_n_s32(diff, diff_min, lanes);
    sum += (uint32_t)vaddvq_p_s32(cortex_m_nn_divide_right_mve(e, vdupq_n_s32(-kCortexMNnSoftmaxIntegerBits)), counts);
  }
  // sum = (1 + fraction) * 2^(31 - headroom); the maximum itself contributes 2^19, so sum is not 0.
  const int32_t headroom = __builtin_clz(sum);
  const int32_t fraction = (int32_t)((sum << headroom) - ((uint32_t)1 << 31));
  const int32_t reciprocal = cortex_m_nn_one_over_one_plus(fraction);
  const int32_t exponent = kCortexMNnSoftmaxIntegerBits - headroom + 31 - 8;
  if (exponent > 31) {  // every probability is below 1/512
    cortex_m_nn_fill_mve(out, -128, size);
    return;
  }
  for (int32_t i = 0; i < size; i += 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)(size - i));
    const int32x4_t diff = vsubq_n_s32(vldrbq_z_s32(x + i, lanes), max);
    const int32x4_t e = exponential(vqrdmulhq_n_s32(vmulq_n_s32(diff, one), multiplier));
    int32x4_t value = vrshlq_n_s32(vqrdmulhq_n_s32(e, reciprocal), -exponent);  // nothing is negative
    value = vsubq_n_s32(vpselq_s32(value, vdupq_n_s32(0), vcmpgeq_n_s32(diff, diff_min)), 128);
    vstrbq_p_s32(out + i, vminq_s32(value, vdupq_n_s32(127)), lanes);
  }
}

void cortex_m_nn_softmax_mve(const cortex_m_nn_softmax_call *call) {
  const int8_t *in = call->input;
  int8_t *out = call->output;
  for (int32_t row = 0; row < call->rows; ++row, in += call->row_size, out += call->row_size) {
    softmax_row(call, in, out);
  }
}

#endif  // MVE
