// Convolution without special instructions: columns of 32-bit values of four pixels that are neighbours in memory, so
// that one LDM loads them, and each weight serves four multiplications.
#include "convolve_fours.h"
#include "isa.h"

static uint32_t *widen(const int8_t *from, int32_t count, int32_t offset, uint32_t *to) {
  int32_t left = count;
  for (; left >= 4; left -= 4, from += 4, to += 16) {
    to[0] = (uint32_t)(from[0] + offset);
    to[4] = (uint32_t)(from[1] + offset);
    to[8] = (uint32_t)(from[2] + offset);
    to[12] = (uint32_t)(from[3] + offset);
  }
  for (; left > 0; --left, to += 4) {
    *to = (uint32_t)(*from++ + offset);
  }
  return to;
}

static uint32_t *clear(int32_t count, uint32_t *to) {
  for (int32_t i = count; i > 0; --i, to += 4) {
    *to = 0;
  }
  return to;
}

#if CORTEX_M_NN_THUMB2

// clang-format off
#define STEP(address)                   \
  "ldrsb r9, " address "\n\t"           \
  "ldmia %[x]!, {r4, r5, r6, r8}\n\t"   \
  "mla %[s0], r4, r9, %[s0]\n\t"        \
  "mla %[s1], r5, r9, %[s1]\n\t"        \
  "mla %[s2], r6, r9, %[s2]\n\t"        \
  "mla %[s3], r8, r9, %[s3]\n\t"
// clang-format on
#define NEXT STEP("[%[w]], #1")

CORTEX_M_NN_INLINE cortex_m_nn_four_sums multiply(const uint32_t *x, const int8_t *w, int32_t depth, int32_t bias) {
  int32_t s0 = bias, s1 = bias, s2 = bias, s3 = bias;
  int32_t steps = depth / 8;
  if (steps > 0) {
    // clang-format off
    __asm__ volatile("1:\n\t" NEXT NEXT NEXT NEXT NEXT NEXT NEXT NEXT
                     "subs %[n], #1\n\t"
                     "bne 1b"
                     : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [w] "+r"(w), [x] "+r"(x),
                       [n] "+r"(steps)
                     :
                     : "r4", "r5", "r6", "r8", "r9", "cc", "memory");
    // clang-format on
  }
  steps = depth % 8;
  if (steps > 0) {
    // clang-format off
    __asm__ volatile("1:\n\t" NEXT
                     "subs %[n], #1\n\t"
                     "bne 1b"
                     : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [w] "+r"(w), [x] "+r"(x),
                       [n] "+r"(steps)
                     :
                     : "r4", "r5", "r6", "r8", "r9", "cc", "memory");
    // clang-format on
  }
  const cortex_m_nn_four_sums sums = {{s0, s1, s2, s3}};
  return sums;
}

#else

CORTEX_M_NN_INLINE cortex_m_nn_four_sums multiply(const uint32_t *x, const int8_t *w, int32_t depth, int32_t bias) {
  uint32_t s0 = (uint32_t)bias, s1 = s0, s2 = s0, s3 = s0;
  for (int32_t i = depth; i > 0; --i, x += 4) {
    const uint32_t weight = (uint32_t)*w++;
    s0 += x[0] * weight;
    s1 += x[1] * weight;
    s2 += x[2] * weight;
    s3 += x[3] * weight;
  }
  const cortex_m_nn_four_sums sums = {{(int32_t)s0, (int32_t)s1, (int32_t)s2, (int32_t)s3}};
  return sums;
}

#endif

static void gather(const cortex_m_nn_convolve_call *call, const int8_t *image, int32_t y, int32_t x, int32_t depth,
                   int8_t *line, uint32_t *to) {
  (void)depth;
  (void)line;
  cortex_m_nn_gather_column(call, image, y, x, to, widen, clear);
}

static __attribute__((noinline)) void gather_inside(const int8_t *from, int32_t row_step, int32_t rows, int32_t run,
                                                    int32_t offset, int8_t *line, uint32_t *to) {
  (void)line;
  for (; rows > 0; --rows, from += row_step) {
    to = widen(from, run, offset, to);
  }
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

#define FOUR_COLUMNS_WORDS(depth) (4 * (depth))
#define FUNCTION cortex_m_nn_convolve_columns_scalar
#include "convolve_fours_driver.h"
