// Depthwise convolution for Armv7-M and the DSP extension, depth multiplier 1: four channels over the whole image,
// their weights widened once, on the stack. Where the window lies inside of the input the input offset is a part of the
// bias: sum((x + offset) * w) = sum(x * w) + offset * sum(w). The last four channels may overlap with those before.
#include <stddef.h>
#include <string.h>

#include "depthwise_conv_s8.h"
#include "dsp.h"
#include "isa.h"
#include "requantize.h"
#include "window.h"

#if CORTEX_M_NN_THUMB2

typedef struct {
  int32_t acc[4];
} sums;

#if CORTEX_M_NN_DSP

// 16 bits each, channels 0 and 2, channels 1 and 3: as SXTB16 takes four bytes apart.
typedef struct {
  uint32_t even;
  uint32_t odd;
} tap;

static tap widen(const int8_t *w) {
  const uint32_t weights = cortex_m_nn_load_4(w);
  const tap t = {cortex_m_nn_even_bytes_plus(weights, 0), cortex_m_nn_odd_bytes_plus(weights, 0)};
  return t;
}

#define TAP                           \
  "ldr %[v], [%[x]]\n\t"              \
  "ldrd %[k], %[h], [%[w]], #8\n\t"   \
  "sxtb16 %[u], %[v]\n\t"             \
  "sxtb16 %[v], %[v], ror #8\n\t"     \
  "smlabb %[a], %[u], %[k], %[a]\n\t" \
  "smlabb %[b], %[v], %[h], %[b]\n\t" \
  "smlatt %[c], %[u], %[k], %[c]\n\t" \
  "smlatt %[d], %[v], %[h], %[d]\n\t"
#define TEMPORARIES , [k] "=&r"(k), [h] "=&r"(h), [u] "=&r"(u), [v] "=&r"(v)
#define FIXED_REGISTERS

// `count` > 0 taps of a row, offset added.
static inline __attribute__((always_inline)) sums add_row(sums s, const int8_t *x, const tap *w, int32_t pixel,
                                                          int32_t count, int32_t offset) {
  int32_t a = s.acc[0], b = s.acc[1], c = s.acc[2], d = s.acc[3];
  const uint32_t offsets = ((uint32_t)offset & 0xFFFF) * 0x10001u;
  uint32_t k, h, v;
  // clang-format off
  __asm__ volatile(
      "1:\n\t"
      "ldr %[v], [%[x]]\n\t"
      "ldr %[k], [%[w]], #4\n\t"
      "sxtab16 %[h], %[offsets], %[v]\n\t"
      "add %[x], %[x], %[pixel]\n\t"
      "smlabb %[a], %[h], %[k], %[a]\n\t"
      "smlatt %[c], %[h], %[k], %[c]\n\t"
      "ldr %[k], [%[w]], #4\n\t"
      "sxtab16 %[h], %[offsets], %[v], ror #8\n\t"
      "subs %[n], #1\n\t"
      "smlabb %[b], %[h], %[k], %[b]\n\t"
      "smlatt %[d], %[h], %[k], %[d]\n\t"
      "bne 1b"
      : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [x] "+r"(x), [w] "+r"(w), [n] "+r"(count),
        [k] "=&r"(k), [h] "=&r"(h), [v] "=&r"(v)
      : [pixel] "r"(pixel), [offsets] "r"(offsets)
      : "cc", "memory");
  // clang-format on
  const sums result = {{a, b, c, d}};
  return result;
}

#else

typedef struct {
  int32_t weights[4];
} tap;

static tap widen(const int8_t *w) {
  const tap t = {{w[0], w[1], w[2], w[3]}};
  return t;
}

#define TAP                           \
  "ldmia %[w]!, {r4, r5, r6, r8}\n\t" \
  "ldrsb r9, [%[x]]\n\t"              \
  "mla %[a], r4, r9, %[a]\n\t"        \
  "ldrsb r9, [%[x], #1]\n\t"          \
  "ldrsb r4, [%[x], #2]\n\t"          \
  "mla %[b], r5, r9, %[b]\n\t"        \
  "ldrsb r9, [%[x], #3]\n\t"          \
  "mla %[c], r6, r4, %[c]\n\t"        \
  "mla %[d], r8, r9, %[d]\n\t"
#define TEMPORARIES
#define FIXED_REGISTERS "r4", "r5", "r6", "r8", "r9",

// `count` > 0 taps of a row, offset added.
static inline __attribute__((always_inline)) sums add_row(sums s, const int8_t *x, const tap *w, int32_t pixel,
                                                          int32_t count, int32_t offset) {
  int32_t a = s.acc[0], b = s.acc[1], c = s.acc[2], d = s.acc[3];
  __asm__ volatile(
      "1:\n\t"
      "ldrsb r6, [%[x]]\n\t"
      "ldmia %[w]!, {r4, r5}\n\t"
      "add r6, r6, %[offset]\n\t"
      "mla %[a], r4, r6, %[a]\n\t"
      "ldrsb r6, [%[x], #1]\n\t"
      "ldrsb r4, [%[x], #2]\n\t"
      "add r6, r6, %[offset]\n\t"
      "mla %[b], r5, r6, %[b]\n\t"
      "ldrsb r6, [%[x], #3]\n\t"
      "add r4, r4, %[offset]\n\t"
      "ldr r5, [%[w]], #4\n\t"
      "mla %[c], r5, r4, %[c]\n\t"
      "ldr r5, [%[w]], #4\n\t"
      "add r6, r6, %[offset]\n\t"
      "mla %[d], r5, r6, %[d]\n\t"
      "add %[x], %[x], %[pixel]\n\t"
      "subs %[n], #1\n\t"
      "bne 1b"
      : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [x] "+r"(x), [w] "+r"(w), [n] "+r"(count)
      : [pixel] "r"(pixel), [offset] "r"(offset)
      : "r4", "r5", "r6", "cc", "memory");
  const sums result = {{a, b, c, d}};
  return result;
}

#endif  // CORTEX_M_NN_DSP

#define NEXT "add %[x], %[x], %[pixel]\n\t"

// All taps of a 3x3 kernel, offset not added.
static inline __attribute__((always_inline)) sums add_3x3(sums s, const int8_t *x, const tap *w, int32_t pixel,
                                                          int32_t row) {
  int32_t a = s.acc[0], b = s.acc[1], c = s.acc[2], d = s.acc[3];
  const int32_t back = row - 2 * pixel;
#if CORTEX_M_NN_DSP
  uint32_t k, h, u, v;
#endif
  // clang-format off
  __asm__ volatile(
      TAP NEXT TAP NEXT TAP
      "add %[x], %[x], %[back]\n\t"
      TAP NEXT TAP NEXT TAP
      "add %[x], %[x], %[back]\n\t"
      TAP NEXT TAP NEXT TAP
      : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [x] "+r"(x), [w] "+r"(w) TEMPORARIES
      : [pixel] "r"(pixel), [back] "r"(back)
      : FIXED_REGISTERS "memory");
  // clang-format on
  const sums result = {{a, b, c, d}};
  return result;
}

typedef struct {
  const cortex_m_nn_depthwise_call *call;
  int32_t channel;
  tap taps[CORTEX_M_NN_DEPTHWISE_FOURS_MAX_TAPS];
  sums edge;    // bias
  sums inside;  // bias with the input offset's share
  cortex_m_nn_quick_params quick[4];
} four;

static void prepare(four *f, const cortex_m_nn_depthwise_call *call, int32_t channel) {
  const int32_t count = call->filter_dims->h * call->filter_dims->w;
  f->call = call;
  f->channel = channel;
  int32_t weights[4] = {0, 0, 0, 0};  // sums of them
  const int8_t *w = call->filter + channel;
  for (int32_t i = 0; i < count; ++i, w += call->filter_dims->c) {
    f->taps[i] = widen(w);
    weights[0] += w[0];
    weights[1] += w[1];
    weights[2] += w[2];
    weights[3] += w[3];
  }
  for (int32_t lane = 0; lane < 4; ++lane) {
    const int32_t c = channel + lane;
    f->edge.acc[lane] = call->bias != NULL ? call->bias[c] : 0;
    f->inside.acc[lane] = cortex_m_nn_wrapping_add(f->edge.acc[lane], weights[lane] * call->params->input_offset);
    f->quick[lane] =
        cortex_m_nn_quick_params_of(call->quant->multiplier[c], call->quant->shift[c], call->params->output_offset);
  }
}

// A window that reaches over an edge of the input; `rows` of the kernel lie inside.
static __attribute__((noinline)) void clipped(const four *f, const int8_t *image, int32_t y, cortex_m_nn_range rows,
                                              int32_t x, sums *result) {
  const cortex_m_nn_depthwise_call *call = f->call;
  const cmsis_nn_tile dilation = call->params->dilation;
  const cmsis_nn_dims *input = call->input_dims;
  const int32_t kernel_w = call->filter_dims->w;
  const int32_t offset = call->params->input_offset;
  const cortex_m_nn_range columns = cortex_m_nn_clip_window(x, dilation.w, kernel_w, input->w);
  const int32_t count = columns.end - columns.begin;
  sums s = f->edge;
  if (count > 0) {
    const int32_t pixel = dilation.w * input->c;
    const int32_t row = dilation.h * input->w * input->c;
    const int8_t *from = image + ((y + rows.begin * dilation.h) * input->w + x + columns.begin * dilation.w) * input->c;
    const tap *w = f->taps + rows.begin * kernel_w + columns.begin;
    for (int32_t ky = rows.end - rows.begin; ky > 0; --ky, from += row, w += kernel_w) {
      s = add_row(s, from, w, pixel, count, offset);
    }
  }
  *result = s;
}

static inline __attribute__((always_inline)) sums whole(const four *f, const int8_t *from, int32_t pixel, int32_t row,
                                                        const bool is_3x3) {
  if (is_3x3) {
    return add_3x3(f->inside, from, f->taps, pixel, row);
  }
  const cmsis_nn_dims *filter = f->call->filter_dims;
  sums s = f->inside;
  const tap *w = f->taps;
  for (int32_t ky = filter->h; ky > 0; --ky, from += row) {
    s = add_row(s, from, w, pixel, filter->w, 0);
    w += filter->w;
  }
  return s;
}

static inline __attribute__((always_inline)) void finish(const four *f, const sums *s, int8_t *out, const bool quick,
                                                         const bool full) {
  const cmsis_nn_dw_conv_params *params = f->call->params;
  const int32_t min = full ? -128 : params->activation.min, max = full ? 127 : params->activation.max;
#define FINISH(i)                                                                                   \
  out[i] =                                                                                          \
      quick ? cortex_m_nn_quick_requantize_to_s8(s->acc[i], &f->quick[i], min, max, full)           \
            : cortex_m_nn_requantize_to_s8(s->acc[i], f->call->quant->multiplier[f->channel + (i)], \
                                           f->call->quant->shift[f->channel + (i)], params->output_offset, min, max)
  FINISH(0);
  FINISH(1);
  FINISH(2);
  FINISH(3);
#undef FINISH
}

static inline __attribute__((always_inline)) void pixels(const four *f, const bool is_3x3, const bool quick,
                                                         const bool full) {
  const cortex_m_nn_depthwise_call *call = f->call;
  const cmsis_nn_dw_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *filter = call->filter_dims;
  const cmsis_nn_dims *output = call->output_dims;
  const int32_t channels = output->c;
  const int32_t pixel = params->dilation.w * channels;
  const int32_t row = params->dilation.h * input->w * channels;
  const cortex_m_nn_range rows =
      cortex_m_nn_inside_range(input->h, filter->h, params->dilation.h, params->stride.h, params->padding.h, output->h);
  const cortex_m_nn_range columns =
      cortex_m_nn_inside_range(input->w, filter->w, params->dilation.w, params->stride.w, params->padding.w, output->w);
  int8_t *out = call->output + f->channel;
  for (int32_t n = 0; n < output->n; ++n) {
    const int8_t *image = call->input + n * input->h * input->w * channels + f->channel;
    int32_t in_y = -params->padding.h;
    for (int32_t y = 0; y < output->h; ++y, in_y += params->stride.h) {
      const bool inside = y >= rows.begin && y < rows.end && columns.begin < columns.end;
      const int32_t begin = inside ? columns.begin : output->w, end = inside ? columns.end : output->w;
      const cortex_m_nn_range kernel_rows = cortex_m_nn_clip_window(in_y, params->dilation.h, filter->h, input->h);
      int32_t in_x = -params->padding.w;
      int32_t x = 0;
      for (; x < begin; ++x, in_x += params->stride.w, out += channels) {
        sums s;
        clipped(f, image, in_y, kernel_rows, in_x, &s);
        finish(f, &s, out, quick, full);
      }
      const int8_t *from = image + (in_y * input->w + in_x) * channels;
      const int32_t step = params->stride.w * channels;
      for (; x < end; ++x, from += step, out += channels) {
        const sums s = whole(f, from, pixel, row, is_3x3);
        finish(f, &s, out, quick, full);
      }
      in_x = x * params->stride.w - params->padding.w;
      for (; x < output->w; ++x, in_x += params->stride.w, out += channels) {
        sums s;
        clipped(f, image, in_y, kernel_rows, in_x, &s);
        finish(f, &s, out, quick, full);
      }
    }
  }
}

// A small image: its four channels are copied with the zero point around them, so that each window lies inside.
enum { kPaddedPixels = 400 };

// Pixels, of four bytes each, that the windows of an image reach over.
static cmsis_nn_tile padded_size(const cortex_m_nn_depthwise_call *call) {
  const cmsis_nn_dw_conv_params *params = call->params;
  const cmsis_nn_tile size = {
      (call->output_dims->w - 1) * params->stride.w + (call->filter_dims->w - 1) * params->dilation.w + 1,
      (call->output_dims->h - 1) * params->stride.h + (call->filter_dims->h - 1) * params->dilation.h + 1};
  return size;
}

static void pad(const cortex_m_nn_depthwise_call *call, const int8_t *image, cmsis_nn_tile size, uint8_t *to) {
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_tile padding = call->params->padding;
  const int32_t before = padding.w < size.w ? padding.w : size.w;
  const int32_t room = size.w - before < input->w ? size.w - before : input->w;
  memset(to, -call->params->input_offset & 0xFF, (size_t)(4 * size.w * size.h));
  for (int32_t y = 0; y < size.h; ++y, to += 4 * size.w) {
    if (y < padding.h || y - padding.h >= input->h) {
      continue;
    }
    const int8_t *from = image + (y - padding.h) * input->w * input->c;
    int8_t *pixel = (int8_t *)to + 4 * before;
    for (int32_t x = room; x > 0; --x, from += input->c, pixel += 4) {
      memcpy(pixel, from, 4);
    }
  }
}

static inline __attribute__((always_inline)) void small_image(const four *f, const bool full) {
  const cortex_m_nn_depthwise_call *call = f->call;
  const cmsis_nn_dw_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *output = call->output_dims;
  const cmsis_nn_tile size = padded_size(call);
  const int32_t channels = output->c;
  const int32_t row = 4 * params->dilation.h * size.w, step = 4 * params->stride.w;
  int8_t *out = call->output + f->channel;
  uint32_t padded[kPaddedPixels];
  for (int32_t n = 0; n < output->n; ++n) {
    pad(call, call->input + n * input->h * input->w * channels + f->channel, size, (uint8_t *)padded);
    const int8_t *line = (const int8_t *)padded;
    for (int32_t y = 0; y < output->h; ++y, line += 4 * params->stride.h * size.w) {
      const int8_t *from = line;
      for (int32_t x = output->w; x > 0; --x, from += step, out += channels) {
        const sums s = whole(f, from, 4 * params->dilation.w, row, true);
        finish(f, &s, out, true, full);
      }
    }
  }
}

static __attribute__((noinline)) void full_3x3(const four *f) { pixels(f, true, true, true); }
static __attribute__((noinline)) void clamped_3x3(const four *f) { pixels(f, true, true, false); }
static __attribute__((noinline)) void full_3x3_small(const four *f) { small_image(f, true); }
static __attribute__((noinline)) void clamped_3x3_small(const four *f) { small_image(f, false); }
static __attribute__((noinline)) void any_kernel(const four *f) { pixels(f, false, true, false); }
static __attribute__((noinline)) void any_shift(const four *f) { pixels(f, false, false, false); }

void cortex_m_nn_depthwise_conv_fours(const cortex_m_nn_depthwise_call *call) {
  const cmsis_nn_dims *filter = call->filter_dims;
  const int32_t channels = call->output_dims->c;
  const bool full = call->params->activation.min == -128 && call->params->activation.max == 127;
  const cmsis_nn_tile size = padded_size(call);
  void (*run)(const four *) = any_kernel;
  if (!cortex_m_nn_quick_params_are_valid(call->quant->shift, call->bias, channels)) {
    run = any_shift;
  } else if (filter->h == 3 && filter->w == 3) {
    const bool small = (int64_t)size.w * size.h <= kPaddedPixels;
    run = small ? (full ? full_3x3_small : clamped_3x3_small) : (full ? full_3x3 : clamped_3x3);
  }
  four f;
  for (int32_t c = 0; c < channels; c += 4) {
    prepare(&f, call, c < channels - 4 ? c : channels - 4);
    run(&f);
  }
}

#endif  // Thumb-2
