#include "gather_mve.h"

#include <stdbool.h>

#include "mve.h"
#include "window.h"

#if CORTEX_M_NN_MVE

// Pieces of any size, one after the other. They are written 16 values at a time, each over what the last one wrote too
// much; zeros end it.
void cortex_m_nn_gather_window_mve(const cortex_m_nn_windows *w, const int8_t *image, int32_t y, int32_t x,
                                   int8_t *to) {
  const int32_t channels = w->channels;
  const int8x16_t zero = vdupq_n_s8(w->zero);
  const cortex_m_nn_range columns = cortex_m_nn_clip_window(x, w->dilation_w, w->kernel_w, w->width);
  const bool dense = w->dilation_w == 1 && channels == w->pixel;
  const int32_t inside = (columns.end - columns.begin) * channels;
  const int32_t run = dense ? inside : channels;
  const int32_t run_step = w->dilation_w * w->pixel;
  const int32_t row_step = w->dilation_h * w->width * w->pixel;
  const int8_t *row = image + (y * w->width + x + columns.begin * w->dilation_w) * w->pixel;
  for (int32_t ky = w->kernel_h; ky > 0; --ky, row += row_step, y += w->dilation_h) {
    int32_t before = columns.begin * channels;
    int32_t left = inside;
    if ((uint32_t)y >= (uint32_t)w->height || inside == 0) {
      before = w->kernel_w * channels;
      left = 0;
    }
    if (before > 0) {
      int32_t i = 0;
      do {
        vstrbq_s8(to + i, zero);
        i += 16;
      } while (i < before);
      to += before;
    }
    if (left == 0) {
      continue;
    }
    for (const int8_t *from = row; left > 0; left -= run, from += run_step, to += run) {
      if (from + run + 15 > w->input_end) {
        cortex_m_nn_copy_mve(to, from, run);
        continue;
      }
      int32_t i = 0;
      do {
        vstrbq_s8(to + i, vldrbq_s8(from + i));
        i += 16;
      } while (i < run);
    }
    const int32_t after = (w->kernel_w - columns.end) * channels;
    if (after > 0) {
      int32_t i = 0;
      do {
        vstrbq_s8(to + i, zero);
        i += 16;
      } while (i < after);
      to += after;
    }
  }
  vstrbq_s8(to, vdupq_n_s8(0));
}

void cortex_m_nn_gather_inside_mve(const int8_t *from, int32_t row_step, int32_t rows, int32_t run, int8_t *to) {
  if (run <= 16) {
    for (int32_t ky = rows; ky > 0; --ky, from += row_step, to += run) {
      vstrbq_s8(to, vldrbq_s8(from));
    }
  } else {
    const int32_t vectors = (run + 15) / 16;
    const int32_t back = 16 * vectors - run;
    row_step -= 16 * vectors;
    for (int32_t ky = rows; ky > 0; --ky, from += row_step, to -= back) {
      for (int32_t i = vectors; i > 0; --i, from += 16, to += 16) {
        vstrbq_s8(to, vldrbq_s8(from));
      }
    }
  }
  vstrbq_s8(to, vdupq_n_s8(0));
}

#endif  // MVE
