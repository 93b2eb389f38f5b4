// Transposed convolution for the instruction set that this is compiled for: four products an instruction with the DSP
// extension's pairs, sixteen with MVE.
#include <stddef.h>

#include "additional.h"
#include "dsp.h"
#include "isa.h"
#include "mve.h"
#include "requantize.h"
#include "transpose_conv_taps.h"

// The sums of four rows stay in registers only where no loop over them is left, which -O2 does not see to by itself.
#define UNROLL _Pragma("GCC unroll 4")

#if CORTEX_M_NN_MVE

// sum((x + offset) * w) = sum(x * w) + offset * sum(w)
static inline __attribute__((always_inline)) void dot(const int8_t *x, const int8_t *w, int32_t row_bytes,
                                                      int32_t depth, int32_t offset, const int32_t rows,
                                                      uint32_t acc[4]) {
  int32_t products[4] = {0, 0, 0, 0}, weights[4] = {0, 0, 0, 0};
  for (int32_t left = depth; left > 0; left -= 16, x += 16, w += 16) {
    const mve_pred16_t lanes = vctp8q((uint32_t)left);
    const int8x16_t values = vldrbq_z_s8(x, lanes);
    UNROLL
    for (int32_t r = 0; r < rows; ++r) {
      const int8x16_t row = vldrbq_z_s8(w + r * row_bytes, lanes);
      products[r] = vmladavaq_s8(products[r], values, row);
      weights[r] = vaddvaq_s8(weights[r], row);
    }
  }
  UNROLL
  for (int32_t r = 0; r < rows; ++r) {
    acc[r] += (uint32_t)products[r] + (uint32_t)offset * (uint32_t)weights[r];
  }
}

#elif CORTEX_M_NN_DSP

static inline __attribute__((always_inline)) void dot(const int8_t *x, const int8_t *w, int32_t row_bytes,
                                                      int32_t depth, int32_t offset, const int32_t rows,
                                                      uint32_t acc[4]) {
  const uint32_t offsets = ((uint32_t)offset & 0xFFFF) * 0x10001u;
  int32_t sums[4] = {(int32_t)acc[0], (int32_t)acc[1], (int32_t)acc[2], (int32_t)acc[3]};
  int32_t left = depth;
  for (; left >= 4; left -= 4, x += 4, w += 4) {
    const uint32_t values = cortex_m_nn_load_4(x);
    const uint32_t even = cortex_m_nn_even_bytes_plus(values, offsets);
    const uint32_t odd = cortex_m_nn_odd_bytes_plus(values, offsets);
    UNROLL
    for (int32_t r = 0; r < rows; ++r) {
      const uint32_t row = cortex_m_nn_load_4(w + r * row_bytes);
      sums[r] = cortex_m_nn_smlad(even, cortex_m_nn_even_bytes_plus(row, 0), sums[r]);
      sums[r] = cortex_m_nn_smlad(odd, cortex_m_nn_odd_bytes_plus(row, 0), sums[r]);
    }
  }
  for (; left > 0; --left, ++x, ++w) {
    const int32_t value = *x + offset;
    UNROLL
    for (int32_t r = 0; r < rows; ++r) {
      sums[r] = cortex_m_nn_wrapping_add(sums[r], value * w[r * row_bytes]);
    }
  }
  UNROLL
  for (int32_t r = 0; r < 4; ++r) {
    acc[r] = (uint32_t)sums[r];
  }
}

#endif

#if CORTEX_M_NN_MVE || CORTEX_M_NN_DSP

#define FUNCTION cortex_m_nn_transpose_conv_s8
#include "transpose_conv_s8.h"

#else

void cortex_m_nn_transpose_conv_s8(const cortex_m_nn_transpose_conv_args *args) {
  cortex_m_nn_transpose_conv_scalar(args);
}

#endif
