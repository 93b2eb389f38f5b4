// A packed depthwise convolution one output at a time: what the variant for a core is tested against.
#include <string.h>

#include "packed_depthwise_conv_s8.h"
#include "requantize.h"

static int32_t window_sum(const cortex_m_nn_packed_conv_args *args, const int8_t *image, int32_t y, int32_t x,
                          int32_t channel, const int8_t *weights) {
  int32_t sum = 0;
  for (int32_t ky = 0; ky < 3; ++ky) {
    const int32_t row = y + ky * args->rows.dilation;
    for (int32_t kx = 0; kx < 3; ++kx, weights += CORTEX_M_NN_PACKED_LANES) {
      const int32_t column = x + kx * args->columns.dilation;
      const int inside = row >= 0 && row < args->rows.input && column >= 0 && column < args->columns.input;
      const int32_t value =
          inside ? image[(row * args->columns.input + column) * args->input_channels + channel] : -args->input_offset;
      sum += value * *weights;
    }
  }
  return sum;
}

void cortex_m_nn_packed_depthwise_conv_scalar(const cortex_m_nn_packed_conv_args *args) {
  const int32_t channels = args->input_channels;
  const int32_t weights_bytes = CORTEX_M_NN_PACKED_TAPS * CORTEX_M_NN_PACKED_LANES;
  const int32_t block_bytes = weights_bytes + 3 * CORTEX_M_NN_PACKED_LANES * (int32_t)sizeof(int32_t);
  for (int32_t n = 0; n < args->batch; ++n) {
    const int8_t *image = args->input + n * args->rows.input * args->columns.input * channels;
    for (int32_t first = 0; first < channels; first += CORTEX_M_NN_PACKED_LANES) {
      const int8_t *block = args->packed + first / CORTEX_M_NN_PACKED_LANES * block_bytes;
      int32_t parameters[4][3][4];
      memcpy(parameters, block + weights_bytes, sizeof parameters);
      for (int32_t i = 0; i < CORTEX_M_NN_PACKED_LANES; ++i) {
        const int32_t lane = cortex_m_nn_packed_lane(i);
        const int32_t bias = parameters[i / 4][0][i % 4];
        const int32_t multiplier = parameters[i / 4][1][i % 4], shift = parameters[i / 4][2][i % 4];
        for (int32_t y = 0; y < args->rows.output; ++y) {
          for (int32_t x = 0; x < args->columns.output; ++x) {
            const int32_t sum =
                window_sum(args, image, y * args->rows.stride - args->rows.padding,
                           x * args->columns.stride - args->columns.padding, first + lane, block + lane);
            const int32_t pixel = (n * args->rows.output + y) * args->columns.output + x;
            args->out[pixel * channels + first + lane] =
                cortex_m_nn_requantize_to_s8(cortex_m_nn_wrapping_add(sum, bias), multiplier, shift,
                                             args->output_offset, args->activation_min, args->activation_max);
          }
        }
      }
    }
  }
}
