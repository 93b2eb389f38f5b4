// Packed convolution for MVE: four output pixels at a time, whose windows are read in place where each is one piece of the
// input, as for a pointwise convolution, and copied together where not.
#include <stdbool.h>
#include <stddef.h>

#include "gather_mve.h"
#include "mve.h"
#include "packed_conv_s8.h"
#include "window.h"

#if CORTEX_M_NN_MVE

// Distances of the outputs of `count` pixels; the windows of those that are missing are the last one's again.
static void set_count(cortex_m_nn_packed_block *block, int32_t count, int32_t channels) {
  for (int32_t i = 0; i < 4; ++i) {
    const int32_t pixel = i < count ? i : count - 1;
    block->x[i] = block->x[pixel];
    block->places[2 * i] = (uint16_t)(pixel * channels);
    block->places[2 * i + 1] = (uint16_t)(pixel * channels + 1);
  }
}

// Windows that are one pixel each, in order. Those whose last vector would reach behind the input are copied.
static void run_pointwise(cortex_m_nn_packed_block *block, const cortex_m_nn_packed_conv_args *args, int8_t *scratch) {
  const int32_t pixel = args->input_channels, channels = args->output_channels;
  const int32_t pixels = args->batch * args->rows.output * args->columns.output;
  const int8_t *from = args->input;
  const int8_t *last = from + pixels * pixel - 16 * block->vectors;  // from which 16 values a vector may be read
  block->out = args->out;
  int32_t left = pixels;
  for (; left >= 4 && from + 3 * pixel <= last; left -= 4, from += 4 * pixel, block->out += 4 * channels) {
    block->x[0] = from;
    block->x[1] = from + pixel;
    block->x[2] = from + 2 * pixel;
    block->x[3] = from + 3 * pixel;
    cortex_m_nn_packed_block_mve(block);
  }
  for (; left > 0; left -= 4, block->out += 4 * channels) {
    const int32_t count = left < 4 ? left : 4;
    for (int32_t i = 0; i < count; ++i, from += pixel) {
      block->x[i] = from;
      if (from > last) {
        int8_t *copy = scratch + 16 * block->vectors * i;
        cortex_m_nn_copy_mve(copy, from, pixel);
        block->x[i] = copy;
      }
    }
    set_count(block, count, channels);
    cortex_m_nn_packed_block_mve(block);
  }
}

// 3x3 with stride 1 and as many channels as packed_quad_mve.c is written out for, the vectors aligned.
static bool is_quads(const cortex_m_nn_packed_conv_args *args) {
  const cortex_m_nn_window_axis *rows = &args->rows, *columns = &args->columns;
  return rows->kernel == 3 && columns->kernel == 3 && rows->stride == 1 && columns->stride == 1 &&
         rows->dilation == 1 && columns->dilation == 1 && columns->output >= 4 && (uintptr_t)args->input % 4 == 0 &&
         (args->input_channels == 16 || args->input_channels == 32 || args->input_channels == 64);
}

// Rows of outputs in fours, the last ones overlapping; windows that leave the input are copied with their padding.
static void run_quads(const cortex_m_nn_packed_block *block, const cortex_m_nn_packed_conv_args *args,
                      int8_t *scratch) {
  enum { kColumns = 6 };
  const cortex_m_nn_window_axis *rows = &args->rows, *columns = &args->columns;
  const int32_t pixel = args->input_channels, channels = args->output_channels;
  const int32_t image_values = rows->input * columns->input * pixel;
  const cortex_m_nn_windows windows = {
      .height = rows->input,
      .width = columns->input,
      .pixel = pixel,
      .channels = pixel,
      .kernel_h = 3,
      .kernel_w = kColumns,
      .dilation_h = 1,
      .dilation_w = 1,
      .zero = (int8_t)-args->input_offset,
      .input_end = args->input + args->batch * image_values,
  };
  cortex_m_nn_packed_quad quad = {.end = block->end, .packed = block->packed};
  vstrhq_u16(quad.places, vldrhq_u16(block->places));
  vstrhq_s16(quad.offset, vldrhq_s16(block->offset));
  vstrhq_s16(quad.min, vldrhq_s16(block->min));
  vstrhq_s16(quad.max, vldrhq_s16(block->max));
  const int8_t *image = args->input;
  int8_t *out = args->out;
  for (int32_t n = 0; n < args->batch; ++n, image += image_values) {
    for (int32_t y = 0; y < rows->output; ++y, out += columns->output * channels) {
      const int32_t in_y = y - rows->padding;
      for (int32_t x = 0; x < columns->output; x += 4) {
        const int32_t first = x + 4 <= columns->output ? x : columns->output - 4;
        const int32_t in_x = first - columns->padding;
        if (in_y >= 0 && in_y + 3 <= rows->input && in_x >= 0 && in_x + kColumns <= columns->input) {
          quad.x = image + (in_y * columns->input + in_x) * pixel;
          quad.row_step = columns->input * pixel;
        } else {
          cortex_m_nn_gather_window_mve(&windows, image, in_y, in_x, scratch);
          quad.x = scratch;
          quad.row_step = kColumns * pixel;
        }
        quad.out = out + first * channels;
        cortex_m_nn_packed_quad_mve(&quad, pixel);
      }
    }
  }
}

void cortex_m_nn_packed_conv_mve(const cortex_m_nn_packed_conv_args *args, void *scratch) {
  const cortex_m_nn_window_axis *rows = &args->rows, *columns = &args->columns;
  const int32_t pixel = args->input_channels, channels = args->output_channels;
  const int32_t run_values = columns->kernel * pixel;
  const int32_t vectors = (rows->kernel * run_values + 15) / 16;
  const int32_t image_values = rows->input * columns->input * pixel;
  const cortex_m_nn_windows windows = {
      .height = rows->input,
      .width = columns->input,
      .pixel = pixel,
      .channels = pixel,
      .kernel_h = rows->kernel,
      .kernel_w = columns->kernel,
      .dilation_h = rows->dilation,
      .dilation_w = columns->dilation,
      .zero = (int8_t)-args->input_offset,
      .input_end = args->input + args->batch * image_values,
  };
  const cortex_m_nn_range inside_rows =
      cortex_m_nn_inside_range(rows->input, rows->kernel, rows->dilation, rows->stride, rows->padding, rows->output);
  cortex_m_nn_range inside_columns = cortex_m_nn_inside_range(columns->input, columns->kernel, columns->dilation,
                                                              columns->stride, columns->padding, columns->output);
  if (columns->dilation != 1 && columns->kernel != 1) {
    inside_columns.end = 0;  // the rows of a window have gaps
  }
  const bool one_piece = rows->kernel == 1;
  const int32_t row_step = rows->dilation * columns->input * pixel;
  // From the first value of a window to behind the last one that is read.
  const int32_t reach = (rows->kernel - 1) * row_step + (run_values + 15) / 16 * 16;

  cortex_m_nn_packed_block block;
  block.vectors = vectors;
  block.packed = args->packed;
  block.x[0] = NULL;
  set_count(&block, 4, channels);
  block.end = args->packed + cortex_m_nn_packed_conv_bytes(args);
  vstrhq_s16(block.offset, vdupq_n_s16((int16_t)args->output_offset));
  vstrhq_s16(block.min, vdupq_n_s16((int16_t)args->activation_min));
  vstrhq_s16(block.max, vdupq_n_s16((int16_t)args->activation_max));

  if (one_piece && columns->kernel == 1 && columns->stride == 1 && rows->stride == 1 && columns->padding == 0 &&
      rows->padding == 0 && columns->output == columns->input && rows->output == rows->input) {
    run_pointwise(&block, args, scratch);
    return;
  }
  if (is_quads(args)) {
    run_quads(&block, args, scratch);
    return;
  }
  const int8_t *image = args->input;
  int8_t *copy = scratch;
  block.out = args->out;
  int32_t count = 0;
  for (int32_t n = 0; n < args->batch; ++n, image += image_values) {
    for (int32_t y = 0; y < rows->output; ++y) {
      const int32_t in_y = y * rows->stride - rows->padding;
      const bool row_inside = y >= inside_rows.begin && y < inside_rows.end;
      int32_t in_x = -columns->padding;
      for (int32_t x = 0; x < columns->output; ++x, in_x += columns->stride) {
        const int8_t *from = image + (in_y * columns->input + in_x) * pixel;
        const bool inside =
            row_inside && x >= inside_columns.begin && x < inside_columns.end && from + reach <= windows.input_end;
        if (inside && one_piece) {
          block.x[count] = from;
        } else {
          block.x[count] = copy;
          if (inside) {
            cortex_m_nn_gather_inside_mve(from, row_step, rows->kernel, run_values, copy);
          } else {
            cortex_m_nn_gather_window_mve(&windows, image, in_y, in_x, copy);
          }
          copy += 16 * vectors + 16;
        }
        if (++count == 4) {
          cortex_m_nn_packed_block_mve(&block);
          block.out += 4 * channels;
          copy = scratch;
          count = 0;
        }
      }
    }
  }
  if (count > 0) {
    set_count(&block, count, channels);
    cortex_m_nn_packed_block_mve(&block);
  }
}

#endif  // MVE
