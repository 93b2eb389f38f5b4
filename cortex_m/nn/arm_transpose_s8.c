#include <stddef.h>
#include <string.h>

#include "arm_nnfunctions.h"
#include "bytes.h"
#include "checks.h"
#include "copy.h"
#include "isa.h"
#include "mve.h"

enum { kMaxDims = 4 };

static void copy(int8_t *to, const int8_t *from, int32_t count) {
#if CORTEX_M_NN_MVE
  cortex_m_nn_copy(to, from, count);
#else
  memcpy(to, from, (size_t)count);
#endif
}

// to[r * to_step + c] = from[r + c * from_step] for r < rows and c < columns: both sides have one dimension whose values are
// neighbours, and a tile of both is read and written along them.
static void turn(const int8_t *from, int32_t from_step, int32_t rows, int32_t columns, int8_t *to, int32_t to_step) {
#if CORTEX_M_NN_MVE && !CORTEX_M_NN_SMALL
  // Sixteen neighbours are read, and scattered; or gathered, and written: along the longer dimension.
  if (rows >= columns && to_step <= UINT16_MAX / 8) {
    const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)to_step);
    for (int32_t c = 0; c < columns; ++c, from += from_step) {
      int8_t *out = to + c;
      for (int32_t r = 0; r < rows; r += 8, out += 8 * to_step) {
        const mve_pred16_t lanes = vctp16q((uint32_t)(rows - r));
        vstrbq_scatter_offset_p_s16(out, places, vldrbq_z_s16(from + r, lanes), lanes);
      }
    }
    return;
  }
  if (from_step <= UINT16_MAX / 8) {
    const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)from_step);
    for (int32_t r = 0; r < rows; ++r, to += to_step) {
      const int8_t *in = from + r;
      for (int32_t c = 0; c < columns; c += 8, in += 8 * from_step) {
        const mve_pred16_t lanes = vctp16q((uint32_t)(columns - c));
        vstrbq_p_s16(to + c, vldrbq_gather_offset_z_s16(in, places, lanes), lanes);
      }
    }
    return;
  }
#endif
  int32_t r = 0;
#if CORTEX_M_NN_WORDS
  if (columns >= 4 && CORTEX_M_NN_WORD_IS_AT(from) && CORTEX_M_NN_WORD_IS_AT(from_step) && CORTEX_M_NN_WORD_IS_AT(to) &&
      CORTEX_M_NN_WORD_IS_AT(to_step)) {
    for (; r + 4 <= rows; r += 4) {
      const int8_t *in = from + r;
      int8_t *out = to + r * to_step;
      int32_t c = 0;
      for (; c + 4 <= columns; c += 4, out += 4) {
        const uint32_t low = 0x00FF00FFu;
        const uint32_t w0 = CORTEX_M_NN_LOAD_WORD(in), w1 = CORTEX_M_NN_LOAD_WORD(in + from_step);
        in += 2 * from_step;
        const uint32_t w2 = CORTEX_M_NN_LOAD_WORD(in), w3 = CORTEX_M_NN_LOAD_WORD(in + from_step);
        in += 2 * from_step;
        // Bytes 0 and 2 of two words, then bytes 1 and 3.
        const uint32_t even01 = (w0 & low) | ((w1 & low) << 8), odd01 = ((w0 >> 8) & low) | (w1 & ~low);
        const uint32_t even23 = (w2 & low) | ((w3 & low) << 8), odd23 = ((w2 >> 8) & low) | (w3 & ~low);
        CORTEX_M_NN_STORE_WORD(out, (even01 & 0xFFFF) | (even23 << 16));
        CORTEX_M_NN_STORE_WORD(out + to_step, (odd01 & 0xFFFF) | (odd23 << 16));
        CORTEX_M_NN_STORE_WORD(out + 2 * to_step, (even01 >> 16) | (even23 & 0xFFFF0000u));
        CORTEX_M_NN_STORE_WORD(out + 3 * to_step, (odd01 >> 16) | (odd23 & 0xFFFF0000u));
      }
      for (; c < columns; ++c, in += from_step, ++out) {
        out[0] = in[0];
        out[to_step] = in[1];
        out[2 * to_step] = in[2];
        out[3 * to_step] = in[3];
      }
    }
  }
#endif
  const int8_t *in = from + r;
  for (int32_t left = rows - r; left >= 4; left -= 4, in += 4, r += 4) {
    int8_t *out = to + r * to_step;
    const int8_t *at = in;
    for (int32_t c = 0; c < columns; ++c, at += from_step, ++out) {
      out[0] = at[0];
      out[to_step] = at[1];
      out[2 * to_step] = at[2];
      out[3 * to_step] = at[3];
    }
  }
  for (; r < rows; ++r, ++in) {
    int8_t *out = to + r * to_step;
    const int8_t *at = in;
    for (int32_t c = 0; c < columns; ++c, at += from_step) {
      *out++ = *at;
    }
  }
}

arm_cmsis_nn_status arm_transpose_s8(const int8_t *input, int8_t *output, const cmsis_nn_dims *input_dims,
                                     const cmsis_nn_dims *output_dims,
                                     const cmsis_nn_transpose_params *transpose_params) {
  if (input == NULL || output == NULL || input_dims == NULL || output_dims == NULL || transpose_params == NULL ||
      transpose_params->permutations == NULL) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t dims = transpose_params->num_dims;
  if (dims < 1 || dims > kMaxDims) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t in_size[kMaxDims] = {input_dims->n, input_dims->h, input_dims->w, input_dims->c};
  const int32_t out_size[kMaxDims] = {output_dims->n, output_dims->h, output_dims->w, output_dims->c};
  int32_t in_stride[kMaxDims];
  int64_t elements = 1;
  for (int32_t i = dims - 1; i >= 0; --i) {
    in_stride[i] = (int32_t)elements;
    if (in_size[i] < 1 || elements * in_size[i] > INT32_MAX) {
      return ARM_CMSIS_NN_ARG_ERROR;
    }
    elements *= in_size[i];
  }

  // Output sizes and the input stride of each output dimension, right-aligned in four dimensions.
  int32_t size[kMaxDims] = {1, 1, 1, 1};
  int32_t stride[kMaxDims] = {0, 0, 0, 0};
  uint32_t seen = 0;
  for (int32_t i = 0; i < dims; ++i) {
    const uint32_t source = transpose_params->permutations[i];
    if (source >= (uint32_t)dims || (seen & (1u << source)) != 0 || out_size[i] != in_size[source]) {
      return ARM_CMSIS_NN_ARG_ERROR;
    }
    seen |= 1u << source;
    size[kMaxDims - dims + i] = out_size[i];
    stride[kMaxDims - dims + i] = in_stride[source];
  }

  // The output dimension along which the input's values are neighbours, and what a step in each dimension is in the output.
  int32_t out_stride[kMaxDims] = {size[1] * size[2] * size[3], size[2] * size[3], size[3], 1};
  int32_t along = kMaxDims - 1;
  while (along > 0 && (stride[along] != 1 || size[along] == 1)) {
    --along;
  }
  // A side of one row would be copied value by value either way.
  if (along == kMaxDims - 1 || stride[along] != 1) {
    for (int32_t a = 0; a < size[0]; ++a) {
      for (int32_t b = 0; b < size[1]; ++b) {
        for (int32_t c = 0; c < size[2]; ++c) {
          const int8_t *source = input + a * stride[0] + b * stride[1] + c * stride[2];
          if (stride[3] == 1) {
            copy(output, source, size[3]);
            output += size[3];
            continue;
          }
          for (int32_t d = 0; d < size[3]; ++d, source += stride[3]) {
            *output++ = *source;
          }
        }
      }
    }
    return ARM_CMSIS_NN_SUCCESS;
  }
  const int32_t first = along == 0 ? 1 : 0, second = along == 2 ? 1 : 2;  // the two dimensions that are left
  for (int32_t a = 0; a < size[first]; ++a) {
    for (int32_t b = 0; b < size[second]; ++b) {
      turn(input + a * stride[first] + b * stride[second], stride[3], size[along], size[3],
           output + a * out_stride[first] + b * out_stride[second], out_stride[along]);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
