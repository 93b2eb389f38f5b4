#include "extremum_s8.h"

#include "bytes.h"
#include "checks.h"
#include "isa.h"
#include "mve.h"

void cortex_m_nn_extremum_scalar(cortex_m_nn_extremum_row a, cortex_m_nn_extremum_row b, bool maximum, int8_t *output,
                                 int32_t count) {
  const int32_t a_step = a.repeats ? 0 : 1, b_step = b.repeats ? 0 : 1;
  const int8_t *x = a.values, *y = b.values;
  for (int32_t i = 0; i < count; ++i, x += a_step, y += b_step) {
    output[i] = (*x > *y) == maximum ? *x : *y;
  }
}

#if CORTEX_M_NN_WORDS
static inline __attribute__((always_inline)) uint32_t four(const cortex_m_nn_extremum_row *row, int32_t at) {
  return row->repeats ? cortex_m_nn_repeat_4(row->values[0]) : CORTEX_M_NN_LOAD_WORD(row->values + at);
}

static inline __attribute__((always_inline)) void words(cortex_m_nn_extremum_row a, cortex_m_nn_extremum_row b,
                                                        const bool maximum, int8_t *output, int32_t count) {
  for (int32_t i = 0; i < count; i += 4) {
    const uint32_t x = four(&a, i), y = four(&b, i);
    CORTEX_M_NN_STORE_WORD(output + i, maximum ? cortex_m_nn_max_4(x, y) : cortex_m_nn_min_4(x, y));
  }
}

void cortex_m_nn_extremum_words(cortex_m_nn_extremum_row a, cortex_m_nn_extremum_row b, bool maximum, int8_t *output,
                                int32_t count) {
  const int32_t fours = CORTEX_M_NN_WORD_IS_AT(output) && (a.repeats || CORTEX_M_NN_WORD_IS_AT(a.values)) &&
                                (b.repeats || CORTEX_M_NN_WORD_IS_AT(b.values))
                            ? count / 4 * 4
                            : 0;
  if (a.repeats || b.repeats) {
    maximum ? words(a, b, true, output, fours) : words(a, b, false, output, fours);
  } else {  // known here, so that the loops need not ask
    const cortex_m_nn_extremum_row x = {a.values, false}, y = {b.values, false};
    maximum ? words(x, y, true, output, fours) : words(x, y, false, output, fours);
  }
  const cortex_m_nn_extremum_row rest_a = {a.values + (a.repeats ? 0 : fours), a.repeats};
  const cortex_m_nn_extremum_row rest_b = {b.values + (b.repeats ? 0 : fours), b.repeats};
  cortex_m_nn_extremum_scalar(rest_a, rest_b, maximum, output + fours, count - fours);
}
#endif

#if CORTEX_M_NN_MVE
static inline __attribute__((always_inline)) int8x16_t sixteen(const cortex_m_nn_extremum_row *row, int32_t at,
                                                               mve_pred16_t lanes) {
  return row->repeats ? vdupq_n_s8(row->values[0]) : vldrbq_z_s8(row->values + at, lanes);
}

void cortex_m_nn_extremum_mve(cortex_m_nn_extremum_row a, cortex_m_nn_extremum_row b, bool maximum, int8_t *output,
                              int32_t count) {
  int32_t done = 0;
#if !CORTEX_M_NN_SMALL
  if (!a.repeats && !b.repeats) {
    if (maximum) {
      for (; done + 16 <= count; done += 16) {
        vstrbq_s8(output + done, vmaxq_s8(vldrbq_s8(a.values + done), vldrbq_s8(b.values + done)));
      }
    } else {
      for (; done + 16 <= count; done += 16) {
        vstrbq_s8(output + done, vminq_s8(vldrbq_s8(a.values + done), vldrbq_s8(b.values + done)));
      }
    }
  }
#endif
  for (int32_t i = done; i < count; i += 16) {
    const mve_pred16_t lanes = vctp8q((uint32_t)(count - i));
    const int8x16_t x = sixteen(&a, i, lanes), y = sixteen(&b, i, lanes);
    vstrbq_p_s8(output + i, maximum ? vmaxq_s8(x, y) : vminq_s8(x, y), lanes);
  }
}
#endif  // MVE

static void extremum(cortex_m_nn_extremum_row a, cortex_m_nn_extremum_row b, bool maximum, int8_t *output,
                     int32_t count) {
#if CORTEX_M_NN_MVE
  cortex_m_nn_extremum_mve(a, b, maximum, output, count);
#elif CORTEX_M_NN_WORDS
  cortex_m_nn_extremum_words(a, b, maximum, output, count);
#else
  cortex_m_nn_extremum_scalar(a, b, maximum, output, count);
#endif
}

static bool fits(int32_t size, int32_t output_size) { return size == 1 || size == output_size; }

static bool broadcasts(const cmsis_nn_dims *dims, const cmsis_nn_dims *to) {
  return cortex_m_nn_dims_are_valid(dims) && fits(dims->n, to->n) && fits(dims->h, to->h) && fits(dims->w, to->w) &&
         fits(dims->c, to->c);
}

static bool same(const cmsis_nn_dims *a, const cmsis_nn_dims *b) {
  return a->n == b->n && a->h == b->h && a->w == b->w && a->c == b->c;
}

// The row of channels that is repeated for, or stands at, an index of the output.
static cortex_m_nn_extremum_row row_at(const int8_t *values, const cmsis_nn_dims *dims, int32_t n, int32_t h,
                                       int32_t w) {
  const int32_t place = ((dims->n == 1 ? 0 : n) * dims->h + (dims->h == 1 ? 0 : h)) * dims->w + (dims->w == 1 ? 0 : w);
  const cortex_m_nn_extremum_row row = {values + place * dims->c, dims->c == 1};
  return row;
}

arm_cmsis_nn_status cortex_m_nn_extremum_s8(const int8_t *input_1, const cmsis_nn_dims *input_1_dims,
                                            const int8_t *input_2, const cmsis_nn_dims *input_2_dims, bool maximum,
                                            int8_t *output, const cmsis_nn_dims *output_dims) {
  if (input_1 == NULL || input_1_dims == NULL || input_2 == NULL || input_2_dims == NULL || output == NULL ||
      output_dims == NULL) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  if (!cortex_m_nn_dims_are_valid(output_dims) || !broadcasts(input_1_dims, output_dims) ||
      !broadcasts(input_2_dims, output_dims)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  if (same(input_1_dims, output_dims) && same(input_2_dims, output_dims)) {
    const cortex_m_nn_extremum_row a = {input_1, false}, b = {input_2, false};
    extremum(a, b, maximum, output, output_dims->n * output_dims->h * output_dims->w * output_dims->c);
    return ARM_CMSIS_NN_SUCCESS;
  }
  for (int32_t n = 0; n < output_dims->n; ++n) {
    for (int32_t h = 0; h < output_dims->h; ++h) {
      for (int32_t w = 0; w < output_dims->w; ++w, output += output_dims->c) {
        extremum(row_at(input_1, input_1_dims, n, h, w), row_at(input_2, input_2_dims, n, h, w), maximum, output,
                 output_dims->c);
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
