// Packed depthwise convolution for MVE: one output pixel after the other, each tap a pointer to all channels of a pixel of the input,
// or of one that is the zero point.
#include <stdbool.h>

#include "mve.h"
#include "packed_depthwise_conv_s8.h"
#include "window.h"

#if CORTEX_M_NN_MVE

// A row of the window as it moves along the output: where its first tap is, and the distances to the next tap and the next pixel.
typedef struct {
  const int8_t *from;
  int32_t tap;
  int32_t pixel;
} tap_row;

void cortex_m_nn_packed_depthwise_conv_mve(const cortex_m_nn_packed_conv_args *args, void *scratch) {
  const cortex_m_nn_window_axis *rows = &args->rows, *columns = &args->columns;
  const int32_t channels = args->input_channels;
  int8_t *zero = scratch;
  cortex_m_nn_fill_mve(zero, (int8_t)-args->input_offset, channels);
  const cortex_m_nn_range inside = cortex_m_nn_inside_range(columns->input, columns->kernel, columns->dilation,
                                                            columns->stride, columns->padding, columns->output);
  int8_t limits[2 * CORTEX_M_NN_PACKED_LANES];
  cortex_m_nn_fill_mve(limits, (int8_t)args->activation_min, CORTEX_M_NN_PACKED_LANES);
  cortex_m_nn_fill_mve(limits + CORTEX_M_NN_PACKED_LANES, (int8_t)args->activation_max, CORTEX_M_NN_PACKED_LANES);
  cortex_m_nn_packed_depthwise_pixel pixel = {
      .packed = args->packed,
      .out = args->out,
      .offset = args->output_offset,
      .limits = limits,
      .blocks = channels / CORTEX_M_NN_PACKED_LANES,
  };
  const int8_t *image = args->input;
  for (int32_t n = 0; n < args->batch; ++n, image += rows->input * columns->input * channels) {
    for (int32_t y = 0; y < rows->output; ++y) {
      tap_row window[3];
      for (int32_t ky = 0; ky < 3; ++ky) {
        const int32_t row = y * rows->stride - rows->padding + ky * rows->dilation;
        const bool outside = row < 0 || row >= rows->input;
        window[ky].from = outside ? zero : image + (row * columns->input - columns->padding) * channels;
        window[ky].tap = outside ? 0 : columns->dilation * channels;
        window[ky].pixel = outside ? 0 : columns->stride * channels;
      }
      for (int32_t x = 0; x < columns->output; ++x, pixel.out += channels) {
        for (int32_t ky = 0; ky < 3; ++ky) {
          pixel.taps[3 * ky] = window[ky].from;
          pixel.taps[3 * ky + 1] = window[ky].from + window[ky].tap;
          pixel.taps[3 * ky + 2] = window[ky].from + 2 * window[ky].tap;
          window[ky].from += window[ky].pixel;
        }
        if (x < inside.begin || x >= inside.end) {
          for (int32_t kx = 0; kx < 3; ++kx) {
            const int32_t column = x * columns->stride - columns->padding + kx * columns->dilation;
            if (column < 0 || column >= columns->input) {
              pixel.taps[kx] = pixel.taps[3 + kx] = pixel.taps[6 + kx] = zero;
            }
          }
        }
        cortex_m_nn_packed_depthwise_pixel_mve(&pixel);
      }
    }
  }
}

#endif  // MVE
