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

// What reaches one output pixel: steps in bytes, made once for all channels, from the last tap of a row to the first of the next one too.
typedef struct {
  const int8_t *from, *weights;  // of the first group and output channel
  int32_t rows, columns, depth, row_bytes;
  int32_t from_step, weights_step, from_row, weights_row;
} place;

static place place_of(const cortex_m_nn_transpose_conv_args *args, const int8_t *image, const cortex_m_nn_taps *down,
                      const cortex_m_nn_taps *across) {
  const int32_t depth = args->input_channels / args->groups;
  const int32_t kernel_row = args->columns.kernel * depth;
  const int32_t input_row = args->columns.input * args->input_channels;
  const int32_t columns = down->count > 0 ? across->count : 0;
  const place at = {
      .from = image + down->input * input_row + across->input * args->input_channels,
      .weights = args->filter + down->kernel * kernel_row + across->kernel * depth,
      .rows = columns > 0 ? down->count : 0,
      .columns = columns,
      .depth = depth,
      .row_bytes = args->rows.kernel * kernel_row,
      .from_step = -across->input_step * args->input_channels,
      .weights_step = across->kernel_step * depth,
      .from_row = (columns - 1) * across->input_step * args->input_channels - down->input_step * input_row,
      .weights_row = down->kernel_step * kernel_row - (columns - 1) * across->kernel_step * depth,
  };
  return at;
}

// Two output channels: sums of products and sums of the weights that were used, for the input offset:
// sum((x + offset) * w) = sum(x * w) + offset * sum(w). apart: from the one's weights to the other's, or 0.
typedef struct {
  int32_t products[2], weights[2];
} pair;

static inline __attribute__((always_inline)) pair collect(const place *at, const int8_t *from, const int8_t *weights,
                                                          int32_t apart) {
  int32_t product_0 = 0, product_1 = 0, sum_0 = 0, sum_1 = 0;
  int32_t left_in_row = at->columns;
  for (int32_t taps = at->rows * at->columns; taps > 0; --taps) {
    const int8_t *values_at = from, *weights_at = weights;
    for (int32_t left = at->depth; left > 0; left -= 16, values_at += 16, weights_at += 16) {
      const mve_pred16_t lanes = vctp8q((uint32_t)left);
      const int8x16_t values = vldrbq_z_s8(values_at, lanes);
      const int8x16_t row_0 = vldrbq_z_s8(weights_at, lanes), row_1 = vldrbq_z_s8(weights_at + apart, lanes);
      product_0 = vmladavaq_s8(product_0, values, row_0);
      product_1 = vmladavaq_s8(product_1, values, row_1);
      sum_0 = vaddvaq_s8(sum_0, row_0);
      sum_1 = vaddvaq_s8(sum_1, row_1);
    }
    if (taps > 1) {
      const bool next_row = --left_in_row == 0;
      from += next_row ? at->from_row : at->from_step;
      weights += next_row ? at->weights_row : at->weights_step;
      left_in_row = next_row ? at->columns : left_in_row;
    }
  }
  const pair result = {{product_0, product_1}, {sum_0, sum_1}};
  return result;
}

// `count` output channels from `c` on, up to four.
static inline __attribute__((always_inline)) void four(const cortex_m_nn_transpose_conv_args *args, const place *at,
                                                       const int8_t *from, int32_t c, int32_t count, int8_t *out) {
  const int8_t *const weights = at->weights + c * at->row_bytes;
  const pair low = collect(at, from, weights, count > 1 ? at->row_bytes : 0);
  pair high = low;
  if (count > 2) {
    high = collect(at, from, weights + 2 * at->row_bytes, count > 3 ? at->row_bytes : 0);
  }
  const mve_pred16_t lanes = vctp32q((uint32_t)count);
  int32x4_t acc = cortex_m_nn_lanes_mve(low.products[0], low.products[1], high.products[0], high.products[1]);
  const int32x4_t sums = cortex_m_nn_lanes_mve(low.weights[0], low.weights[1], high.weights[0], high.weights[1]);
  acc = vmlaq_n_s32(acc, sums, args->input_offset);
  if (args->bias != NULL) {
    acc = vaddq_s32(acc, vldrwq_z_s32(args->bias + c, lanes));
  }
  acc = cortex_m_nn_requantize_mve(acc, vldrwq_z_s32(args->multiplier + c, lanes), vldrwq_z_s32(args->shift + c, lanes),
                                   false);
  acc = vaddq_n_s32(acc, args->output_offset);
  acc = vminq_s32(vmaxq_s32(acc, vdupq_n_s32(args->activation_min)), vdupq_n_s32(args->activation_max));
  vstrbq_p_s32(out + c, acc, lanes);
}

void cortex_m_nn_transpose_conv_s8(const cortex_m_nn_transpose_conv_args *args) {
  const int32_t group_in = args->input_channels / args->groups;
  const int32_t group_out = args->output_channels / args->groups;
  const int8_t *image = args->input;
  int8_t *out = args->out;
  for (int32_t n = 0; n < args->batch; ++n, image += args->rows.input * args->columns.input * args->input_channels) {
    for (int32_t y = 0; y < args->rows.output; ++y) {
      const cortex_m_nn_taps down = cortex_m_nn_taps_at(&args->rows, y);
      for (int32_t x = 0; x < args->columns.output; ++x, out += args->output_channels) {
        const cortex_m_nn_taps across = cortex_m_nn_taps_at(&args->columns, x);
        const place at = place_of(args, image, &down, &across);
        for (int32_t g = 0; g < args->groups; ++g) {
          const int32_t end = (g + 1) * group_out;
          for (int32_t c = g * group_out; c < end; c += 4) {
            four(args, &at, at.from + g * group_in, c, end - c < 4 ? end - c : 4, out);
          }
        }
      }
    }
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

#if CORTEX_M_NN_DSP

#define FUNCTION cortex_m_nn_transpose_conv_s8
#include "transpose_conv_s8.h"

#elif !CORTEX_M_NN_MVE

void cortex_m_nn_transpose_conv_s8(const cortex_m_nn_transpose_conv_args *args) {
  cortex_m_nn_transpose_conv_scalar(args);
}

#endif
