#include <stddef.h>
#include <string.h>

#include "arm_nnfunctions.h"
#include "checks.h"
#include "copy.h"
#include "isa.h"
#include "mve.h"

static bool is_valid(const cmsis_nn_dims *input, const cmsis_nn_dims *pre, const cmsis_nn_dims *post) {
  if (!cortex_m_nn_dims_are_valid(input)) {
    return false;
  }
  if (pre->n < 0 || pre->h < 0 || pre->w < 0 || pre->c < 0 || post->n < 0 || post->h < 0 || post->w < 0 ||
      post->c < 0) {
    return false;
  }
  const int64_t size[4] = {(int64_t)pre->n + input->n + post->n, (int64_t)pre->h + input->h + post->h,
                           (int64_t)pre->w + input->w + post->w, (int64_t)pre->c + input->c + post->c};
  int64_t elements = 1;
  for (int i = 0; i < 4; ++i) {
    if (size[i] > INT32_MAX || elements * size[i] > INT32_MAX) {
      return false;
    }
    elements *= size[i];
  }
  return true;
}

// Most of what is filled is a few pixels, over before a call of memset would have begun.
static int8_t *fill(int8_t *out, int8_t value, int32_t count) {
#if CORTEX_M_NN_MVE
  const int8x16_t values = vdupq_n_s8(value);
  int8_t *at = out;
  __asm__ volatile(
      "wlstp.8 lr, %[count], 2f\n\t"
      "1: vstrb.8 %q[values], [%[at]], #16\n\t"
      "letp lr, 1b\n\t"
      "2:"
      : [at] "+r"(at)
      : [count] "r"(count), [values] "w"(values)
      : "lr", "memory");
  return out + count;
#else
  enum { kFew = 16 };
  if (count >= kFew) {
    memset(out, value, (size_t)count);
    return out + count;
  }
  for (; count > 0; --count) {
    *out++ = value;
  }
  return out;
#endif
}

arm_cmsis_nn_status arm_pad_s8(const int8_t *input, int8_t *output, int8_t pad_value, const cmsis_nn_dims *input_size,
                               const cmsis_nn_dims *pre_pad, const cmsis_nn_dims *post_pad) {
  if (input == NULL || output == NULL || input_size == NULL || pre_pad == NULL || post_pad == NULL ||
      !is_valid(input_size, pre_pad, post_pad)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t pixel = pre_pad->c + input_size->c + post_pad->c;
  const int32_t row = pixel * (pre_pad->w + input_size->w + post_pad->w);
  const int32_t image = row * (pre_pad->h + input_size->h + post_pad->h);
  // With whole pixels the values of a row stay together.
  const bool whole_pixels = pre_pad->c == 0 && post_pad->c == 0;
  const int32_t run = whole_pixels ? input_size->w * input_size->c : input_size->c;
  const int32_t runs = whole_pixels ? 1 : input_size->w;
  output = fill(output, pad_value, image * pre_pad->n);
  for (int32_t n = 0; n < input_size->n; ++n) {
    output = fill(output, pad_value, row * pre_pad->h + pixel * pre_pad->w);
    for (int32_t y = 1; y <= input_size->h; ++y) {
      for (int32_t i = 0; i < runs; ++i) {
        output = fill(output, pad_value, pre_pad->c);
        cortex_m_nn_copy(output, input, run);
        output = fill(output + run, pad_value, post_pad->c);
        input += run;
      }
      // The right edge of a row and the left one of the next are neighbours; behind the last row there are whole ones.
      const int32_t next = y < input_size->h ? pixel * pre_pad->w : row * post_pad->h;
      output = fill(output, pad_value, pixel * post_pad->w + next);
    }
  }
  fill(output, pad_value, image * post_pad->n);
  return ARM_CMSIS_NN_SUCCESS;
}
