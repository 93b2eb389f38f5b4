// Depthwise convolution for MVE with kernels up to 4x4, depth multiplier 1.
//
// VMLADAV multiplies 16 pairs and sums them: 16 lanes should be one patch of 4x4 values of one channel. For 16 channels
// and a band of four input rows, VST4 writes columns of such patches: for each input column, for each channel, its four
// values. Gathering four words then is one patch. With stride 1 and a kernel up to 3x3 a patch holds the windows of 2x2
// outputs, which differ only in where in a vector the weights stand: one load, four VMLADAV, four outputs. Otherwise a
// patch gives one output.
#include <stddef.h>

#include "depthwise_conv_s8.h"
#include "depthwise_conv_s8_mve.h"
#include "mve.h"
#include "requantize.h"

#if CORTEX_M_NN_MVE

enum { kLanes = CORTEX_M_NN_DEPTHWISE_LANES, kColumn = 4 * kLanes };

// One channel. The weights stand in lane 4 * column + row, where the windows of outputs (0, 0), (0, 1), (1, 0) and (1,
// 1) of a patch see them. The bias has the input offset's share.
typedef struct {
  int8_t weights[4][16];
  int32_t bias;
  int32_t multiplier;
  int32_t shift;
} channel;
_Static_assert(kLanes * sizeof(channel) == CORTEX_M_NN_DEPTHWISE_CHANNELS_BYTES, "dispatch.c reserves that much");

// Parts of output rows, or of pairs of rows.
typedef struct {
  int32_t row;  // distances in the output
  int32_t pixel;
  int32_t outputs;     // of a row
  int32_t step;        // input columns from one output to the next
  int32_t bands;       // at least 1
  int32_t band_bytes;  // from one band of the input to the next
  int32_t band_out;    // from one band of the output to the next
  int32_t offset;
  int32_t min;
  int32_t max;
} tile;

static inline __attribute__((always_inline)) int8x16_t load_patch(const int8_t *band, uint32x4_t columns) {
  return vreinterpretq_s8_s32(vldrwq_gather_offset_s32((const int32_t *)(const void *)band, columns));
}

static inline __attribute__((always_inline)) void store(int8_t *out, uint32x4_t places, int32x4_t sums,
                                                        const channel *c, int32_t offset, int32_t min, int32_t max,
                                                        const bool right, const bool clamp) {
  const int32x4_t biased = vaddq_n_s32(sums, c->bias);
  int32x4_t value;
  if (right) {  // as in packed_block_mve.c: the factor is positive, so the sum's sign is the product's
    value = vrshlq_n_s32(vqrdmlahq_n_s32(vshrq_n_s32(biased, 31), biased, c->multiplier), c->shift);
  } else {
    value = cortex_m_nn_requantize_n_mve(biased, c->multiplier, c->shift, false);
  }
  value = vaddq_n_s32(value, offset);
  if (clamp) {
    value = vmaxq_s32(value, vdupq_n_s32(min));
    value = vminq_s32(value, vdupq_n_s32(max));
  } else {  // the same for -128 and 127, without registers for them: the low byte of each lane is what is stored
    __asm__("vqmovnb.s32 %q0, %q0\n\tvqmovnb.s16 %q0, %q0" : "+w"(value));
  }
  vstrbq_scatter_offset_s32(out, places, value);
}

// Pairs of rows of outputs of each channel, stride 1. At least two outputs; if their number is odd, the last patch
// overlaps.
static inline __attribute__((always_inline)) void patches_of_four(const channel *channels, int32_t count,
                                                                  const int8_t *band, int8_t *out, const tile *t,
                                                                  const bool right, const bool clamp) {
  const uint32x4_t columns = vmulq_n_u32(vidupq_n_u32(0, 1), kColumn);
  const uint32x4_t places = vreinterpretq_u32_s32(cortex_m_nn_lanes_mve(0, t->pixel, t->row, t->row + t->pixel));
  const int32_t step = 2 * t->pixel, pairs = t->outputs / 2;
  const int32_t offset = t->offset, min = t->min, max = t->max;
  for (; count > 0; --count, ++channels, band += 4, ++out) {
    const channel c = *channels;
    const int8x16_t w0 = vldrbq_s8(channels->weights[0]), w1 = vldrbq_s8(channels->weights[1]);
    const int8x16_t w2 = vldrbq_s8(channels->weights[2]), w3 = vldrbq_s8(channels->weights[3]);
    const int8_t *from_row = band;
    int8_t *to_row = out;
    for (int32_t bands = t->bands; bands > 0; --bands, from_row += t->band_bytes, to_row += t->band_out) {
      const int8_t *from = from_row;
      int8_t *to = to_row;
      for (int32_t i = pairs; i > 0; --i, from += 2 * kColumn, to += step) {
        const int8x16_t patch = load_patch(from, columns);
        store(to, places,
              cortex_m_nn_lanes_mve(vmladavq_s8(patch, w0), vmladavq_s8(patch, w1), vmladavq_s8(patch, w2),
                                    vmladavq_s8(patch, w3)),
              &c, offset, min, max, right, clamp);
      }
      if (t->outputs % 2 != 0) {
        const int8x16_t patch = load_patch(from - kColumn, columns);
        store(to - t->pixel, places,
              cortex_m_nn_lanes_mve(vmladavq_s8(patch, w0), vmladavq_s8(patch, w1), vmladavq_s8(patch, w2),
                                    vmladavq_s8(patch, w3)),
              &c, offset, min, max, right, clamp);
      }
    }
  }
}

// Rows of outputs of each channel, any stride. At least four outputs; the last four may overlap.
static inline __attribute__((always_inline)) void patches_of_one(const channel *channels, int32_t count,
                                                                 const int8_t *band, int8_t *out, const tile *t,
                                                                 const bool right, const bool clamp) {
  const uint32x4_t columns = vmulq_n_u32(vidupq_n_u32(0, 1), kColumn);
  const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)t->pixel);
  const int32_t step = t->step * kColumn, pixel = t->pixel;
  const int32_t offset = t->offset, min = t->min, max = t->max;
  const uint32x4_t columns1 = vaddq_n_u32(columns, (uint32_t)step);
  const uint32x4_t columns2 = vaddq_n_u32(columns1, (uint32_t)step);
  const uint32x4_t columns3 = vaddq_n_u32(columns2, (uint32_t)step);
  for (; count > 0; --count, ++channels, band += 4, ++out) {
    const channel c = *channels;
    const int8x16_t w = vldrbq_s8(channels->weights[0]);
    const int8_t *from_row = band;
    int8_t *to_row = out;
    for (int32_t bands = t->bands; bands > 0; --bands, from_row += t->band_bytes, to_row += t->band_out) {
      const int8_t *from = from_row;
      int8_t *to = to_row;
      int32_t fours = t->outputs / 4;
      int32_t rest = t->outputs % 4;
      do {
        for (; fours > 0; --fours, from += 4 * step, to += 4 * pixel) {
          const int32_t s0 = vmladavq_s8(load_patch(from, columns), w);
          const int32_t s1 = vmladavq_s8(load_patch(from, columns1), w);
          const int32_t s2 = vmladavq_s8(load_patch(from, columns2), w);
          const int32_t s3 = vmladavq_s8(load_patch(from, columns3), w);
          store(to, places, cortex_m_nn_lanes_mve(s0, s1, s2, s3), &c, offset, min, max, right, clamp);
        }
        if (rest == 0) {
          break;
        }
        from -= (4 - rest) * step;
        to -= (4 - rest) * pixel;
        rest = 0;
        fours = 1;
      } while (true);
    }
  }
}

#define FOR_TILE(name, function, right, clamp)                                                                        \
  static __attribute__((noinline)) void name(const channel *channels, int32_t count, const int8_t *band, int8_t *out, \
                                             const tile *t) {                                                         \
    function(channels, count, band, out, t, right, clamp);                                                            \
  }
// Where size counts, the forms for any shift serve all.
#ifdef __OPTIMIZE_SIZE__
static const bool kFormsForSpeed = false;
#else
static const bool kFormsForSpeed = true;
#endif
FOR_TILE(four_clamped, patches_of_four, true, true)
FOR_TILE(four_full, patches_of_four, true, false)
FOR_TILE(one_clamped, patches_of_one, true, true)
FOR_TILE(one_full, patches_of_one, true, false)
FOR_TILE(four_any_shift, patches_of_four, false, true)
FOR_TILE(one_any_shift, patches_of_one, false, true)

// Columns of a band from input column x on, of the channels from `image` on. A row outside of the input has its pointer
// at the zero point and a step of 0.
static void fill_band(const cortex_m_nn_depthwise_call *call, const int8_t *image, int32_t y, int32_t x,
                      int32_t columns, mve_pred16_t lanes, const int8_t *zero, int8_t *band) {
  const cmsis_nn_dims *input = call->input_dims;
  const int8_t *from[4];
  int32_t step[4];
  const int32_t before = x < 0 ? (-x < columns ? -x : columns) : 0;
  for (int32_t row = 0; row < 4; ++row) {
    const bool inside = row < call->filter_dims->h + 1 && y + row >= 0 && y + row < input->h;
    from[row] = inside ? image + ((y + row) * input->w + x + before) * input->c : zero;
    step[row] = inside ? input->c : 0;
  }
  int8x16x4_t values;
  const int8x16_t zeros = vldrbq_s8(zero);
  values.val[0] = values.val[1] = values.val[2] = values.val[3] = zeros;
  for (int32_t i = 0; i < before; ++i, band += kColumn) {
    vst4q_s8(band, values);
  }
  columns -= before;
  int32_t inside = input->w - (x + before);
  inside = inside < 0 ? 0 : inside < columns ? inside : columns;
  const int8_t *from0 = from[0], *from1 = from[1], *from2 = from[2], *from3 = from[3];
  const int32_t step0 = step[0], step1 = step[1], step2 = step[2], step3 = step[3];
  if (lanes == 0xFFFF && inside > 0) {
    // The compiler loads into other registers than VST4 wants.
    int32_t left = inside;
    __asm__ volatile(
        "1:\n\t"
        "vldrb.8 q4, [%0]\n\t"
        "add %0, %0, %6\n\t"
        "vldrb.8 q5, [%1]\n\t"
        "add %1, %1, %7\n\t"
        "vldrb.8 q6, [%2]\n\t"
        "add %2, %2, %8\n\t"
        "vldrb.8 q7, [%3]\n\t"
        "add %3, %3, %9\n\t"
        "vst40.8 {q4, q5, q6, q7}, [%4]\n\t"
        "vst41.8 {q4, q5, q6, q7}, [%4]\n\t"
        "subs %5, #1\n\t"
        "vst42.8 {q4, q5, q6, q7}, [%4]\n\t"
        "vst43.8 {q4, q5, q6, q7}, [%4]!\n\t"
        "bne 1b"
        : "+r"(from0), "+r"(from1), "+r"(from2), "+r"(from3), "+r"(band), "+r"(left)
        : "r"(step0), "r"(step1), "r"(step2), "r"(step3)
        : "q4", "q5", "q6", "q7", "cc", "memory");
  } else {
    for (int32_t i = inside; i > 0; --i, band += kColumn) {
      values.val[0] = vldrbq_z_s8(from0, lanes);
      values.val[1] = vldrbq_z_s8(from1, lanes);
      values.val[2] = vldrbq_z_s8(from2, lanes);
      values.val[3] = vldrbq_z_s8(from3, lanes);
      from0 += step0;
      from1 += step1;
      from2 += step2;
      from3 += step3;
      vst4q_s8(band, values);
    }
  }
  values.val[0] = values.val[1] = values.val[2] = values.val[3] = zeros;
  for (int32_t i = columns - inside; i > 0; --i, band += kColumn) {
    vst4q_s8(band, values);
  }
}

// Weights and parameters of `count` channels from `first` on. Returns whether all their factors are positive, with negative shifts.
static bool prepare(const cortex_m_nn_depthwise_call *call, int32_t first, int32_t count, bool four,
                    channel *channels) {
  const cmsis_nn_dims *filter = call->filter_dims;
  cortex_m_nn_fill_mve((int8_t *)channels, 0, kLanes * (int32_t)sizeof(channel));
  const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), sizeof(channel));
  for (int32_t half = 0; half < count; half += 8) {
    const mve_pred16_t lanes = vctp16q((uint32_t)(count - half));
    const int8_t *tap = call->filter + first + half;
    for (int32_t ky = 0; ky < filter->h; ++ky) {
      for (int32_t kx = 0; kx < filter->w; ++kx, tap += filter->c) {
        const int16x8_t weights = vldrbq_z_s16(tap, lanes);
        int8_t *to = channels[half].weights[0] + 4 * kx + ky;
        vstrbq_scatter_offset_s16(to, places, weights);
        if (four) {
          vstrbq_scatter_offset_s16(to + 16 + 4, places, weights);
          vstrbq_scatter_offset_s16(to + 32 + 1, places, weights);
          vstrbq_scatter_offset_s16(to + 48 + 5, places, weights);
        }
      }
    }
  }
  bool right = true;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t sum = vaddvq_s8(vldrbq_s8(channels[i].weights[0]));
    const int32_t bias = call->bias != NULL ? call->bias[first + i] : 0;
    channels[i].bias = cortex_m_nn_wrapping_add(bias, sum * call->params->input_offset);
    channels[i].multiplier = call->quant->multiplier[first + i];
    channels[i].shift = call->quant->shift[first + i];
    right = right && channels[i].shift < 0 && channels[i].multiplier > 0;
  }
  return right;
}

void cortex_m_nn_depthwise_conv_patches_mve(const cortex_m_nn_depthwise_call *call, void *scratch) {
  const cmsis_nn_dw_conv_params *params = call->params;
  const cmsis_nn_dims *input = call->input_dims;
  const cmsis_nn_dims *output = call->output_dims;
  const bool four = cortex_m_nn_depthwise_four_of_a_patch(params, call->filter_dims, output);
  channel *channels = (channel *)scratch;
  int8_t *zero = (int8_t *)(channels + kLanes);
  int8_t *band = zero + 16;
  cortex_m_nn_fill_mve(zero, (int8_t)-params->input_offset, 16);
  const bool full = params->activation.min == -128 && params->activation.max == 127;
  const int32_t rows = four ? 2 : 1;
  const int32_t row = output->w * output->c;
  tile t = {row,
            output->c,
            0,
            params->stride.w,
            0,
            0,
            rows * row,
            params->output_offset,
            params->activation.min,
            params->activation.max};
  const int32_t band_columns = cortex_m_nn_depthwise_columns(params, output);
  for (int32_t first = 0; first < output->c; first += kLanes) {
    const int32_t count = output->c - first < kLanes ? output->c - first : kLanes;
    const bool right = prepare(call, first, count, four, channels) && kFormsForSpeed;
    void (*const run)(const channel *, int32_t, const int8_t *, int8_t *, const tile *) =
        four ? (right ? (full ? four_full : four_clamped) : four_any_shift)
             : (right ? (full ? one_full : one_clamped) : one_any_shift);
    const mve_pred16_t lanes = vctp8q((uint32_t)count);
    for (int32_t begin = 0; begin < output->w;) {
      int32_t x = begin;
      const int32_t end = x + CORTEX_M_NN_DEPTHWISE_TILE < output->w ? x + CORTEX_M_NN_DEPTHWISE_TILE : output->w;
      begin = end;
      if (end - x < 4) {  // too few for patches_of_one: overlap
        x = end - 4 < 0 ? 0 : end - 4;
      }
      t.outputs = end - x;
      const int32_t columns = (t.outputs - 1) * params->stride.w + 4;
      t.band_bytes = columns * kColumn;
      for (int32_t n = 0; n < output->n; ++n) {
        const int8_t *image = call->input + n * input->h * input->w * input->c + first;
        int8_t *out = call->output + n * output->h * row + x * output->c + first;
        for (int32_t y = 0; y < output->h;) {
          int8_t *to = band;
          if (y + rows > output->h) {
            y = output->h - rows;  // overlap
          }
          const int32_t start = y;
          t.bands = 0;
          do {
            fill_band(call, image, y * params->stride.h - params->padding.h, x * params->stride.w - params->padding.w,
                      columns, lanes, zero, to);
            to += t.band_bytes;
            y += rows;
            ++t.bands;
          } while (y + rows <= output->h && (t.bands + 1) * columns <= band_columns);
          run(channels, count, band, out + start * row, &t);
        }
      }
    }
  }
}

#endif  // MVE
