// The loops of transposed convolution. Included once by each variant, after `dot`, with FUNCTION the name to define and UNROLL.
//
// Each output value collects what reaches it: for every kernel tap that meets an input pixel, the product of the channels of that
// pixel with one row of weights, four output channels at a time.
//
//   static inline void dot(const int8_t *x, const int8_t *w, int32_t row_bytes, int32_t depth, int32_t offset, int32_t rows,
//                          uint32_t acc[4]);
//   acc[r] += sum over i < depth of (x[i] + offset) * w[r * row_bytes + i], r < rows; rows is 4 or 1

static inline __attribute__((always_inline)) void outputs(const cortex_m_nn_transpose_conv_args *args,
                                                          const int8_t *image, const cortex_m_nn_taps *down,
                                                          const cortex_m_nn_taps *across, int32_t channel, int8_t *out,
                                                          const int32_t rows) {
  const int32_t depth = args->input_channels / args->groups;
  const int32_t kernel_row = args->columns.kernel * depth;
  const int32_t row_bytes = args->rows.kernel * kernel_row;
  const int32_t input_row = args->columns.input * args->input_channels;
  uint32_t acc[4] = {0, 0, 0, 0};
  UNROLL
  for (int32_t r = 0; r < rows; ++r) {
    acc[r] = args->bias != NULL ? (uint32_t)args->bias[channel + r] : 0;
  }
  const int8_t *from_row = image + down->input * input_row + across->input * args->input_channels;
  const int8_t *weights_row = args->filter + channel * row_bytes + down->kernel * kernel_row + across->kernel * depth;
  for (int32_t y = down->count; y > 0; --y) {
    const int8_t *from = from_row;
    const int8_t *weights = weights_row;
    for (int32_t x = across->count; x > 0; --x) {
      dot(from, weights, row_bytes, depth, args->input_offset, rows, acc);
      if (x > 1) {
        from -= across->input_step * args->input_channels;
        weights += across->kernel_step * depth;
      }
    }
    if (y > 1) {
      from_row -= down->input_step * input_row;
      weights_row += down->kernel_step * kernel_row;
    }
  }
  UNROLL
  for (int32_t r = 0; r < rows; ++r) {
    const int32_t c = channel + r;
    out[c] = cortex_m_nn_requantize_to_s8((int32_t)acc[r], args->multiplier[c], args->shift[c], args->output_offset,
                                          args->activation_min, args->activation_max);
  }
}

void FUNCTION(const cortex_m_nn_transpose_conv_args *args) {
  const int32_t group_in = args->input_channels / args->groups;
  const int32_t group_out = args->output_channels / args->groups;
  const int8_t *image = args->input;
  int8_t *out = args->out;
  for (int32_t n = 0; n < args->batch; ++n, image += args->rows.input * args->columns.input * args->input_channels) {
    for (int32_t y = 0; y < args->rows.output; ++y) {
      const cortex_m_nn_taps down = cortex_m_nn_taps_at(&args->rows, y);
      for (int32_t x = 0; x < args->columns.output; ++x, out += args->output_channels) {
        const cortex_m_nn_taps across = cortex_m_nn_taps_at(&args->columns, x);
        for (int32_t g = 0; g < args->groups; ++g) {
          const int8_t *group = image + g * group_in;
          const int32_t end = (g + 1) * group_out;
          int32_t c = g * group_out;
          for (; c + 4 <= end; c += 4) {
            outputs(args, group, &down, &across, c, out, 4);
          }
          for (; c < end; ++c) {
            outputs(args, group, &down, &across, c, out, 1);
          }
        }
      }
    }
  }
}
