// Every kernel on a few hundred random shapes and parameters: the variant for the core that this is built for against
// the scalar one, bit for bit. What lies behind output and scratch must stay as it was.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "additional.h"
#include "arm_nnfunctions.h"
#include "convolve_s8.h"
#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"
#include "depthwise_conv_s8.h"
#include "elementwise_s8.h"
#include "extremum_s8.h"
#include "fully_connected_s8.h"
#include "isa.h"
#include "pool_s8.h"
#include "quantize_s8.h"
#include "requantize_checks.h"
#include "small_s8.h"
#include "softmax_s8.h"

#define IN_ARENA __attribute__((section(".arena"), aligned(16)))
enum { kCases = 300, kValues = 200000, kChannels = 256, kGuard = 32, kScratch = 32768, kFloats = 64 };

static int8_t input[kValues] IN_ARENA, second[kValues] IN_ARENA, weights[kValues] IN_ARENA;
static int8_t output[kValues + kGuard] IN_ARENA, expected[kValues + kGuard] IN_ARENA;
static int8_t scratch[kScratch + kGuard] IN_ARENA;
static int32_t bias[kChannels] IN_ARENA, multiplier[kChannels] IN_ARENA, shift[kChannels] IN_ARENA;

static int64_t values, saturated, failures;

static uint32_t next_random(void) {
  static uint32_t state = 12345;
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static int32_t between(int32_t low, int32_t high) {  // both included
  return low + (int32_t)(next_random() % (uint32_t)(high - low + 1));
}

static bool one_in(int32_t n) { return between(1, n) == 1; }

static int8_t *fill(int8_t *to, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    to[i] = (int8_t)next_random();
  }
  return to;
}

static int32_t random_multiplier(void) { return (int32_t)(0x40000000u + next_random() * 64u); }

// Mostly parameters that bring sums of `depth` products to the range of an int8; now and then shifts to the left as
// well, and now and then anything that is allowed.
static void fill_parameters(int32_t depth) {
  int32_t usual = -5;
  for (; depth > 2; depth /= 4) {
    --usual;
  }
  const int32_t kind = between(0, 7);
  for (int32_t c = 0; c < kChannels; ++c) {
    bias[c] = between(-20000, 20000);
    multiplier[c] = random_multiplier();
    shift[c] = usual + between(-1, 1);
    if (kind == 0) {
      bias[c] = between(-200, 200);
      multiplier[c] >>= between(5, 11);
      shift[c] = between(-3, 2);
    } else if (kind == 1) {
      bias[c] = (int32_t)(next_random() << 8);
      multiplier[c] = (int32_t)(next_random() << 8 | 1);
      shift[c] = between(-31, 30);
    }
  }
}

// The same, but those that packed kernels take.
static void fill_packed_parameters(int32_t depth, int32_t channels) {
  fill_parameters(depth);
  for (int32_t c = 0; c < channels; ++c) {
    if (!cortex_m_nn_packed_requantization_is_valid(multiplier[c], shift[c])) {
      multiplier[c] = random_multiplier();
      shift[c] = between(-31, -1);
    }
  }
}

static cmsis_nn_activation random_activation(void) {
  const cmsis_nn_activation activation = {one_in(3) ? between(-128, 0) : -128, one_in(3) ? between(0, 127) : 127};
  return activation;
}

static cmsis_nn_context begin(int32_t scratch_bytes) {
  memset(output, 0x55, sizeof output);
  memset(expected, 0x55, sizeof expected);
  memset(scratch, (int)next_random(), sizeof scratch);
  const cmsis_nn_context ctx = {scratch, scratch_bytes};
  if (scratch_bytes >= 0 && scratch_bytes <= kScratch) {
    memset(scratch + scratch_bytes, 0x33, kGuard);
  }
  return ctx;
}

static void fail(const char *name, int32_t index, const char *what) {
  print_text(name);
  print_text(", case ");
  print_decimal(index);
  print_text(": ");
  print_text(what);
  print_text("\n");
  ++failures;
}

static void end(const char *name, int32_t index, int32_t count, const cmsis_nn_context *ctx,
                arm_cmsis_nn_status status) {
  values += count;
  for (int32_t i = 0; i < count; ++i) {
    saturated += expected[i] == 127 || expected[i] == -128;
  }
  if (status != ARM_CMSIS_NN_SUCCESS) {
    fail(name, index, "refused");
  } else if (memcmp(output, expected, (size_t)count) != 0) {
    fail(name, index, "another result than the scalar variant's");
  } else if (memcmp(output, expected, (size_t)count + kGuard) != 0) {
    fail(name, index, "writes behind its output");
  }
  for (int32_t i = 0; i < kGuard; ++i) {
    if (scratch[ctx->size + i] != 0x33) {
      fail(name, index, "writes behind its scratch");
      return;
    }
  }
}

static int32_t size_of(const cmsis_nn_dims *dims) { return dims->n * dims->h * dims->w * dims->c; }

static void test_convolve(int32_t index) {
  const bool pointwise = one_in(3), usual = one_in(3);
  const int32_t groups = one_in(5) ? between(2, 4) : 1;
  const int32_t in_c = one_in(4) ? 16 * between(1, 3) : between(1, one_in(2) ? 8 : 40), out_c = groups * between(1, 24);
  cmsis_nn_tile kernel = {between(1, 5), between(1, 5)}, stride = {between(1, 3), between(1, 2)};
  cmsis_nn_tile dilation = {between(1, 2), between(1, 2)}, one = {1, 1};
  if (usual) {
    stride = dilation = one;
    kernel.w = kernel.h = 3;
  }
  if (pointwise) {
    kernel = dilation = one;
  }
  cmsis_nn_tile padding = {pointwise ? 0 : between(0, kernel.w), pointwise ? 0 : between(0, kernel.h)};
  cmsis_nn_dims out = {between(1, 2), between(1, 9), between(1, 9), out_c};
  cmsis_nn_dims in = {out.n, between(1, 9), between(1, 9), groups * in_c};
  if (pointwise) {
    in.h = (out.h - 1) * stride.h + 1;
    in.w = (out.w - 1) * stride.w + between(1, stride.w);
  }
  if (one_in(6)) {  // one window, which is the image
    out.h = out.w = 1;
    in.h = kernel.h;
    in.w = kernel.w;
    padding.h = padding.w = 0;
    dilation = one;
  }
  const cmsis_nn_dims filter = {out_c, kernel.h, kernel.w, in_c};
  const cmsis_nn_conv_params params = {between(-127, 128), between(-128, 127), stride, padding,
                                       dilation,           random_activation()};
  const cmsis_nn_per_channel_quant_params quant = {multiplier, shift};
  fill_parameters(kernel.h * kernel.w * in_c);
  const int8_t *x = fill(input, size_of(&in)), *w = fill(weights + between(0, 3), size_of(&filter));
  const int32_t *b = one_in(2) ? bias : NULL;
  const cmsis_nn_context ctx = begin(arm_convolve_wrapper_s8_get_buffer_size(&params, &in, &filter, &out));
  const cortex_m_nn_convolve_call call = {&params, &quant, &in, x, &filter, w, b, &out, expected};
  cortex_m_nn_convolve_direct_scalar(&call);
  end("convolve", index, size_of(&out), &ctx,
      arm_convolve_wrapper_s8(&ctx, &params, &quant, &in, x, &filter, w, &out, b, &out, output));
#if CORTEX_M_NN_MVE
  cortex_m_nn_convolve_call small = call;
  small.output = output;
  memset(output, 0x55, sizeof output);
  cortex_m_nn_convolve_small_mve(&small);
  end("small convolve", index, size_of(&out), &ctx, ARM_CMSIS_NN_SUCCESS);
#endif
}

// Packed forms against the plain scalar function, and so against the weights before they were packed.
static void test_packed_conv(int32_t index) {
  const bool pointwise = one_in(3), usual = one_in(3);
  cmsis_nn_tile kernel = {between(1, 5), between(1, 5)}, stride = {between(1, 3), between(1, 2)}, one = {1, 1};
  cmsis_nn_tile dilation = {between(1, 2), between(1, 2)};
  if (usual) {
    stride = dilation = one;
    kernel.w = kernel.h = 3;
  } else if (pointwise) {
    kernel = one;
  }
  const cmsis_nn_tile padding = {pointwise ? 0 : between(0, kernel.w), pointwise ? 0 : between(0, kernel.h)};
  const cmsis_nn_dims out = {between(1, 2), between(1, 9), between(1, 9), 2 * between(1, 20)};
  cmsis_nn_dims in = {out.n, between(1, 9), between(1, 9), one_in(4) ? 16 * between(1, 5) : between(1, 40)};
  if (pointwise) {
    in.h = (out.h - 1) * stride.h + 1;
    in.w = (out.w - 1) * stride.w + between(1, stride.w);
  }
  if (usual && one_in(2)) {
    in.c = 16 << between(0, 2);
  }
  const cmsis_nn_dims filter = {out.c, kernel.h, kernel.w, in.c};
  const cmsis_nn_conv_params params = {between(-127, 128), between(-128, 127), stride, padding,
                                       dilation,           random_activation()};
  const cmsis_nn_per_channel_quant_params quant = {multiplier, shift};
  fill_packed_parameters(kernel.h * kernel.w * in.c, out.c);
  const int8_t *x = fill(input, size_of(&in)), *w = fill(weights, size_of(&filter));
  const int32_t *b = one_in(2) ? bias : NULL;
  cortex_m_nn_packed_conv_args args = {
      .input = x,
      .packed = second,
      .out = output,
      .batch = in.n,
      .input_channels = in.c,
      .output_channels = out.c,
      .rows = {in.h, out.h, kernel.h, stride.h, padding.h, dilation.h},
      .columns = {in.w, out.w, kernel.w, stride.w, padding.w, dilation.w},
      .input_offset = params.input_offset,
      .output_offset = params.output_offset,
      .activation_min = params.activation.min,
      .activation_max = params.activation.max,
  };
  cortex_m_nn_pack_conv(&args, w, b, multiplier, shift, second);
  const cmsis_nn_context ctx = begin(cortex_m_nn_packed_conv_scratch_bytes(&args));
  const cortex_m_nn_convolve_call call = {&params, &quant, &in, x, &filter, w, b, &out, expected};
  cortex_m_nn_convolve_direct_scalar(&call);
  cortex_m_nn_packed_conv_s8(&args, scratch);
  end("packed convolution", index, size_of(&out), &ctx, ARM_CMSIS_NN_SUCCESS);
  if (index % 10 == 0) {
    memset(output, 0x55, (size_t)size_of(&out));
    cortex_m_nn_packed_conv_scalar(&args);
    end("packed convolution, scalar", index, size_of(&out), &ctx, ARM_CMSIS_NN_SUCCESS);
  }
}

static void test_packed_depthwise(int32_t index) {
  cmsis_nn_tile stride = {between(1, 3), between(1, 2)}, dilation = {1, 1};
  if (one_in(4)) {
    dilation.w = between(1, 3);
    dilation.h = between(1, 2);
  }
  const cmsis_nn_tile padding = {between(0, 3), between(0, 3)};
  const cmsis_nn_dims out = {between(1, 2), between(1, 9), between(1, 9), 16 * between(1, 4)};
  const cmsis_nn_dims in = {out.n, between(1, 12), between(1, 12), out.c}, filter = {1, 3, 3, out.c};
  const cmsis_nn_dw_conv_params params = {between(-127, 128), between(-128, 127), 1, stride, padding,
                                          dilation,           random_activation()};
  const cmsis_nn_per_channel_quant_params quant = {multiplier, shift};
  fill_packed_parameters(9, out.c);
  const int8_t *x = fill(input, size_of(&in));
  int8_t *w = fill(weights, size_of(&filter));
  if (one_in(4)) {  // the largest sums
    memset(input, -128, (size_t)size_of(&in));
    memset(w, -127, (size_t)size_of(&filter));
  }
  for (int32_t i = 0; i < size_of(&filter); ++i) {
    w[i] = w[i] == -128 ? -127 : w[i];
  }
  const int32_t *b = one_in(2) ? bias : NULL;
  cortex_m_nn_packed_conv_args args = {
      .input = x,
      .packed = second,
      .out = output,
      .batch = in.n,
      .input_channels = in.c,
      .output_channels = out.c,
      .rows = {in.h, out.h, 3, stride.h, padding.h, dilation.h},
      .columns = {in.w, out.w, 3, stride.w, padding.w, dilation.w},
      .input_offset = params.input_offset,
      .output_offset = params.output_offset,
      .activation_min = params.activation.min,
      .activation_max = params.activation.max,
  };
  cortex_m_nn_pack_depthwise_conv(&args, w, b, multiplier, shift, second);
  const cmsis_nn_context ctx = begin(cortex_m_nn_packed_depthwise_conv_scratch_bytes(&args));
  const cortex_m_nn_depthwise_call call = {&params, &quant, &in, x, &filter, w, b, &out, expected};
  cortex_m_nn_depthwise_conv_scalar(&call);
  cortex_m_nn_packed_depthwise_conv_s8(&args, scratch);
  end("packed depthwise convolution", index, size_of(&out), &ctx, ARM_CMSIS_NN_SUCCESS);
  if (index % 10 == 0) {
    memset(output, 0x55, (size_t)size_of(&out));
    cortex_m_nn_packed_depthwise_conv_scalar(&args);
    end("packed depthwise convolution, scalar", index, size_of(&out), &ctx, ARM_CMSIS_NN_SUCCESS);
  }
  if (!cortex_m_nn_packed_depthwise_conv_is_valid(&args)) {
    fail("packed depthwise convolution", index, "holds what is not valid");
  }
  // One value of the last block that is none: a weight, a multiplier, a shift.
  int8_t *block = second + cortex_m_nn_packed_depthwise_conv_bytes(&args) - (9 * 16 + 4 * 48);
  int8_t *weight = block + between(0, 9 * 16 - 1);
  *weight = -128;
  if (cortex_m_nn_packed_depthwise_conv_is_valid(&args)) {
    fail("packed depthwise convolution", index, "takes a weight of -128");
  }
  *weight = 0;
  int32_t group[3][4];
  int8_t *stored = block + 9 * 16 + 48 * between(0, 3);
  memcpy(group, stored, sizeof group);
  if (one_in(2)) {
    group[1][between(0, 3)] = -between(0, 1);
  } else {
    group[2][between(0, 3)] = one_in(2) ? between(0, 3) : -32;
  }
  memcpy(stored, group, sizeof group);
  if (cortex_m_nn_packed_depthwise_conv_is_valid(&args)) {
    fail("packed depthwise convolution", index, "takes a factor that is not valid");
  }
}

static void test_depthwise(int32_t index) {
  const int32_t channels = one_in(3) ? 16 * between(1, 3) : between(1, 40), multiple = one_in(10) ? between(2, 5) : 1;
  cmsis_nn_tile kernel = {between(1, 4), between(1, 4)}, stride = {between(1, 3), between(1, 2)}, dilation = {1, 1};
  if (one_in(3)) {
    kernel.w = kernel.h = 3;
    stride.w = stride.h = 1;
  } else if (one_in(4)) {
    kernel.w = between(1, 7);
    kernel.h = between(1, 7);
    dilation.w = between(1, 2);
    dilation.h = between(1, 2);
  }
  const bool wide = one_in(4);  // wider than one tile
  const cmsis_nn_tile padding = {between(0, kernel.w), between(0, kernel.h)};
  const cmsis_nn_dims out = {between(1, 2), between(1, wide ? 4 : 12), between(1, wide ? 75 : 12), multiple * channels};
  const cmsis_nn_dims in = {out.n, between(1, 12), one_in(2) ? out.w : between(1, 12), channels};
  const cmsis_nn_dims filter = {1, kernel.h, kernel.w, out.c};
  const cmsis_nn_dw_conv_params params = {between(-127, 128), between(-128, 127), multiple, stride, padding,
                                          dilation,           random_activation()};
  const cmsis_nn_per_channel_quant_params quant = {multiplier, shift};
  fill_parameters(kernel.h * kernel.w);
  const int8_t *x = fill(input, size_of(&in)), *w = fill(weights + between(0, 3), size_of(&filter));
  const int32_t *b = one_in(2) ? bias : NULL;
  const cmsis_nn_context ctx = begin(arm_depthwise_conv_wrapper_s8_get_buffer_size(&params, &in, &filter, &out));
  const cortex_m_nn_depthwise_call call = {&params, &quant, &in, x, &filter, w, b, &out, expected};
  cortex_m_nn_depthwise_conv_scalar(&call);
  end("depthwise", index, size_of(&out), &ctx,
      arm_depthwise_conv_wrapper_s8(&ctx, &params, &quant, &in, x, &filter, w, &out, b, &out, output));
#if CORTEX_M_NN_MVE
  cortex_m_nn_depthwise_call small = call;
  small.output = output;
  memset(output, 0x55, sizeof output);
  cortex_m_nn_depthwise_conv_small_mve(&small);
  end("small depthwise", index, size_of(&out), &ctx, ARM_CMSIS_NN_SUCCESS);
#endif
}

static void test_linear(int32_t index) {
  const int32_t depth = between(1, one_in(20) ? 3000 : one_in(2) ? 60 : 600);
  const int32_t channels = between(1, one_in(3) ? 3 : 40);
  const cmsis_nn_dims in = {between(1, 3), 1, 1, depth}, filter = {depth, 1, 1, channels}, out = {in.n, 1, 1, channels};
  const cmsis_nn_fc_params params = {one_in(3) ? 0 : between(-127, 128), one_in(4) ? between(-127, 128) : 0,
                                     between(-128, 127), random_activation()};
  fill_parameters(depth);
  const cmsis_nn_quant_params quant = {multiplier, shift, one_in(2)};
  const int8_t *x = fill(input, size_of(&in)), *w = fill(weights + between(0, 3), depth * channels);
  const int32_t *b = one_in(2) ? bias : NULL;
  const cmsis_nn_context ctx = begin(0);
  const cortex_m_nn_fully_connected_call call = {&params, multiplier, shift,   quant.is_per_channel, &in, x, &filter, w,
                                                 b,       &out,       expected};
  cortex_m_nn_fully_connected_scalar(&call);
  end("linear", index, size_of(&out), &ctx,
      arm_fully_connected_wrapper_s8(&ctx, &params, &quant, &in, x, &filter, w, &out, b, &out, output));
#if CORTEX_M_NN_MVE
  cortex_m_nn_fully_connected_call small = call;
  small.output = output;
  memset(output, 0x55, sizeof output);
  cortex_m_nn_fully_connected_small_mve(&small);
  end("small linear", index, size_of(&out), &ctx, ARM_CMSIS_NN_SUCCESS);
#endif
}

static void test_packed_linear(int32_t index) {
  const int32_t depth = between(1, one_in(20) ? 3000 : one_in(2) ? 60 : 600), channels = 4 * between(1, 10);
  const cmsis_nn_dims in = {between(1, 3), 1, 1, depth}, filter = {depth, 1, 1, channels}, out = {in.n, 1, 1, channels};
  const cmsis_nn_fc_params params = {0, 0, between(-128, 127), random_activation()};
  fill_packed_parameters(depth, channels);
  const int8_t *x = fill(input + between(0, 3), size_of(&in));
  int8_t *w = fill(weights, depth * channels);
  const int32_t limit = 65535 / depth < 127 ? 65535 / depth : 127;  // as pack_linear wants the sums
  for (int32_t i = 0; i < depth * channels; ++i) {
    w[i] = (int8_t)(one_in(3) ? (one_in(2) ? limit : -limit) : w[i] % (limit + 1));
  }
  const int32_t *b = one_in(2) ? bias : NULL;
  const cortex_m_nn_packed_linear_args args = {
      x, second, output, in.n, depth, channels, params.output_offset, params.activation.min, params.activation.max};
  if (!cortex_m_nn_pack_linear(&args, w, b, multiplier, shift, second) || !cortex_m_nn_packed_linear_is_valid(&args)) {
    fail("packed linear", index, "was not packed");
  }
  const cmsis_nn_context ctx = begin(cortex_m_nn_packed_linear_scratch_bytes(&args));
  const cortex_m_nn_fully_connected_call call = {&params, multiplier, shift, 1, &in, x, &filter, w, b, &out, expected};
  cortex_m_nn_fully_connected_scalar(&call);
  cortex_m_nn_packed_linear_s8(&args, scratch);
  end("packed linear", index, size_of(&out), &ctx, ARM_CMSIS_NN_SUCCESS);
  if (index % 10 == 0) {
    memset(output, 0x55, (size_t)size_of(&out));
    cortex_m_nn_packed_linear_scalar(&args);
    end("packed linear, scalar", index, size_of(&out), &ctx, ARM_CMSIS_NN_SUCCESS);
  }
}

static void test_transpose_conv(int32_t index) {
  const int32_t groups = one_in(5) ? between(2, 4) : 1;
  const int32_t in_c = one_in(4) ? 16 * between(1, 3) : between(1, one_in(2) ? 8 : 40), out_c = groups * between(1, 14);
  const cmsis_nn_tile kernel = {between(1, 4), between(1, 4)}, stride = {between(1, 3), between(1, 3)};
  const cmsis_nn_tile dilation = {one_in(4) ? between(1, 3) : 1, one_in(4) ? between(1, 3) : 1};
  const cmsis_nn_tile padding = {between(0, kernel.w), between(0, kernel.h)}, extra = {0, 0};
  const cmsis_nn_dims in = {between(1, 2), between(1, 5), between(1, 5), groups * in_c};
  const cmsis_nn_dims out = {in.n, between(1, 12), between(1, 12), out_c};
  const cmsis_nn_dims filter = {out_c, kernel.h, kernel.w, in_c};
  const cmsis_nn_transpose_conv_params params = {between(-127, 128), between(-128, 127), stride, padding, extra,
                                                 dilation,           random_activation()};
  const cmsis_nn_per_channel_quant_params quant = {multiplier, shift};
  fill_parameters(kernel.h * kernel.w * in_c / (stride.h * stride.w) + 1);
  const int8_t *x = fill(input, size_of(&in)), *w = fill(weights + between(0, 3), size_of(&filter));
  const int32_t *b = one_in(2) ? bias : NULL;
  const cmsis_nn_context ctx = begin(0);
  const cortex_m_nn_transpose_conv_args args = {
      .input = x,
      .filter = w,
      .bias = b,
      .multiplier = multiplier,
      .shift = shift,
      .out = expected,
      .batch = in.n,
      .input_channels = in.c,
      .output_channels = out.c,
      .groups = groups,
      .rows = {in.h, out.h, kernel.h, stride.h, padding.h, dilation.h},
      .columns = {in.w, out.w, kernel.w, stride.w, padding.w, dilation.w},
      .input_offset = params.input_offset,
      .output_offset = params.output_offset,
      .activation_min = params.activation.min,
      .activation_max = params.activation.max,
  };
  cortex_m_nn_transpose_conv_scalar(&args);
  end("transposed convolution", index, size_of(&out), &ctx,
      arm_transpose_conv_wrapper_s8(&ctx, &ctx, &params, &quant, &in, x, &filter, w, &out, b, &out, output));
}

static void test_batch_matmul(int32_t index) {
  const int32_t depth = between(1, one_in(2) ? 40 : 200), batches = between(1, 3);
  const cmsis_nn_dims left = {1, one_in(3) ? 1 : batches, between(1, 6), depth};
  const cmsis_nn_dims right = {1, one_in(3) ? 1 : batches, between(1, 20), depth};
  const cmsis_nn_dims out = {1, batches, left.w, right.w};
  const cmsis_nn_bmm_params params = {
      false, false, {between(-127, 128), between(-127, 128), between(-128, 127), random_activation()}};
  fill_parameters(depth);
  const cmsis_nn_per_tensor_quant_params quant = {multiplier[0], shift[0]};
  const int8_t *x = fill(input, size_of(&left)), *y = fill(weights + between(0, 3), size_of(&right));
  const cmsis_nn_context ctx = begin(0);
  const cmsis_nn_dims rows = {left.w, 1, 1, depth}, filter = {depth, 1, 1, right.w}, product = {left.w, 1, 1, right.w};
  for (int32_t b = 0; b < batches; ++b) {
    const cortex_m_nn_fully_connected_call call = {&params.fc_params,
                                                   multiplier,
                                                   shift,
                                                   0,
                                                   &rows,
                                                   x + (left.h == 1 ? 0 : b) * left.w * depth,
                                                   &filter,
                                                   y + (right.h == 1 ? 0 : b) * right.w * depth,
                                                   NULL,
                                                   &product,
                                                   expected + b * left.w * right.w};
    cortex_m_nn_fully_connected_scalar(&call);
  }
  end("batch matmul", index, size_of(&out), &ctx,
      arm_batch_matmul_s8(NULL, &params, &quant, &left, x, &right, y, &out, output));
}

static void test_elementwise(int32_t index) {
  const int32_t count = between(0, 100);
  const int8_t *x = fill(input + between(0, 3), count), *y = fill(second + between(0, 3), count);
  const bool any = one_in(4);
  cortex_m_nn_add_call add = {{x, between(-127, 128), random_multiplier(), any ? between(-31, 30) : between(-4, 0)},
                              {y, between(-127, 128), random_multiplier(), one_in(2) ? 0 : between(-3, any ? 1 : 0)},
                              any ? between(0, 22) : 20,
                              between(-128, 127),
                              random_multiplier(),
                              any ? between(-31, 30) : between(-21, -16),
                              random_activation(),
                              expected,
                              count};
  if (one_in(2)) {  // the input with the greater scale, or both
    const int32_t half = one_in(3) ? -(1 << 30) : 1 << 30;
    if (one_in(2)) {
      add.a.multiplier = half;
      add.a.shift = -between(0, one_in(3) ? 3 : 0);
    }
    if (one_in(2)) {
      add.b.multiplier = half;
      add.b.shift = -between(0, one_in(3) ? 3 : 0);
    }
  }
  cmsis_nn_context ctx = begin(0);
  cortex_m_nn_add_scalar(&add);
  end("add", index, count, &ctx,
      arm_elementwise_add_s8(x, y, add.a.offset, add.a.multiplier, add.a.shift, add.b.offset, add.b.multiplier,
                             add.b.shift, add.left_shift, output, add.output_offset, add.multiplier, add.shift,
                             add.activation.min, add.activation.max, count));
  const cortex_m_nn_mul_call mul = {x,
                                    y,
                                    add.a.offset,
                                    add.b.offset,
                                    add.output_offset,
                                    add.multiplier,
                                    any ? between(-31, 30) : between(-8, -5),
                                    add.activation,
                                    expected,
                                    count};
  ctx = begin(0);
  cortex_m_nn_mul_scalar(&mul);
  end("mul", index, count, &ctx,
      arm_elementwise_mul_s8(x, y, mul.a_offset, mul.b_offset, output, mul.output_offset, mul.multiplier, mul.shift,
                             mul.activation.min, mul.activation.max, count));
}

static void test_extrema(int32_t index) {
  const cmsis_nn_dims out = {between(1, 2), between(1, 3), between(1, 3), between(1, 50)};
  const bool row = one_in(3), value = !row && one_in(2);
  const cmsis_nn_dims second_dims = {value || row ? 1 : out.n, value || row ? 1 : out.h, value || row ? 1 : out.w,
                                     value ? 1 : out.c};
  const bool maximum = one_in(2);
  const int8_t *x = fill(input + between(0, 3), size_of(&out)),
               *y = fill(second + between(0, 3), size_of(&second_dims));
  const cmsis_nn_context ctx = begin(0);
  for (int32_t i = 0; i < size_of(&out); i += out.c) {
    const cortex_m_nn_extremum_row a = {x + i, false}, b = {row || value ? y : y + i, value};
    cortex_m_nn_extremum_scalar(a, b, maximum, expected + i, out.c);
  }
  end("minimum, maximum", index, size_of(&out), &ctx,
      (maximum ? arm_maximum_s8 : arm_minimum_s8)(&ctx, x, &out, y, &second_dims, output, &out));
}

static void test_lookup(int32_t index) {
  const int32_t count = index == 0 ? 256 : between(0, 100);
  int8_t *x = fill(input + between(0, 3), count);
  for (int32_t i = 0; index == 0 && i < count; ++i) {
    x[i] = (int8_t)i;
  }
  const int8_t *table = fill(second + between(0, 3), 256);
  const cmsis_nn_context ctx = begin(0);
  cortex_m_nn_lookup_scalar(x, table, expected, count);
  cortex_m_nn_lookup_s8(x, table, output, count);
  end("lookup", index, count, &ctx, ARM_CMSIS_NN_SUCCESS);
}

static void test_prelu(int32_t index) {
  const int32_t channels = between(1, one_in(2) ? 9 : 60);
  const bool any = one_in(4);
  for (int32_t c = 0; c < channels; ++c) {
    multiplier[c] = one_in(5) ? 0 : one_in(2) ? random_multiplier() : -random_multiplier();
    shift[c] = any ? between(-31, 30) : between(-4, 0);
  }
  cortex_m_nn_prelu_args args = {0};
  args.input = input + between(0, 3);
  args.out = expected;
  args.negative_multiplier = multiplier;
  args.negative_shift = shift;
  args.rows = between(0, 40);
  args.channels = channels;
  args.multiplier = random_multiplier();
  args.shift = any ? between(-31, 30) : between(-2, 0);
  args.input_offset = between(-127, 128);
  args.output_offset = between(-128, 127);
  fill(input, args.rows * channels + 3);
  const cmsis_nn_context ctx = begin(0);
  cortex_m_nn_prelu_scalar(&args);
  args.out = output;
  cortex_m_nn_prelu_s8(&args);
  end("prelu", index, args.rows * channels, &ctx, ARM_CMSIS_NN_SUCCESS);
}

// Floats of all kinds, and floats around the ties between two steps; rows of them with gaps in the quantized tensor.
static void test_quantize(int32_t index) {
  static float reals[kFloats], back[kFloats], expected_back[kFloats];
  const int32_t count = between(0, 60), step = one_in(2) ? 1 : one_in(10) ? between(9000, 9500) : between(2, 40);
  const int32_t exponent = one_in(2) ? between(-12, 2) : between(-125, 125);
  cortex_m_nn_quantization q = {.min = one_in(4) ? between(-128, 0) : -128, .max = one_in(4) ? between(0, 127) : 127};
  q.scale = cortex_m_nn_float((uint32_t)(exponent + 127) << 23 | (next_random() & 0x7FFFFF));
  q.inverse = 1.0f / q.scale;
  q.zero_point = between(q.min, q.max);
  const int32_t span = count == 0 ? 0 : (count - 1) * step + 1;
  for (int32_t i = 0; i < count; ++i) {
    reals[i] = (float)between(-600, 600) * 0.5f * q.scale;  // ties among them
    if (one_in(4)) {
      reals[i] = cortex_m_nn_float(next_random() << 24 ^ next_random());
    } else if (one_in(2)) {
      reals[i] = cortex_m_nn_float(cortex_m_nn_bits(reals[i]) + (uint32_t)between(-3, 3));
    } else {
      reals[i] = (float)between(-20000, 20000) * 0.01f * q.scale;
    }
  }
  if (span > kValues) {
    return;
  }
  const cmsis_nn_context ctx = begin(0);
  cortex_m_nn_quantize_scalar(reals, expected, step, count, &q);
  cortex_m_nn_quantize_s8(reals, output, step, count, &q);
  end("quantize", index, span, &ctx, ARM_CMSIS_NN_SUCCESS);
  cortex_m_nn_quantize_integer(reals, output, step, count, &q);
  end("quantize by integers", index, span, &ctx, ARM_CMSIS_NN_SUCCESS);
  memset(back, 0x55, sizeof back);
  memset(expected_back, 0x55, sizeof expected_back);
  const int8_t *x = fill(input, span);
  cortex_m_nn_dequantize_scalar(x, step, expected_back, count, &q);
  cortex_m_nn_dequantize_s8(x, step, back, count, &q);
  if (memcmp(back, expected_back, sizeof back) != 0) {
    fail("dequantize", index, "another result than the scalar variant's, or writes behind its output");
  }
  cortex_m_nn_dequantize_integer(x, step, back, count, &q);
  if (memcmp(back, expected_back, sizeof back) != 0) {
    fail("dequantize by integers", index, "another result than the scalar variant's");
  }
}

static void test_pools(int32_t index) {
  const bool global = one_in(6);
  const cmsis_nn_dims in = {between(1, 2), between(1, global ? 30 : 9), between(1, global ? 30 : 9), between(1, 50)};
  const cmsis_nn_dims filter = {1, global ? in.h : between(1, 4), global ? in.w : between(1, 4), 1};
  const cmsis_nn_tile padding = {global ? 0 : between(0, filter.w - 1), global ? 0 : between(0, filter.h - 1)};
  const cmsis_nn_pool_params params = {{between(1, 3), between(1, 3)}, padding, random_activation()};
  const cmsis_nn_dims out = {in.n, global ? 1 : between(1, (in.h - 1 + padding.h) / params.stride.h + 1),
                             global ? 1 : between(1, (in.w - 1 + padding.w) / params.stride.w + 1), in.c};
  int8_t *x = fill(input, size_of(&in));
  if (one_in(4)) {  // the largest sums
    memset(x, one_in(2) ? -128 : 127, (size_t)size_of(&in));
  }
  cmsis_nn_context ctx = begin(0);
  const cortex_m_nn_pool_call call = {&params, &in, x, &filter, &out, expected};
  cortex_m_nn_avgpool_scalar(&call);
  end("average pool", index, size_of(&out), &ctx, arm_avgpool_s8(NULL, &params, &in, x, &filter, &out, output));
  ctx = begin(0);
  cortex_m_nn_max_pool_scalar(&call);
  end("max pool", index, size_of(&out), &ctx, arm_max_pool_s8(NULL, &params, &in, x, &filter, &out, output));
}

static void test_softmax(int32_t index) {
  const bool any = one_in(4);
  const cortex_m_nn_softmax_call call = {input,
                                         between(1, 3),
                                         between(1, one_in(4) ? 600 : 70),
                                         random_multiplier(),
                                         any ? between(0, 30) : between(18, 25),
                                         -between(0, any ? 300 : 255),
                                         expected};
  fill(input, call.rows * call.row_size);
  const cmsis_nn_context ctx = begin(0);
  cortex_m_nn_softmax_scalar(&call);
  arm_softmax_s8(input, call.rows, call.row_size, call.multiplier, call.shift, call.diff_min, output);
  end("softmax", index, call.rows * call.row_size, &ctx, ARM_CMSIS_NN_SUCCESS);
}

// Value by value, at any address.
static void test_pad(int32_t index) {
  const int32_t most = one_in(3) ? 40 : 5, at = between(0, 3);
  const cmsis_nn_dims in = {between(1, 2), between(1, 4), between(1, most), between(1, most)};
  const bool whole = one_in(2);
  const cmsis_nn_dims pre = {between(0, 1), between(0, 2), between(0, 3), whole ? 0 : between(0, 20)};
  const cmsis_nn_dims post = {between(0, 1), between(0, 2), between(0, 3), whole ? 0 : between(0, 20)};
  const cmsis_nn_dims out = {pre.n + in.n + post.n, pre.h + in.h + post.h, pre.w + in.w + post.w,
                             pre.c + in.c + post.c};
  const int8_t *x = fill(input + between(0, 3), size_of(&in)), value = (int8_t)next_random();
  const cmsis_nn_context ctx = begin(0);
  int8_t *to = expected + at;
  for (int32_t i = 0; i < size_of(&out); ++i, ++to) {
    const int32_t c = i % out.c - pre.c, w = i / out.c % out.w - pre.w, h = i / out.c / out.w % out.h - pre.h;
    const int32_t n = i / out.c / out.w / out.h - pre.n;
    const bool inside = c >= 0 && c < in.c && w >= 0 && w < in.w && h >= 0 && h < in.h && n >= 0 && n < in.n;
    *to = inside ? x[((n * in.h + h) * in.w + w) * in.c + c] : value;
  }
  end("pad", index, at + size_of(&out), &ctx, arm_pad_s8(x, output + at, value, &in, &pre, &post));
}

static void test_transpose(int32_t index) {
  uint32_t permutation[4] = {0, 1, 2, 3};
  for (int32_t i = 3; i > 0; --i) {
    const int32_t other = between(0, i);
    const uint32_t kept = permutation[i];
    permutation[i] = permutation[other];
    permutation[other] = kept;
  }
  const int32_t fours = one_in(3) ? 4 : 1, at = one_in(2) ? 0 : between(1, 3);
  int32_t size[4];
  for (int32_t i = 0; i < 4; ++i) {
    size[i] = one_in(3) ? 1 : fours * between(1, fours == 4 ? 5 : 14);
  }
  const cmsis_nn_dims in = {size[0], size[1], size[2], size[3]};
  const cmsis_nn_dims out = {size[permutation[0]], size[permutation[1]], size[permutation[2]], size[permutation[3]]};
  const cmsis_nn_transpose_params params = {4, permutation};
  const int8_t *x = fill(input + (one_in(2) ? 0 : between(1, 3)), size_of(&in));
  const cmsis_nn_context ctx = begin(0);
  for (int32_t i = 0; i < size_of(&out); ++i) {
    const int32_t place[4] = {i / out.c / out.w / out.h, i / out.c / out.w % out.h, i / out.c % out.w, i % out.c};
    int32_t from[4];
    for (int32_t k = 0; k < 4; ++k) {
      from[permutation[k]] = place[k];
    }
    expected[at + i] = x[((from[0] * in.h + from[1]) * in.w + from[2]) * in.c + from[3]];
  }
  end("transpose", index, at + size_of(&out), &ctx, arm_transpose_s8(x, output + at, &in, &out, &params));
}

// The kernels' checks have a variant for each core, too: `count` values of which none or a few are wrong, and behind them
// only wrong ones.
static void test_requantize_checks(int32_t index) {
  static const int32_t kWrong[] = {INT32_MIN, -32, 31, INT32_MAX};
  const int32_t count = between(0, 21);
  bool shifts_are_valid = true, multipliers_are_valid = true;
  for (int32_t i = 0; i < kChannels; ++i) {
    const bool behind = i >= count;
    shift[i] = behind || one_in(40) ? kWrong[between(0, 3)] : between(-31, 30);
    multiplier[i] = behind || one_in(40) ? INT32_MIN : one_in(3) ? -INT32_MAX : random_multiplier();
    shifts_are_valid &= behind || (shift[i] >= -31 && shift[i] <= 30);
    multipliers_are_valid &= behind || multiplier[i] != INT32_MIN;
  }
  if (cortex_m_nn_shifts_are_valid(shift, count) != shifts_are_valid) {
    fail("shifts_are_valid", index, "the other answer");
  }
  if (cortex_m_nn_requantization_is_valid(multiplier, shift, count) != (shifts_are_valid && multipliers_are_valid)) {
    fail("requantization_is_valid", index, "the other answer");
  }
}

int main(void) {
  for (int32_t i = 0; i < kCases && failures < 10; ++i) {
    test_convolve(i);
    test_packed_conv(i);
    test_packed_depthwise(i);
    test_depthwise(i);
    test_linear(i);
    test_packed_linear(i);
    test_transpose_conv(i);
    test_batch_matmul(i);
    test_elementwise(i);
    test_extrema(i);
    test_lookup(i);
    test_prelu(i);
    test_quantize(i);
    test_pools(i);
    test_softmax(i);
    test_pad(i);
    test_transpose(i);
    test_requantize_checks(i);
  }
  print_text("values: ");
  print_decimal(values);
  print_text("\nsaturated: ");
  print_decimal(saturated);
  print_text("\nfailures: ");
  print_decimal(failures);
  print_text("\n");
  return failures != 0;
}
