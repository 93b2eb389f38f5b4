// A packed linear layer one output at a time: what the variant for a core is tested against.
#include <string.h>

#include "packed_linear_s8.h"
#include "requantize.h"

void cortex_m_nn_packed_linear_scalar(const cortex_m_nn_packed_linear_args *args) {
  const int32_t fours = (args->depth + 3) / 4;
  const int32_t block_bytes = fours * 16 + 12 * (int32_t)sizeof(int32_t);
  const int8_t *x = args->input;
  int8_t *out = args->out;
  for (int32_t row = 0; row < args->rows; ++row, x += args->depth) {
    for (int32_t c = 0; c < args->channels; ++c) {
      const int8_t *block = args->packed + c / 4 * block_bytes;
      int32_t sum = 0;
      for (int32_t k = 0; k < args->depth; ++k) {
        int16_t half;
        memcpy(&half, block + k / 4 * 16 + k % 2 * 8 + c % 4 / 2 * 4 + k % 4 / 2 * 2, sizeof half);
        const int32_t weight = c % 2 == 0 ? cortex_m_nn_packed_upper(half) : cortex_m_nn_packed_lower(half);
        sum = cortex_m_nn_wrapping_add(sum, x[k] * weight);
      }
      if (c % 2 == 0) {
        sum = cortex_m_nn_packed_24_bits(sum);
      }
      int32_t parameters[3][4];
      memcpy(parameters, block + fours * 16, sizeof parameters);
      *out++ = cortex_m_nn_requantize_to_s8(cortex_m_nn_wrapping_add(sum, parameters[0][c % 4]), parameters[1][c % 4],
                                            parameters[2][c % 4], args->output_offset, args->activation_min,
                                            args->activation_max);
    }
  }
}
