// Convolution for the DSP extension: columns of 16-bit values of four pixels. Of each four values of a pixel the first
// and the third share a word, and the second and the fourth, as SXTB16 takes four weights apart. Words of the four
// pixels are neighbours, so that one LDM loads two values of each; SMLAD multiplies both at a time.
#include "convolve_fours.h"
#include "isa.h"

#if CORTEX_M_NN_DSP

#include "dsp.h"

#define WIDEN_4(i)                                                 \
  do {                                                             \
    const uint32_t values = cortex_m_nn_load_4(from + 4 * (i));    \
    to[8 * (i)] = cortex_m_nn_even_bytes_plus(values, offsets);    \
    to[8 * (i) + 4] = cortex_m_nn_odd_bytes_plus(values, offsets); \
  } while (0)

static uint32_t *widen(const int8_t *from, int32_t count, int32_t offset, uint32_t *to) {
  const uint32_t offsets = ((uint32_t)offset & 0xFFFF) * 0x10001u;
  int32_t left = count;
  for (; left >= 16; left -= 16, from += 16, to += 32) {
    WIDEN_4(0);
    WIDEN_4(1);
    WIDEN_4(2);
    WIDEN_4(3);
  }
  for (; left > 0; left -= 4, from += 4, to += 8) {
    WIDEN_4(0);
  }
  return to;
}

static uint32_t *clear(int32_t count, uint32_t *to) {
  for (int32_t i = count / 4; i > 0; --i, to += 8) {
    to[0] = 0;
    to[4] = 0;
  }
  return to;
}

#define STEP                          \
  "ldr r9, [%[w]], #4\n\t"            \
  "ldmia %[x]!, {r4, r5, r6, r8}\n\t" \
  "sxtb16 r10, r9\n\t"                \
  "smlad %[s0], r4, r10, %[s0]\n\t"   \
  "smlad %[s1], r5, r10, %[s1]\n\t"   \
  "smlad %[s2], r6, r10, %[s2]\n\t"   \
  "smlad %[s3], r8, r10, %[s3]\n\t"   \
  "ldmia %[x]!, {r4, r5, r6, r8}\n\t" \
  "sxtb16 r9, r9, ror #8\n\t"         \
  "smlad %[s0], r4, r9, %[s0]\n\t"    \
  "smlad %[s1], r5, r9, %[s1]\n\t"    \
  "smlad %[s2], r6, r9, %[s2]\n\t"    \
  "smlad %[s3], r8, r9, %[s3]\n\t"

CORTEX_M_NN_INLINE cortex_m_nn_four_sums multiply(const uint32_t *x, const int8_t *w, int32_t depth, int32_t bias) {
  int32_t s0 = bias, s1 = bias, s2 = bias, s3 = bias;
  int32_t steps = depth / 16;
  if (steps > 0) {
    // clang-format off
    __asm__ volatile("1:\n\t" STEP STEP STEP STEP
                     "subs %[n], #1\n\t"
                     "bne 1b"
                     : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [w] "+r"(w), [x] "+r"(x),
                       [n] "+r"(steps)
                     :
                     : "r4", "r5", "r6", "r8", "r9", "r10", "cc", "memory");
    // clang-format on
  }
  steps = depth / 4 % 4;
  if (steps > 0) {
    // clang-format off
    __asm__ volatile("1:\n\t" STEP
                     "subs %[n], #1\n\t"
                     "bne 1b"
                     : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [w] "+r"(w), [x] "+r"(x),
                       [n] "+r"(steps)
                     :
                     : "r4", "r5", "r6", "r8", "r9", "r10", "cc", "memory");
    // clang-format on
  }
  if (depth % 4 != 0) {  // the last weights, as if zeros followed; the columns have zeros there too
    uint32_t rest[2] = {0, 0};
    int8_t *bytes = (int8_t *)rest;
    for (int32_t i = 0; i < depth % 4; ++i) {
      bytes[i] = w[i];
    }
    const uint32_t even = cortex_m_nn_even_bytes_plus(rest[0], 0), odd = cortex_m_nn_odd_bytes_plus(rest[0], 0);
    s0 = cortex_m_nn_smlad(x[4], odd, cortex_m_nn_smlad(x[0], even, s0));
    s1 = cortex_m_nn_smlad(x[5], odd, cortex_m_nn_smlad(x[1], even, s1));
    s2 = cortex_m_nn_smlad(x[6], odd, cortex_m_nn_smlad(x[2], even, s2));
    s3 = cortex_m_nn_smlad(x[7], odd, cortex_m_nn_smlad(x[3], even, s3));
  }
  const cortex_m_nn_four_sums sums = {{s0, s1, s2, s3}};
  return sums;
}

static void gather(const cortex_m_nn_convolve_call *call, const int8_t *image, int32_t y, int32_t x, int32_t depth,
                   int8_t *line, uint32_t *to) {
  if (call->filter_dims->c % 4 == 0) {
    cortex_m_nn_gather_column(call, image, y, x, to, widen, clear);
    return;
  }
  cortex_m_nn_gather_line(call, image, y, x, line);
  widen(line, (depth + 3) / 4 * 4, call->params->input_offset, to);
}

// A window inside of the input: rows of `run` values without gaps.
static __attribute__((noinline)) void gather_inside(const int8_t *from, int32_t row_step, int32_t rows, int32_t run,
                                                    int32_t offset, int8_t *line, uint32_t *to) {
  if (run % 4 == 0) {
    for (; rows > 0; --rows, from += row_step) {
      to = widen(from, run, offset, to);
    }
    return;
  }
  int8_t *end = line;
  for (; rows > 0;
       --rows, from += row_step, end += run) {  // four at a time, each row over what the last wrote too much
    int32_t i = 0;
    do {
      cortex_m_nn_store_4(end + i, cortex_m_nn_load_4(from + i));
      i += 4;
    } while (i < run);
  }
  end[0] = end[1] = end[2] = (int8_t)-offset;
  widen(line, (int32_t)(end - line + 3) / 4 * 4, offset, to);
}

#define MULTIPLY(name, quick, full)                                                                                \
  static __attribute__((noinline)) void name(const cortex_m_nn_convolve_call *call, const uint32_t *columns,       \
                                             int32_t depth, int32_t first, int32_t channels, int8_t *const out[4], \
                                             int32_t pixels) {                                                     \
    cortex_m_nn_multiply_fours(call, columns, depth, first, channels, out, pixels, quick, full, multiply);         \
  }
MULTIPLY(multiply_full, true, true)
MULTIPLY(multiply_clamped, true, false)
MULTIPLY(multiply_any, false, false)

#define FOUR_COLUMNS_WORDS(depth) (((depth) + 3) / 4 * 8)
#define FUNCTION cortex_m_nn_convolve_columns_dsp
#include "convolve_fours_driver.h"

#endif  // DSP
