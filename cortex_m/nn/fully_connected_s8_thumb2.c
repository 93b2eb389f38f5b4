// Fully connected layer for Armv7-M and the DSP extension: a row of the input is widened once, on the stack and in
// pieces, and multiplied with four rows of weights at a time. With the DSP extension two products an instruction, else
// one.
#include <stddef.h>

#include "dsp.h"
#include "fully_connected_s8.h"
#include "isa.h"
#include "requantize.h"

#if CORTEX_M_NN_THUMB2

// Values, a multiple of 4: 2 KiB or 3 KiB.
enum { kPiece = CORTEX_M_NN_DSP ? 1024 : 768 };

typedef struct {
  int32_t acc[4];
} sums;

#if CORTEX_M_NN_DSP

typedef struct {
  uint32_t values[kPiece / 2];  // in fours: the first and the third, the second and the fourth
} piece;

static void widen(const int8_t *x, int32_t count, int32_t offset, piece *p) {
  const uint32_t offsets = ((uint32_t)offset & 0xFFFF) * 0x10001u;
  uint32_t *to = p->values;
  for (int32_t i = count / 4; i > 0; --i, x += 4, to += 2) {
    const uint32_t values = cortex_m_nn_load_4(x);
    to[0] = cortex_m_nn_even_bytes_plus(values, offsets);
    to[1] = cortex_m_nn_odd_bytes_plus(values, offsets);
  }
}

// clang-format off
#define ROW(load, acc)                     \
  "ldr %[v], " load "\n\t"                 \
  "sxtb16 %[u], %[v]\n\t"                  \
  "sxtb16 %[v], %[v], ror #8\n\t"          \
  "smlad %[" acc "], %[u], %[k], %[" acc "]\n\t" \
  "smlad %[" acc "], %[v], %[h], %[" acc "]\n\t"
#define FOUR                               \
  "ldrd %[k], %[h], [%[x]], #8\n\t"        \
  ROW("[%[w0], %[row]]", "b")              \
  ROW("[%[w0]], #4", "a")                  \
  ROW("[%[w2], %[row]]", "d")              \
  ROW("[%[w2]], #4", "c")
// clang-format on

// The first two rows alone. count > 0, a multiple of 4.
static inline __attribute__((always_inline)) sums multiply_2(sums s, const int8_t *w, int32_t row, const piece *p,
                                                             int32_t count) {
  int32_t a = s.acc[0], b = s.acc[1];
  const uint32_t *x = p->values, *end = x + count / 2;
  uint32_t k, h, u, v;
  __asm__ volatile("1:\n\t"
                   "ldrd %[k], %[h], [%[x]], #8\n\t" ROW("[%[w0], %[row]]", "b") ROW("[%[w0]], #4", "a")
                   "cmp %[x], %[end]\n\t"
                   "bne 1b"
                   : [a] "+r"(a), [b] "+r"(b), [x] "+r"(x), [w0] "+r"(w), [k] "=&r"(k), [h] "=&r"(h), [u] "=&r"(u),
                     [v] "=&r"(v)
                   : [row] "r"(row), [end] "r"(end)
                   : "cc", "memory");
  s.acc[0] = a;
  s.acc[1] = b;
  return s;
}

// count > 0, a multiple of 4.
static inline __attribute__((always_inline)) sums multiply(sums s, const int8_t *w, int32_t row, const piece *p,
                                                           int32_t count) {
  int32_t a = s.acc[0], b = s.acc[1], c = s.acc[2], d = s.acc[3];
  const int8_t *w0 = w, *w2 = w + 2 * row;
  const uint32_t *x = p->values;
  uint32_t k, h, u, v;
  if (count % 8 != 0) {
    __asm__ volatile(FOUR
                     : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [x] "+r"(x), [w0] "+r"(w0), [w2] "+r"(w2),
                       [k] "=&r"(k), [h] "=&r"(h), [u] "=&r"(u), [v] "=&r"(v)
                     : [row] "r"(row)
                     : "memory");
  }
  const uint32_t *end = p->values + count / 2;
  if (x != end) {
    __asm__ volatile("1:\n\t" FOUR FOUR
                     "cmp %[x], %[end]\n\t"
                     "bne 1b"
                     : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [x] "+r"(x), [w0] "+r"(w0), [w2] "+r"(w2),
                       [k] "=&r"(k), [h] "=&r"(h), [u] "=&r"(u), [v] "=&r"(v)
                     : [row] "r"(row), [end] "r"(end)
                     : "cc", "memory");
  }
  const sums result = {{a, b, c, d}};
  return result;
}

// The same where the row is longer than a piece, which then is widened for each four outputs anew.
static __attribute__((noinline)) sums multiply_long(sums s, const int8_t *w, int32_t row, const int8_t *x,
                                                    int32_t count, int32_t offset) {
  piece p;
  for (int32_t done = 0; done < count; done += kPiece) {
    const int32_t part = count - done < kPiece ? count - done : kPiece;
    widen(x + done, part, offset, &p);
    s = multiply(s, w + done, row, &p, part);
  }
  return s;
}

#else

typedef struct {
  int32_t values[kPiece];
} piece;

static void widen(const int8_t *x, int32_t count, int32_t offset, piece *p) {
  for (int32_t i = 0; i < count; ++i) {
    p->values[i] = x[i] + offset;
  }
}

// clang-format off
#define ROW(load, acc, value)  \
  "ldrsb %[v], " load "\n\t"   \
  "mla %[" acc "], %[v], " value ", %[" acc "]\n\t"
#define TWO                                              \
  "ldrd %[k], %[h], [%[x]], #8\n\t"                      \
  ROW("[%[w0], %[row]]", "b", "%[k]")                    \
  ROW("[%[w0]], #1", "a", "%[k]")                        \
  ROW("[%[w2], %[row]]", "d", "%[k]")                    \
  ROW("[%[w2]], #1", "c", "%[k]")                        \
  ROW("[%[w0], %[row]]", "b", "%[h]")                    \
  ROW("[%[w0]], #1", "a", "%[h]")                        \
  ROW("[%[w2], %[row]]", "d", "%[h]")                    \
  ROW("[%[w2]], #1", "c", "%[h]")
// clang-format on

// The first two rows alone. count > 0, a multiple of 4.
static inline __attribute__((always_inline)) sums multiply_2(sums s, const int8_t *w, int32_t row, const piece *p,
                                                             int32_t count) {
  int32_t a = s.acc[0], b = s.acc[1];
  const int32_t *x = p->values, *end = x + count;
  int32_t k, h, v;
  // clang-format off
#define TWO_OF_TWO                        \
  "ldrd %[k], %[h], [%[x]], #8\n\t"       \
  ROW("[%[w0], %[row]]", "b", "%[k]")     \
  ROW("[%[w0]], #1", "a", "%[k]")         \
  ROW("[%[w0], %[row]]", "b", "%[h]")     \
  ROW("[%[w0]], #1", "a", "%[h]")
  // clang-format on
  __asm__ volatile("1:\n\t" TWO_OF_TWO TWO_OF_TWO
                   "cmp %[x], %[end]\n\t"
                   "bne 1b"
                   : [a] "+r"(a), [b] "+r"(b), [x] "+r"(x), [w0] "+r"(w), [k] "=&r"(k), [h] "=&r"(h), [v] "=&r"(v)
                   : [row] "r"(row), [end] "r"(end)
                   : "cc", "memory");
#undef TWO_OF_TWO
  s.acc[0] = a;
  s.acc[1] = b;
  return s;
}

// count > 0, a multiple of 4.
static inline __attribute__((always_inline)) sums multiply(sums s, const int8_t *w, int32_t row, const piece *p,
                                                           int32_t count) {
  int32_t a = s.acc[0], b = s.acc[1], c = s.acc[2], d = s.acc[3];
  const int8_t *w0 = w, *w2 = w + 2 * row;
  const int32_t *x = p->values;
  const int32_t *end = x + count;
  int32_t k, h, v;
  if (count % 8 != 0) {
    __asm__ volatile(TWO TWO
                     : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [x] "+r"(x), [w0] "+r"(w0), [w2] "+r"(w2),
                       [k] "=&r"(k), [h] "=&r"(h), [v] "=&r"(v)
                     : [row] "r"(row)
                     : "memory");
  }
  if (x != end) {
    __asm__ volatile("1:\n\t" TWO TWO TWO TWO
                     "cmp %[x], %[end]\n\t"
                     "bne 1b"
                     : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [x] "+r"(x), [w0] "+r"(w0), [w2] "+r"(w2),
                       [k] "=&r"(k), [h] "=&r"(h), [v] "=&r"(v)
                     : [row] "r"(row), [end] "r"(end)
                     : "cc", "memory");
  }
  const sums result = {{a, b, c, d}};
  return result;
}

// The same where the row is longer than a piece: each value is widened where it is used.
static __attribute__((noinline)) sums multiply_long(sums s, const int8_t *w, int32_t row, const int8_t *x,
                                                    int32_t count, int32_t offset) {
  int32_t a = s.acc[0], b = s.acc[1], c = s.acc[2], d = s.acc[3];
  const int8_t *w0 = w, *w2 = w + 2 * row, *end = x + count;
  int32_t k, v;
  // clang-format off
#define ONE                                \
  "ldrsb %[k], [%[x]], #1\n\t"             \
  "add %[k], %[o]\n\t"                     \
  ROW("[%[w0], %[row]]", "b", "%[k]")      \
  ROW("[%[w0]], #1", "a", "%[k]")          \
  ROW("[%[w2], %[row]]", "d", "%[k]")      \
  ROW("[%[w2]], #1", "c", "%[k]")
  // clang-format on
  __asm__ volatile("1:\n\t" ONE ONE ONE ONE
                   "cmp %[x], %[end]\n\t"
                   "bne 1b"
                   : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [x] "+r"(x), [w0] "+r"(w0), [w2] "+r"(w2),
                     [k] "=&r"(k), [v] "=&r"(v)
                   : [row] "r"(row), [end] "r"(end), [o] "r"(offset)
                   : "cc", "memory");
#undef ONE
  const sums result = {{a, b, c, d}};
  return result;
}

#endif  // CORTEX_M_NN_DSP

// Up to three rows of weights by values that are not widened before, for the last outputs. count is a multiple of 4.
static inline __attribute__((always_inline)) sums multiply_narrow(sums s, const int8_t *w, int32_t row, const int8_t *x,
                                                                  int32_t count, int32_t offset, const int32_t rows) {
  const int8_t *w0 = w, *w1 = w + row, *w2 = w + 2 * row;
  int32_t a = s.acc[0], b = s.acc[1], c = s.acc[2];
#if CORTEX_M_NN_DSP
  const uint32_t offsets = ((uint32_t)offset & 0xFFFF) * 0x10001u;
#define FOUR_OF(acc, from)                                                       \
  do {                                                                           \
    const uint32_t weights = cortex_m_nn_load_4(from);                           \
    acc = cortex_m_nn_smlad(even, cortex_m_nn_even_bytes_plus(weights, 0), acc); \
    acc = cortex_m_nn_smlad(odd, cortex_m_nn_odd_bytes_plus(weights, 0), acc);   \
    from += 4;                                                                   \
  } while (0)
#else
#define FOUR_OF(acc, from)                                                                \
  do {                                                                                    \
    acc = (int32_t)((uint32_t)acc + (uint32_t)(x0 * from[0]) + (uint32_t)(x1 * from[1])); \
    acc = (int32_t)((uint32_t)acc + (uint32_t)(x2 * from[2]) + (uint32_t)(x3 * from[3])); \
    from += 4;                                                                            \
  } while (0)
#endif
  for (const int8_t *const end = x + count; x != end; x += 4) {
#if CORTEX_M_NN_DSP
    const uint32_t values = cortex_m_nn_load_4(x);
    const uint32_t even = cortex_m_nn_even_bytes_plus(values, offsets);
    const uint32_t odd = cortex_m_nn_odd_bytes_plus(values, offsets);
#else
    const int32_t x0 = x[0] + offset, x1 = x[1] + offset, x2 = x[2] + offset, x3 = x[3] + offset;
#endif
    FOUR_OF(a, w0);
    if (rows > 1) {
      FOUR_OF(b, w1);
    }
    if (rows > 2) {
      FOUR_OF(c, w2);
    }
  }
#undef FOUR_OF
  const sums result = {{a, b, c, 0}};
  return result;
}

static __attribute__((noinline)) sums multiply_few(sums s, const int8_t *w, int32_t row, const int8_t *x, int32_t count,
                                                   int32_t offset, int32_t rows) {
  switch (rows) {
    case 1:
      return multiply_narrow(s, w, row, x, count, offset, 1);
    case 2:
      return multiply_narrow(s, w, row, x, count, offset, 2);
    default:
      return multiply_narrow(s, w, row, x, count, offset, 3);
  }
}

// sum(x + input_offset) * filter_offset, which every output of the row has in common.
static int32_t filter_offset_term(const cortex_m_nn_fully_connected_call *call, const int8_t *x, int32_t depth) {
  if (call->params->filter_offset == 0) {
    return 0;
  }
  int32_t sum = 0;
  for (int32_t i = 0; i < depth; ++i) {
    sum = cortex_m_nn_wrapping_add(sum, x[i] + call->params->input_offset);
  }
  return cortex_m_nn_wrapping_mul(sum, call->params->filter_offset);
}

static inline __attribute__((always_inline)) void finish(const cortex_m_nn_fully_connected_call *call, const sums *s,
                                                         int32_t first, int32_t rows, bool quick, bool full,
                                                         int8_t *out) {
  const cmsis_nn_fc_params *params = call->params;
  const int32_t min = params->activation.min, max = params->activation.max;
  for (int32_t lane = 0; lane < rows; ++lane) {
    const int32_t index = (first + lane) * call->quant_step;
    const int32_t multiplier = call->multiplier[index], shift = call->shift[index];
    if (quick) {
      const cortex_m_nn_quick_params own = cortex_m_nn_quick_params_of(multiplier, shift, params->output_offset);
      out[first + lane] = cortex_m_nn_quick_requantize_to_s8(s->acc[lane], &own, min, max, full);
    } else {
      out[first + lane] =
          cortex_m_nn_requantize_to_s8(s->acc[lane], multiplier, shift, params->output_offset, min, max);
    }
  }
}

void cortex_m_nn_fully_connected_thumb2(const cortex_m_nn_fully_connected_call *call) {
  const cmsis_nn_fc_params *params = call->params;
  const int32_t depth = call->filter_dims->n;
  const int32_t channels = call->output_dims->c;
  const int32_t fours = depth / 4 * 4;
  const int32_t offset = params->input_offset;
  const bool full = params->activation.min == -128 && params->activation.max == 127;
  // A filter offset doubles the products.
  const bool quick = depth <= CORTEX_M_NN_QUICK_MAX_DEPTH / 2 &&
                     cortex_m_nn_quick_params_are_valid(call->shift, NULL, call->quant_step == 0 ? 1 : channels) &&
                     (call->bias == NULL || cortex_m_nn_quick_biases_are_valid(call->bias, channels));
  const bool per_tensor = call->quant_step == 0;
  const cortex_m_nn_quick_params q =
      cortex_m_nn_quick_params_of(call->multiplier[0], call->shift[0], params->output_offset);
  const int32_t min = params->activation.min, max = params->activation.max;
  const int32_t *bias = call->bias;
  piece p;
  for (int32_t row = 0; row < call->input_dims->n; ++row) {
    const int8_t *x = call->input + row * depth;
    int8_t *out = call->output + row * channels;
    const int32_t common = filter_offset_term(call, x, depth);
    const bool wide = fours > 0 && fours <= kPiece && channels >= 4;
    if (wide) {
      widen(x, fours, offset, &p);
    }
    int32_t c = 0;
    for (; c + 4 <= channels; c += 4) {
      const int8_t *w = call->filter + c * depth;
      sums s = {{common, common, common, common}};
      if (bias != NULL) {
        s.acc[0] = cortex_m_nn_wrapping_add(common, bias[c]);
        s.acc[1] = cortex_m_nn_wrapping_add(common, bias[c + 1]);
        s.acc[2] = cortex_m_nn_wrapping_add(common, bias[c + 2]);
        s.acc[3] = cortex_m_nn_wrapping_add(common, bias[c + 3]);
      }
      if (wide) {
        s = multiply(s, w, depth, &p, fours);
      } else if (fours > 0) {
        s = multiply_long(s, w, depth, x, fours, offset);
      }
      for (int32_t k = fours; k < depth; ++k) {
        for (int32_t lane = 0; lane < 4; ++lane) {
          s.acc[lane] = cortex_m_nn_wrapping_add(s.acc[lane], (x[k] + offset) * w[lane * depth + k]);
        }
      }
      if (quick && per_tensor) {
        out[c] = cortex_m_nn_quick_requantize_to_s8(s.acc[0], &q, min, max, full);
        out[c + 1] = cortex_m_nn_quick_requantize_to_s8(s.acc[1], &q, min, max, full);
        out[c + 2] = cortex_m_nn_quick_requantize_to_s8(s.acc[2], &q, min, max, full);
        out[c + 3] = cortex_m_nn_quick_requantize_to_s8(s.acc[3], &q, min, max, full);
      } else {
        finish(call, &s, c, 4, quick, full, out);
      }
    }
    if (c < channels) {
      const int32_t rows = channels - c;
      const int8_t *w = call->filter + c * depth;
      sums s = {{common, common, common, 0}};
      for (int32_t lane = 0; lane < rows && bias != NULL; ++lane) {
        s.acc[lane] = cortex_m_nn_wrapping_add(common, bias[c + lane]);
      }
      if (wide && rows == 2) {
        s = multiply_2(s, w, depth, &p, fours);
      } else if (fours > 0) {
        s = multiply_few(s, w, depth, x, fours, offset, rows);
      }
      for (int32_t k = fours; k < depth; ++k) {
        for (int32_t lane = 0; lane < rows; ++lane) {
          s.acc[lane] = cortex_m_nn_wrapping_add(s.acc[lane], (x[k] + offset) * w[lane * depth + k]);
        }
      }
      finish(call, &s, c, rows, quick, full, out);
    }
  }
}

#endif  // Thumb-2
