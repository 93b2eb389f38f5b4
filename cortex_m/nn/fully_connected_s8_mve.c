// Fully connected layer for MVE: four rows of weights at a time, so that each 16 input values that are loaded serve
// four VMLADAV. With an input offset, VADDV sums the weights on the way: sum((x + offset) * w) = sum(x * w) + offset *
// sum(w); a caller that has these sums already puts them into the bias and passes offset 0, for which
// there are the quick rows.
#include <stddef.h>

#include "fully_connected_s8.h"
#include "mve.h"
#include "requantize.h"

#if CORTEX_M_NN_MVE

// A row of outputs, four at a time from `out` to `end`, where both offsets are 0: from the bias to the output byte all
// stays in registers, which the compiler does not manage. The loop is tail-predicated, so that any depth > 0 is served;
// shifts may have any sign: looking for positive ones would cost as much as heeding them.
// param_step: "16" with a multiplier and shift for each output, "0" with the same four again.
// Sums: r0, r2, r4, r6; rows of weights: r1, r3, r5, r7; r8 bias, r9 x, r10 multiplier, r11 shift; r12 depth, then the
// next weights; q4 output offset, q5 and q6 range, q7 zero. On the stack: 64 x, 68 depth, 108 multiplier, 112 shift,
// 116 out, 120 end, 124 offset, 128 and 132 range.
// clang-format off
#define QUICK_ROW(name, param_step)                                                                                   \
  static __attribute__((naked)) void name(const int8_t *x, int32_t depth, const int8_t *w, const int32_t *bias,       \
                                          const int32_t *multiplier, const int32_t *shift, int8_t *out,               \
                                          const int8_t *end, int32_t output_offset, int32_t min, int32_t max) {       \
    (void)x, (void)depth, (void)w, (void)bias, (void)multiplier, (void)shift, (void)out, (void)end;                   \
    (void)output_offset, (void)min, (void)max;                                                                        \
    __asm__ volatile(                                                                                                 \
        "push {r0, r1, r4-r11, lr}\n\t"                                                                               \
        "vpush {d8-d15}\n\t"                                                                                          \
        "ldrd r10, r11, [sp, #108]\n\t"                                                                               \
        "ldrd r0, r1, [sp, #124]\n\t"                                                                                 \
        "ldr r4, [sp, #132]\n\t"                                                                                      \
        "vdup.32 q4, r0\n\t"                                                                                          \
        "vdup.32 q5, r1\n\t"                                                                                          \
        "vdup.32 q6, r4\n\t"                                                                                          \
        "vmov.i32 q7, #0\n\t"                                                                                         \
        "mov r1, r2\n\t"                                                                                              \
        "mov r8, r3\n"                                                                                                \
        "1:\n\t"                                                                                                      \
        "ldrd r9, r12, [sp, #64]\n\t"                                                                                 \
        "ldrd r0, r2, [r8], #8\n\t"                                                                                   \
        "add r3, r1, r12\n\t"                                                                                         \
        "ldrd r4, r6, [r8], #8\n\t"                                                                                   \
        "add r5, r3, r12\n\t"                                                                                         \
        "add r7, r5, r12\n\t"                                                                                         \
        "dlstp.8 lr, r12\n\t"                                                                                         \
        "add r12, r7, r12\n"                                                                                          \
        "2:\n\t"                                                                                                      \
        "vldrb.8 q0, [r9], #16\n\t"                                                                                   \
        "vldrb.8 q1, [r1], #16\n\t"                                                                                   \
        "vldrb.8 q2, [r3], #16\n\t"                                                                                   \
        "vmladava.s8 r0, q0, q1\n\t"                                                                                  \
        "vldrb.8 q3, [r5], #16\n\t"                                                                                   \
        "vmladava.s8 r2, q0, q2\n\t"                                                                                  \
        "vldrb.8 q1, [r7], #16\n\t"                                                                                   \
        "vmladava.s8 r4, q0, q3\n\t"                                                                                  \
        "vmladava.s8 r6, q0, q1\n\t"                                                                                  \
        "letp lr, 2b\n\t"                                                                                             \
        "vldrw.32 q2, [r11], #" param_step "\n\t"                                                                     \
        "vmov d0, r0, r2\n\t"                                                                                         \
        "vmax.s32 q1, q2, q7\n\t"                                                                                     \
        "vmov d1, r4, r6\n\t"                                                                                         \
        "vldrw.32 q3, [r10], #" param_step "\n\t"                                                                     \
        "vshl.s32 q0, q0, q1\n\t"                                                                                     \
        "ldrd r0, r2, [sp, #116]\n\t"                                                                                 \
        "vqrdmulh.s32 q0, q0, q3\n\t"                                                                                 \
        "vmin.s32 q2, q2, q7\n\t" /* from here cortex_m_nn_divide_mve */                                              \
        "vand q1, q0, q2\n\t"                                                                                         \
        "mov r1, r12\n\t"                                                                                             \
        "vshr.s32 q1, q1, #31\n\t"                                                                                    \
        "vadd.i32 q0, q0, q1\n\t"                                                                                     \
        "vrshl.s32 q0, q0, q2\n\t"                                                                                    \
        "vadd.i32 q0, q0, q4\n\t"                                                                                     \
        "vmax.s32 q0, q0, q5\n\t"                                                                                     \
        "vmin.s32 q0, q0, q6\n\t"                                                                                     \
        "vstrb.32 q0, [r0], #4\n\t"                                                                                   \
        "str r0, [sp, #116]\n\t"                                                                                      \
        "cmp r0, r2\n\t"                                                                                              \
        "bne 1b\n\t"                                                                                                  \
        "vpop {d8-d15}\n\t"                                                                                           \
        "add sp, #8\n\t"                                                                                              \
        "pop {r4-r11, pc}\n\t");                                                                                      \
  }
// clang-format on
QUICK_ROW(quick_row_per_channel, "16")
QUICK_ROW(quick_row_per_tensor, "0")

// Outputs `begin` to `end` of a row; their number is a multiple of 4.
static void quick_outputs(const cortex_m_nn_fully_connected_call *call, const int8_t *x, int32_t begin, int8_t *out,
                          int32_t end) {
  const cmsis_nn_fc_params *params = call->params;
  const int32_t depth = call->filter_dims->n;
  const int8_t *w = call->filter + begin * depth;
  if (call->quant_step != 0) {
    quick_row_per_channel(x, depth, w, call->bias + begin, call->multiplier + begin, call->shift + begin, out + begin,
                          out + end, params->output_offset, params->activation.min, params->activation.max);
  } else {
    int32_t multiplier[4], shift[4];
    vstrwq_s32(multiplier, vdupq_n_s32(call->multiplier[0]));
    vstrwq_s32(shift, vdupq_n_s32(call->shift[0]));
    quick_row_per_tensor(x, depth, w, call->bias + begin, multiplier, shift, out + begin, out + end,
                         params->output_offset, params->activation.min, params->activation.max);
  }
}

static bool is_quick(const cortex_m_nn_fully_connected_call *call) {
  return call->params->input_offset == 0 && call->params->filter_offset == 0 && call->bias != NULL &&
         call->output_dims->c >= 4;
}

static __attribute__((noinline)) void quick_rows(const cortex_m_nn_fully_connected_call *call) {
  const int32_t channels = call->output_dims->c;
  const int8_t *x = call->input;
  int8_t *out = call->output;
  for (int32_t row = call->input_dims->n; row > 0; --row, x += call->filter_dims->n, out += channels) {
    quick_outputs(call, x, 0, out, channels / 4 * 4);
    if (channels % 4 != 0) {  // the last four, in part again
      quick_outputs(call, x, channels - 4, out, channels);
    }
  }
}

typedef struct {
  int32_t products[4];
  int32_t weights[4];  // sums of them
} sums;

// Four rows, `vectors` > 0 of 16 values each. All even core registers hold sums, which is where VMLADAV and VADDV add:
// the compiler spills some of them.
static __attribute__((naked)) void products_and_weights(const int8_t *w, int32_t row_bytes, const int8_t *x,
                                                        int32_t vectors, sums *result) {
  (void)w;
  (void)row_bytes;
  (void)x;
  (void)vectors;
  (void)result;
  // clang-format off
  __asm__ volatile(
      "push {r4-r11, lr}\n\t"
      "mov r9, r2\n\t"
      "adds r11, r3, #1\n\t"
      "add r3, r0, r1\n\t"
      "add r5, r3, r1\n\t"
      "add r7, r5, r1\n\t"
      "mov r1, r0\n\t"
      "movs r0, #0\n\t"
      "movs r2, #0\n\t"
      "movs r4, #0\n\t"
      "movs r6, #0\n\t"
      "mov r8, #0\n\t"
      "mov r10, #0\n\t"
      "mov r12, #0\n\t"
      "mov lr, #0\n\t"
      "lsrs r11, r11, #1\n\t"
      "bcc 2f\n"  // vectors + 1 was even: an odd number of steps
#define STEP                         \
  "vldrb.8 q0, [r9], #16\n\t"        \
  "vldrb.8 q1, [r1], #16\n\t"        \
  "vmladava.s8 r0, q0, q1\n\t"       \
  "vldrb.8 q2, [r3], #16\n\t"        \
  "vaddva.s8 r8, q1\n\t"             \
  "vldrb.8 q3, [r5], #16\n\t"        \
  "vmladava.s8 r2, q0, q2\n\t"       \
  "vaddva.s8 r10, q2\n\t"            \
  "vldrb.8 q1, [r7], #16\n\t"        \
  "vmladava.s8 r4, q0, q3\n\t"       \
  "vaddva.s8 r12, q3\n\t"            \
  "vmladava.s8 r6, q0, q1\n\t"       \
  "vaddva.s8 lr, q1\n\t"
      "1:\n\t" STEP
      "2:\n\t" STEP
#undef STEP
      "subs r11, #1\n\t"
      "bne 1b\n\t"
      "ldr r1, [sp, #36]\n\t"
      "stmia r1, {r0, r2, r4, r6, r8, r10, r12, lr}\n\t"
      "pop {r4-r11, pc}\n\t");
  // clang-format on
}

// Without the sums of the weights.
static inline void products(const int8_t *w, int32_t row_bytes, const int8_t *x, int32_t vectors, sums *result) {
  const int8_t *w0 = w, *w1 = w0 + row_bytes, *w2 = w1 + row_bytes, *w3 = w2 + row_bytes;
  int32_t acc0 = 0, acc1 = 0, acc2 = 0, acc3 = 0;
  for (int32_t i = vectors; i > 0; --i, x += 16, w0 += 16, w1 += 16, w2 += 16, w3 += 16) {
    const int8x16_t values = vldrbq_s8(x);
    acc0 = vmladavaq_s8(acc0, values, vldrbq_s8(w0));
    acc1 = vmladavaq_s8(acc1, values, vldrbq_s8(w1));
    acc2 = vmladavaq_s8(acc2, values, vldrbq_s8(w2));
    acc3 = vmladavaq_s8(acc3, values, vldrbq_s8(w3));
  }
  result->products[0] = acc0;
  result->products[1] = acc1;
  result->products[2] = acc2;
  result->products[3] = acc3;
  vstrwq_s32(result->weights, vdupq_n_s32(0));  // not needed: the offset is 0, or add_rest makes them
}

// The last values of four rows, fewer than 16.
static inline void add_rest(const int8_t *w, int32_t row_bytes, const int8_t *x, int32_t rest, sums *result) {
  const mve_pred16_t lanes = vctp8q((uint32_t)rest);
  const int8x16_t values = vldrbq_z_s8(x, lanes);
  for (int32_t i = 0; i < 4; ++i, w += row_bytes) {
    const int8x16_t weights = vldrbq_z_s8(w, lanes);
    result->products[i] = vmladavaq_s8(result->products[i], values, weights);
    result->weights[i] = vaddvaq_s8(result->weights[i], weights);
  }
}

// sum(x + input_offset) * filter_offset, which every output of the row has in common.
static int32_t filter_offset_term(const cortex_m_nn_fully_connected_call *call, const int8_t *x, int32_t depth) {
  if (call->params->filter_offset == 0) {
    return 0;
  }
  const int32_t sum = cortex_m_nn_wrapping_add(cortex_m_nn_sum_mve(x, depth),
                                               cortex_m_nn_wrapping_mul(depth, call->params->input_offset));
  return cortex_m_nn_wrapping_mul(sum, call->params->filter_offset);
}

// Outputs c .. c + 3 of a row, or c alone (`alone`: all four rows of weights are its own).
static inline __attribute__((always_inline)) void four_outputs(const cortex_m_nn_fully_connected_call *call,
                                                               const int8_t *x, int32_t c, int32_t common, int8_t *out,
                                                               const bool alone, const bool right) {
  const cmsis_nn_fc_params *params = call->params;
  const int32_t depth = call->filter_dims->n;
  const int32_t row_bytes = alone ? 0 : depth;
  const int8_t *w = call->filter + c * depth;
  const mve_pred16_t lanes = alone ? vctp32q(1) : 0xFFFF;
  sums s;
  if (depth >= 16 && params->input_offset != 0) {
    products_and_weights(w, row_bytes, x, depth / 16, &s);
  } else {
    products(w, row_bytes, x, depth / 16, &s);
  }
  if (depth % 16 != 0) {
    add_rest(w + depth / 16 * 16, row_bytes, x + depth / 16 * 16, depth % 16, &s);
  }
  int32x4_t value = vldrwq_s32(s.products);
  value = vmlaq_n_s32(value, vldrwq_s32(s.weights), params->input_offset);
  value = vaddq_n_s32(value, common);
  if (call->bias != NULL) {
    value = vaddq_s32(value, alone ? vldrwq_z_s32(call->bias + c, lanes) : vldrwq_s32(call->bias + c));
  }
  if (call->quant_step == 0) {
    value = cortex_m_nn_requantize_n_mve(value, call->multiplier[0], call->shift[0], right);
  } else if (alone) {
    value = cortex_m_nn_requantize_n_mve(value, call->multiplier[c], call->shift[c], right);
  } else {
    value = cortex_m_nn_requantize_mve(value, vldrwq_s32(call->multiplier + c), vldrwq_s32(call->shift + c), right);
  }
  value = vaddq_n_s32(value, params->output_offset);
  value = vmaxq_s32(value, vdupq_n_s32(params->activation.min));
  value = vminq_s32(value, vdupq_n_s32(params->activation.max));
  if (alone) {
    vstrbq_p_s32(out + c, value, lanes);
  } else {
    vstrbq_s32(out + c, value);
  }
}

static inline __attribute__((always_inline)) void rows(const cortex_m_nn_fully_connected_call *call, const bool right) {
  const int32_t depth = call->filter_dims->n;
  const int32_t channels = call->output_dims->c;
  for (int32_t row = 0; row < call->input_dims->n; ++row) {
    const int8_t *x = call->input + row * depth;
    int8_t *out = call->output + row * channels;
    const int32_t common = filter_offset_term(call, x, depth);
    if (channels < 4) {
      for (int32_t c = 0; c < channels; ++c) {
        four_outputs(call, x, c, common, out, true, right);
      }
      continue;
    }
    for (int32_t c = 0; c < channels; c += 4) {  // the last four may be computed again in part
      four_outputs(call, x, c < channels - 4 ? c : channels - 4, common, out, false, right);
    }
  }
}

// Not inlined, for its prologue would be the quick rows' as well.
static __attribute__((noinline)) void any_rows(const cortex_m_nn_fully_connected_call *call) {
#ifdef __OPTIMIZE_SIZE__
  bool right = false;  // the form for any shift serves all
#else
  bool right = true;
#endif
  for (int32_t c = call->quant_step == 0 ? 0 : call->output_dims->c - 1; c >= 0; --c) {
    right = right && call->shift[c] < 0;
  }
  if (right) {
    rows(call, true);
  } else {
    rows(call, false);
  }
}

void cortex_m_nn_fully_connected_mve(const cortex_m_nn_fully_connected_call *call) {
  if (is_quick(call)) {
    quick_rows(call);
  } else {
    any_rows(call);
  }
}

#endif  // MVE
