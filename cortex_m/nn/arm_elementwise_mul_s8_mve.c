// Eight elements at a time: factors of 16 bits, products of 32 bits of the even and of the odd lanes.
#include "elementwise_s8.h"
#include "mve.h"

#if CORTEX_M_NN_MVE

static inline __attribute__((always_inline)) int16x8_t product_of(const cortex_m_nn_mul_call *call, int16x8_t x,
                                                                  int16x8_t y, const bool right) {
  x = vaddq_n_s16(x, (int16_t)call->a_offset);
  y = vaddq_n_s16(y, (int16_t)call->b_offset);
  int32x4_t even = cortex_m_nn_requantize_n_mve(vmullbq_int_s16(x, y), call->multiplier, call->shift, right);
  int32x4_t odd = cortex_m_nn_requantize_n_mve(vmulltq_int_s16(x, y), call->multiplier, call->shift, right);
  if (right) {  // below 2^16: the offset can wait until the values are narrow
    return vqaddq_n_s16(vqmovntq_s32(vqmovnbq_s32(vuninitializedq_s16(), even), odd), (int16_t)call->output_offset);
  }
  even = vaddq_n_s32(even, call->output_offset);
  odd = vaddq_n_s32(odd, call->output_offset);
  return vqmovntq_s32(vqmovnbq_s32(vuninitializedq_s16(), even), odd);
}

static inline __attribute__((always_inline)) void mul(const cortex_m_nn_mul_call *original, const bool right) {
  const cortex_m_nn_mul_call call = *original;  // which the stores cannot change
  const int16x8_t min = vdupq_n_s16((int16_t)call.activation.min), max = vdupq_n_s16((int16_t)call.activation.max);
  const int8_t *a = call.a, *b = call.b;
  int8_t *to = call.output;
  for (int32_t i = call.count / 8; i > 0; --i, a += 8, b += 8, to += 8) {
    const int16x8_t value = product_of(&call, vldrbq_s16(a), vldrbq_s16(b), right);
    vstrbq_s16(to, vminq_s16(vmaxq_s16(value, min), max));
  }
  if (call.count % 8 != 0) {
    const mve_pred16_t lanes = vctp16q((uint32_t)call.count % 8);
    const int16x8_t value = product_of(&call, vldrbq_z_s16(a, lanes), vldrbq_z_s16(b, lanes), right);
    vstrbq_p_s16(to, vminq_s16(vmaxq_s16(value, min), max), lanes);
  }
}

void cortex_m_nn_mul_mve(const cortex_m_nn_mul_call *call) {
  if (call->shift < 0) {
    mul(call, true);
  } else {
    mul(call, false);
  }
}

#endif  // MVE
