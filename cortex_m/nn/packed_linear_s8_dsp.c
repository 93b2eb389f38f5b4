// Packed linear layer for the DSP extension. A half holds the weights of two channels, 256 a + b. SMLAD with the whole word sums
// 256 x a + x b, with the low bytes alone x b: one SXTB16 where two words of bytes would take two each, and the difference is
// 256 times the first channel's sum, modulo 2^32: the exporter packs what fits the 24 bits that are left.
#include "packed_linear_s8.h"

#if CORTEX_M_NN_DSP

#include "dsp.h"
#include "requantize.h"

// 16 bits each; of each four values the first and the third share a word, and the second and the fourth.
static void widen(const int8_t *x, int32_t depth, uint32_t *to) {
  int32_t left = depth;
  for (; left >= 4; left -= 4, x += 4, to += 2) {
    const uint32_t values = cortex_m_nn_load_4(x);
    to[0] = cortex_m_nn_even_bytes_plus(values, 0);
    to[1] = cortex_m_nn_odd_bytes_plus(values, 0);
  }
  if (left > 0) {
    to[0] = (uint16_t)x[0] | (left > 2 ? (uint32_t)(uint16_t)x[2] << 16 : 0);
    to[1] = left > 1 ? (uint16_t)x[1] : 0;
  }
}

typedef struct {
  int32_t whole[2], lower[2];  // of two pairs of channels
} sums;

#define STEP                          \
  "ldmia %[w]!, {r4, r5, r6, r8}\n\t" \
  "ldrd r9, r10, [%[x]], #8\n\t"      \
  "smlad %[a], r9, r4, %[a]\n\t"      \
  "sxtb16 r4, r4\n\t"                 \
  "smlad %[b], r9, r4, %[b]\n\t"      \
  "smlad %[c], r9, r5, %[c]\n\t"      \
  "sxtb16 r5, r5\n\t"                 \
  "smlad %[d], r9, r5, %[d]\n\t"      \
  "smlad %[a], r10, r6, %[a]\n\t"     \
  "sxtb16 r6, r6\n\t"                 \
  "smlad %[b], r10, r6, %[b]\n\t"     \
  "smlad %[c], r10, r8, %[c]\n\t"     \
  "sxtb16 r8, r8\n\t"                 \
  "smlad %[d], r10, r8, %[d]\n\t"

// fours > 0: of values of x. Not inlined: its assembly takes 13 registers.
static __attribute__((noinline)) sums multiply_pairs(const uint32_t *x, const int8_t **weights, int32_t fours) {
  int32_t a = 0, b = 0, c = 0, d = 0;
  const int8_t *w = *weights;
  if (fours % 2 != 0) {
    __asm__ volatile(STEP
                     : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [w] "+r"(w), [x] "+r"(x)
                     :
                     : "r4", "r5", "r6", "r8", "r9", "r10", "memory");
  }
  int32_t steps = fours / 2;
  if (steps > 0) {
    __asm__ volatile("1:\n\t" STEP STEP
                     "subs %[n], #1\n\t"
                     "bne 1b"
                     : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [w] "+r"(w), [x] "+r"(x), [n] "+r"(steps)
                     :
                     : "r4", "r5", "r6", "r8", "r9", "r10", "cc", "memory");
  }
  *weights = w;
  const sums s = {{a, c}, {b, d}};
  return s;
}

void cortex_m_nn_packed_linear_dsp(const cortex_m_nn_packed_linear_args *args, void *scratch) {
  const int32_t fours = (args->depth + 3) / 4;
  const int8_t *from = args->input;
  int8_t *out = args->out;
  const int32_t offset = args->output_offset, min = args->activation_min, max = args->activation_max;
  for (int32_t row = args->rows; row > 0; --row, from += args->depth) {
    widen(from, args->depth, scratch);
    const int8_t *w = args->packed;
    for (int32_t c = args->channels; c > 0; c -= 4, out += 4) {
      const sums s = multiply_pairs(scratch, &w, fours);
      const int32_t *parameters = (const int32_t *)(const void *)w;
      for (int32_t i = 0; i < 4; ++i) {
        const int32_t lower = s.lower[i / 2];
        const int32_t sum = i % 2 == 0 ? cortex_m_nn_wrapping_add(s.whole[i / 2], -lower) >> 8 : lower;
        out[i] = cortex_m_nn_requantize_to_s8(cortex_m_nn_wrapping_add(sum, parameters[i]), parameters[4 + i],
                                              parameters[8 + i], offset, min, max);
      }
      w += 12 * sizeof(int32_t);
    }
  }
}

#endif  // DSP
