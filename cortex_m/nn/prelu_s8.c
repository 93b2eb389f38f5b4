// There is no DSP variant: each value has a factor of its own, and a 32-bit multiplication has no form for two of them.
#include "additional.h"
#include "isa.h"
#include "mve.h"
#include "requantize.h"

void cortex_m_nn_prelu_scalar(const cortex_m_nn_prelu_args *args) {
  const cortex_m_nn_prelu_args a = *args;  // which the stores cannot change
  const int8_t *from = a.input;
  int8_t *to = a.out;
  for (int32_t row = 0; row < a.rows; ++row) {
    for (int32_t c = 0; c < a.channels; ++c) {
      const int32_t value = *from++ + a.input_offset;
      const int32_t multiplier = value < 0 ? a.negative_multiplier[c] : a.multiplier;
      const int32_t shift = value < 0 ? a.negative_shift[c] : a.shift;
      *to++ = cortex_m_nn_requantize_to_s8(value, multiplier, shift, a.output_offset, -128, 127);
    }
  }
}

#if CORTEX_M_NN_MVE
// Four channels in the lanes, down all rows: their factors are loaded once.
static __attribute__((noinline)) void cortex_m_nn_prelu_mve(const cortex_m_nn_prelu_args *args) {
  const cortex_m_nn_prelu_args a = *args;
  const int32x4_t zero = vdupq_n_s32(0), min = vdupq_n_s32(-128), max = vdupq_n_s32(127);
  const int32x4_t multiplier = vdupq_n_s32(a.multiplier);
  const int32x4_t left = vmaxq_s32(vdupq_n_s32(a.shift), zero), right = vminq_s32(vdupq_n_s32(a.shift), zero);
  for (int32_t c = 0; c < a.channels; c += 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)(a.channels - c));
    const int32x4_t negative_multiplier = vldrwq_z_s32(a.negative_multiplier + c, lanes);
    const int32x4_t negative_shift = vldrwq_z_s32(a.negative_shift + c, lanes);
    const int32x4_t negative_left = vmaxq_s32(negative_shift, zero), negative_right = vminq_s32(negative_shift, zero);
    const int8_t *from = a.input + c;
    int8_t *to = a.out + c;
    for (int32_t row = a.rows; row > 0; --row, from += a.channels, to += a.channels) {
      const int32x4_t value = vaddq_n_s32(vldrbq_z_s32(from, lanes), a.input_offset);
      const mve_pred16_t below = vcmpltq_n_s32(value, 0);
      const int32x4_t wide = vshlq_s32(value, vpselq_s32(negative_left, left, below));
      const int32x4_t scaled = vqrdmulhq_s32(wide, vpselq_s32(negative_multiplier, multiplier, below));
      const int32x4_t result = cortex_m_nn_divide_mve(scaled, vpselq_s32(negative_right, right, below));
      vstrbq_p_s32(to, vminq_s32(vmaxq_s32(vaddq_n_s32(result, a.output_offset), min), max), lanes);
    }
  }
}
#endif  // MVE

void cortex_m_nn_prelu_s8(const cortex_m_nn_prelu_args *args) {
#if CORTEX_M_NN_MVE
  cortex_m_nn_prelu_mve(args);
#else
  cortex_m_nn_prelu_scalar(args);
#endif
}
