// Four elements at a time; specialised for the shifts that programs have: none or to the right for the inputs, to the
// right for the output.
#include "elementwise_s8.h"
#include "mve.h"

#if CORTEX_M_NN_MVE

typedef enum { kNone, kRight, kAny } shift_kind;

static inline __attribute__((always_inline)) int32x4_t rescale(int32x4_t value, int32_t multiplier, int32_t shift,
                                                               const shift_kind kind) {
  if (kind == kNone) {
    return vqrdmulhq_n_s32(value, multiplier);
  }
  return cortex_m_nn_requantize_n_mve(value, multiplier, shift, kind == kRight);
}

// (x + offset) * 2^left_shift in one instruction: x * 2^left_shift + offset * 2^left_shift.
static inline __attribute__((always_inline)) int32x4_t shifted(int32x4_t values, int32x4_t one, int32_t offset) {
  return vmlasq_n_s32(values, one, offset);
}

static inline __attribute__((always_inline)) int32x4_t sum_of(const cortex_m_nn_add_call *call, int32x4_t x, int32x4_t y,
                                                              int32x4_t one, int32_t a_offset, int32_t b_offset,
                                                              const shift_kind a, const shift_kind b,
                                                              const shift_kind out) {
  x = rescale(shifted(x, one, a_offset), call->a.multiplier, call->a.shift, a);
  y = rescale(shifted(y, one, b_offset), call->b.multiplier, call->b.shift, b);
  const int32x4_t value = rescale(vaddq_s32(x, y), call->multiplier, call->shift, out);
  return vaddq_n_s32(value, call->output_offset);
}

static inline __attribute__((always_inline)) void add(const cortex_m_nn_add_call *original, const shift_kind a,
                                                      const shift_kind b, const shift_kind out) {
  const cortex_m_nn_add_call call = *original;  // which the stores cannot change
  const int32_t left = (int32_t)1 << call.left_shift;
  const int32x4_t one = vdupq_n_s32(left);
  const int32_t a_offset = call.a.offset * left, b_offset = call.b.offset * left;
  const int32x4_t min = vdupq_n_s32(call.activation.min), max = vdupq_n_s32(call.activation.max);
  const int8_t *from_a = call.a.values, *from_b = call.b.values;
  int8_t *to = call.output;
  for (int32_t i = call.count / 4; i > 0; --i, from_a += 4, from_b += 4, to += 4) {
    const int32x4_t value =
        sum_of(&call, vldrbq_s32(from_a), vldrbq_s32(from_b), one, a_offset, b_offset, a, b, out);
    vstrbq_s32(to, vminq_s32(vmaxq_s32(value, min), max));
  }
  if (call.count % 4 != 0) {
    const mve_pred16_t lanes = vctp32q((uint32_t)call.count % 4);
    const int32x4_t value = sum_of(&call, vldrbq_z_s32(from_a, lanes), vldrbq_z_s32(from_b, lanes), one, a_offset,
                                   b_offset, a, b, out);
    vstrbq_p_s32(to, vminq_s32(vmaxq_s32(value, min), max), lanes);
  }
}

void cortex_m_nn_add_mve(const cortex_m_nn_add_call *call) {
  if (call->shift >= 0 || call->a.shift > 0 || call->b.shift > 0) {
    add(call, kAny, kAny, kAny);
  } else if (call->a.shift == 0 && call->b.shift == 0) {
    add(call, kNone, kNone, kRight);
  } else if (call->a.shift == 0) {
    add(call, kNone, kRight, kRight);
  } else if (call->b.shift == 0) {
    add(call, kRight, kNone, kRight);
  } else {
    add(call, kRight, kRight, kRight);
  }
}

#endif  // MVE
