// Four elements at a time, or eight where neither input is rounded.
#include "elementwise_s8.h"
#include "mve.h"

#if CORTEX_M_NN_MVE

typedef enum { kExact, kRight, kAny } rescaling;

typedef struct {
  const int8_t *values;
  int32x4_t factor;  // from x + offset to what is rescaled
  int32_t offset;    // times the factor
  int32_t multiplier, shift;
} operand;

static inline __attribute__((always_inline)) operand operand_of(const cortex_m_nn_add_input *input, int32_t left_shift,
                                                                const rescaling kind) {
  const int32_t factor = kind == kExact ? cortex_m_nn_add_exact_factor(input, left_shift) : 1 << left_shift;
  const operand result = {input->values, vdupq_n_s32(factor), input->offset * factor, input->multiplier, input->shift};
  return result;
}

static inline __attribute__((always_inline)) int32x4_t rescaled(int32x4_t values, const operand *o,
                                                                const rescaling kind) {
  const int32x4_t value = vmlasq_n_s32(values, o->factor, o->offset);
  return kind == kExact ? value : cortex_m_nn_requantize_n_mve(value, o->multiplier, o->shift, kind == kRight);
}

static inline __attribute__((always_inline)) int32x4_t sum_of(const cortex_m_nn_add_call *call, int32x4_t x,
                                                              const operand *a, const rescaling a_kind, int32x4_t y,
                                                              const operand *b, const rescaling b_kind,
                                                              const bool right) {
  const int32x4_t sum = vaddq_s32(rescaled(x, a, a_kind), rescaled(y, b, b_kind));
  return vaddq_n_s32(cortex_m_nn_requantize_n_mve(sum, call->multiplier, call->shift, right), call->output_offset);
}

static inline __attribute__((always_inline)) void add(const cortex_m_nn_add_call *original, const rescaling a_kind,
                                                      const rescaling b_kind, const bool right) {
  const cortex_m_nn_add_call call = *original;  // which the stores cannot change
  operand a = operand_of(&call.a, call.left_shift, a_kind), b = operand_of(&call.b, call.left_shift, b_kind);
  const int32x4_t min = vdupq_n_s32(call.activation.min), max = vdupq_n_s32(call.activation.max);
  int8_t *to = call.output;
  for (int32_t i = call.count / 4; i > 0; --i, a.values += 4, b.values += 4, to += 4) {
    const int32x4_t value = sum_of(&call, vldrbq_s32(a.values), &a, a_kind, vldrbq_s32(b.values), &b, b_kind, right);
    vstrbq_s32(to, vminq_s32(vmaxq_s32(value, min), max));
  }
  if (call.count % 4 != 0) {
    const mve_pred16_t lanes = vctp32q((uint32_t)call.count % 4);
    const int32x4_t value =
        sum_of(&call, vldrbq_z_s32(a.values, lanes), &a, a_kind, vldrbq_z_s32(b.values, lanes), &b, b_kind, right);
    vstrbq_p_s32(to, vminq_s32(vmaxq_s32(value, min), max), lanes);
  }
}

// Neither input is rounded: the sum is (x + a.offset) * a + (y + b.offset) * b times a unit, in 16 bits, and the unit.
typedef struct {
  int16_t a, b, offset;
  int16_t unit;
} exact_sum;

// False if there is none.
static bool exact_sum_of(const cortex_m_nn_add_call *call, exact_sum *sum) {
  const int32_t a = cortex_m_nn_add_exact_factor(&call->a, call->left_shift);
  const int32_t b = cortex_m_nn_add_exact_factor(&call->b, call->left_shift);
  const int32_t smaller = (a < 0 ? -a : a) < (b < 0 ? -b : b) ? a : b;
  const int32_t unit = (smaller < 0 ? -smaller : smaller) / 32;
  if (unit == 0 || unit > 1 << 14 || call->shift >= 0) {
    return false;
  }
  const int32_t small_a = a / unit, small_b = b / unit;
  if ((small_a < 0 ? -small_a : small_a) + (small_b < 0 ? -small_b : small_b) > 128) {  // 255 * 128 < 2^15
    return false;
  }
  const int32_t offset = call->a.offset * small_a + call->b.offset * small_b;
  const exact_sum result = {(int16_t)small_a, (int16_t)small_b, (int16_t)offset, (int16_t)unit};
  *sum = result;
  return true;
}

static inline __attribute__((always_inline)) int16x8_t exact_sum_at(const cortex_m_nn_add_call *call, int16x8_t x,
                                                                    int16x8_t y, int16x8_t a, int16x8_t unit,
                                                                    const exact_sum *s) {
  const int16x8_t sum = vmlaq_n_s16(vmlasq_n_s16(x, a, s->offset), y, s->b);
  const int32x4_t even = vmullbq_int_s16(sum, unit), odd = vmulltq_int_s16(sum, unit);
  int16x8_t value =
      vqmovnbq_s32(vuninitializedq_s16(), cortex_m_nn_requantize_n_mve(even, call->multiplier, call->shift, true));
  value = vqmovntq_s32(value, cortex_m_nn_requantize_n_mve(odd, call->multiplier, call->shift, true));
  return vqaddq_n_s16(value, (int16_t)call->output_offset);
}

static void add_exact(const cortex_m_nn_add_call *original, const exact_sum *exact) {
  const cortex_m_nn_add_call call = *original;  // which the stores cannot change
  const exact_sum s = *exact;
  const int16x8_t a = vdupq_n_s16(s.a), unit = vdupq_n_s16(s.unit);
  const int16x8_t min = vdupq_n_s16((int16_t)call.activation.min), max = vdupq_n_s16((int16_t)call.activation.max);
  const int8_t *x = call.a.values, *y = call.b.values;
  int8_t *to = call.output;
  for (int32_t i = call.count / 8; i > 0; --i, x += 8, y += 8, to += 8) {
    const int16x8_t value = exact_sum_at(&call, vldrbq_s16(x), vldrbq_s16(y), a, unit, &s);
    vstrbq_s16(to, vminq_s16(vmaxq_s16(value, min), max));
  }
  if (call.count % 8 != 0) {
    const mve_pred16_t lanes = vctp16q((uint32_t)call.count % 8);
    const int16x8_t value = exact_sum_at(&call, vldrbq_z_s16(x, lanes), vldrbq_z_s16(y, lanes), a, unit, &s);
    vstrbq_p_s16(to, vminq_s16(vmaxq_s16(value, min), max), lanes);
  }
}

void cortex_m_nn_add_mve(const cortex_m_nn_add_call *call) {
  exact_sum exact;
  if (exact_sum_of(call, &exact)) {
    add_exact(call, &exact);
  } else if (call->shift < 0 && call->b.shift < 0 && cortex_m_nn_add_exact_factor(&call->a, call->left_shift) != 0) {
    add(call, kExact, kRight, true);
  } else if (call->shift < 0 && call->a.shift < 0 && cortex_m_nn_add_exact_factor(&call->b, call->left_shift) != 0) {
    add(call, kRight, kExact, true);
  } else {
    add(call, kAny, kAny, false);
  }
}

#endif  // MVE
