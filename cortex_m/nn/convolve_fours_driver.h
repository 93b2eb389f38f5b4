// The loop over groups and pixels of convolve_fours.h. Included once by each variant, after gather, gather_inside,
// multiply_full, multiply_clamped and multiply_any, with FUNCTION the name to define.

void FUNCTION(const cortex_m_nn_convolve_call *call, void *scratch) {
  const cmsis_nn_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *filter = call->filter_dims;
  const cmsis_nn_dims *output = call->output_dims;
  const int32_t group_channels = output->c / (input->c / filter->c);
  const int32_t depth = filter->h * filter->w * filter->c;
  uint32_t *columns = (uint32_t *)scratch;
  int8_t *line = (int8_t *)(columns + FOUR_COLUMNS_WORDS(depth));
  const int8_t *input_end = call->input + input->n * input->h * input->w * input->c;
  const cortex_m_nn_range rows =
      cortex_m_nn_inside_range(input->h, filter->h, params->dilation.h, params->stride.h, params->padding.h, output->h);
  cortex_m_nn_range inside =
      cortex_m_nn_inside_range(input->w, filter->w, params->dilation.w, params->stride.w, params->padding.w, output->w);
  const int32_t run = filter->w * filter->c;
  const int32_t row_step = params->dilation.h * input->w * input->c;
  // From the first value of a window to behind the last one that gather_inside reads.
  const int32_t reach = (filter->h - 1) * row_step + (run + 3) / 4 * 4;
  if (params->dilation.w != 1 || filter->c != input->c) {
    inside.end = 0;  // the rows of a window have gaps
  }
  const bool full = params->activation.min == -128 && params->activation.max == 127;
  void (*const multiply_all)(const cortex_m_nn_convolve_call *, const uint32_t *, int32_t, int32_t, int32_t,
                             int8_t *const[4], int32_t) = !cortex_m_nn_convolve_is_quick(call, depth) ? multiply_any
                                                          : full ? multiply_full
                                                                 : multiply_clamped;
  for (int32_t first = 0; first < output->c; first += group_channels) {
    const int8_t *image = call->input + first / group_channels * filter->c;
    int8_t *out = call->output;
    int8_t *waiting[4] = {out, out, out, out};  // the output pixels of the columns that are there
    int32_t count = 0;
    for (int32_t n = 0; n < output->n; ++n, image += input->h * input->w * input->c) {
      int32_t in_y = -params->padding.h;
      for (int32_t y = 0; y < output->h; ++y, in_y += params->stride.h) {
        const cortex_m_nn_range whole = {inside.begin, y >= rows.begin && y < rows.end ? inside.end : 0};
        int32_t in_x = -params->padding.w;
        for (int32_t x = 0; x < output->w; ++x, in_x += params->stride.w, out += output->c) {
          const int8_t *from = image + (in_y * input->w + in_x) * input->c;
          if (x >= whole.begin && x < whole.end && from + reach <= input_end) {
            gather_inside(from, row_step, filter->h, run, params->input_offset, line, columns + count);
          } else {
            gather(call, image, in_y, in_x, depth, line, columns + count);
          }
          waiting[count++] = out;
          if (count == 4) {
            multiply_all(call, columns, depth, first, group_channels, waiting, 4);
            count = 0;
          }
        }
      }
    }
    if (count > 0) {
      multiply_all(call, columns, depth, first, group_channels, waiting, count);
    }
  }
}
