// A packed convolution one output at a time: what the variant for a core is tested against.
#include <string.h>

#include "additional.h"
#include "requantize.h"

// Sum over the window at input coordinates y, x. What is outside of the input is the zero point, which the bias counts on.
static int32_t window_sum(const cortex_m_nn_packed_conv_args *args, const int8_t *image, int32_t y, int32_t x,
                          const int8_t *weights) {
  int32_t sum = 0, k = 0;
  for (int32_t ky = 0; ky < args->rows.kernel; ++ky) {
    const int32_t row = y + ky * args->rows.dilation;
    for (int32_t kx = 0; kx < args->columns.kernel; ++kx) {
      const int32_t column = x + kx * args->columns.dilation;
      const int inside = row >= 0 && row < args->rows.input && column >= 0 && column < args->columns.input;
      const int8_t *pixel = image + (row * args->columns.input + column) * args->input_channels;
      for (int32_t c = 0; c < args->input_channels; ++c, ++k) {
        const int32_t value = inside ? pixel[c] : -args->input_offset;
        sum = cortex_m_nn_wrapping_add(sum, value * weights[k / 16 * 32 + k % 16]);
      }
    }
  }
  return sum;
}

void cortex_m_nn_packed_conv_scalar(const cortex_m_nn_packed_conv_args *args) {
  const int32_t vectors = (args->rows.kernel * args->columns.kernel * args->input_channels + 15) / 16;
  const int32_t pair_bytes = vectors * 32 + 6 * (int32_t)sizeof(int32_t);
  int8_t *out = args->out;
  for (int32_t n = 0; n < args->batch; ++n) {
    const int8_t *image = args->input + n * args->rows.input * args->columns.input * args->input_channels;
    for (int32_t y = 0; y < args->rows.output; ++y) {
      for (int32_t x = 0; x < args->columns.output; ++x) {
        for (int32_t c = 0; c < args->output_channels; ++c) {
          const int8_t *pair = args->packed + c / 2 * pair_bytes;
          int32_t parameters[3][2];
          memcpy(parameters, pair + vectors * 32, sizeof parameters);
          const int32_t sum = window_sum(args, image, y * args->rows.stride - args->rows.padding,
                                         x * args->columns.stride - args->columns.padding, pair + c % 2 * 16);
          *out++ = cortex_m_nn_requantize_to_s8(cortex_m_nn_wrapping_add(sum, parameters[0][c % 2]),
                                                parameters[1][c % 2], parameters[2][c % 2], args->output_offset,
                                                args->activation_min, args->activation_max);
        }
      }
    }
  }
}
