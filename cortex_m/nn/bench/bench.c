// Counts the instructions of one call of each layer of a table: of the kernel that the exporter's operator for the core calls, on
// packed weights where it packs them (ours.c), else through the plain function of CMSIS-NN's interface, so that the same table
// counts CMSIS-NN (peer.c). Prints a line "case: instructions" for each. Weights, activations and parameters are pseudo-random,
// and the same in every run.
//
//   bazel run //tools:bench -- --cores m55,m4
#include "cortex_m/nn/bench/bench.h"

#include <stddef.h>

#include "arm_nnfunctions.h"
#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"

#define IN_ARENA __attribute__((section(".arena"), aligned(16)))
#define LENGTH(table) ((int32_t)(sizeof(table) / sizeof *(table)))

IN_ARENA int8_t bench_input[kActivations], bench_second[kActivations], bench_output[kActivations];
IN_ARENA int8_t bench_weights[kWeights];
IN_ARENA int32_t bench_bias[kChannels], bench_multiplier[kChannels], bench_shift[kChannels];
IN_ARENA float bench_image[kImage];
IN_ARENA int8_t bench_quantized[kImage];
int8_t *const bench_packed = (int8_t *)bench_image;
static IN_ARENA int8_t scratch[kScratch];

static const cmsis_nn_activation kFull = {-128, 127};
static const cmsis_nn_per_channel_quant_params kQuant = {bench_multiplier, bench_shift};

static uint32_t next_random(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static void fill(void) {
  for (int32_t i = 0; i < kActivations; ++i) {
    bench_input[i] = (int8_t)next_random();
    bench_second[i] = (int8_t)next_random();
  }
  for (int32_t i = 0; i < kWeights; ++i) {
    bench_weights[i] = (int8_t)((int32_t)(next_random() % 255) - 127);
  }
  for (int32_t i = 0; i < kChannels; ++i) {
    bench_bias[i] = (int32_t)(next_random() % 20001) - 10000;
    bench_multiplier[i] = (int32_t)(0x40000000u + next_random() * 64u);
  }
}

void bench_fill_image(void) {
  for (int32_t i = 0; i < kImage; ++i) {
    bench_image[i] = (float)(next_random() % 256) / 255.0f;
  }
}

// A shift that brings sums of `depth` products to the range of an int8.
static void set_shifts(int32_t depth) {
  int32_t value = -6;
  for (; depth > 2; depth /= 4) {
    --value;
  }
  for (int32_t i = 0; i < kChannels; ++i) {
    bench_shift[i] = value;
  }
}

static uint64_t start;

void bench_begin(void) { start = platform_instructions(); }

void bench_end(const char *name, int status) {
  const uint64_t instructions = platform_instructions() - start;
  if (status != 0) {
    bench_fail(name, " was refused\n");
  }
  print_text(name);
  print_text(": ");
  print_decimal((int64_t)instructions);
  print_text("\n");
}

void bench_fail(const char *name, const char *why) {
  print_text(name);
  print_text(why);
  platform_exit(1);
}

void *bench_scratch(const char *name, int32_t bytes) {
  if (bytes < 0 || bytes > kScratch) {
    bench_fail(name, " needs more scratch than the bench has\n");
  }
  return scratch;
}

static cmsis_nn_context scratch_of(const char *name, int32_t bytes) {
  const cmsis_nn_context ctx = {bench_scratch(name, bytes), bytes};
  return ctx;
}

static void check_sizes(const convolution *c, int32_t weights) {
  if (c->h * c->w * c->in > kActivations || c->out_h * c->out_w * c->out > kActivations || weights > kWeights ||
      c->out > kChannels) {
    bench_fail(c->name, " is larger than the bench's memory\n");
  }
}

static void run_convolution(const convolution *c) {
  const cmsis_nn_dims in = {1, c->h, c->w, c->in}, filter = {c->out, c->kernel_h, c->kernel_w, c->in / c->groups};
  const cmsis_nn_dims bias = {1, 1, 1, c->out}, out = {1, c->out_h, c->out_w, c->out};
  const cmsis_nn_conv_params params = {kInputOffset,         kOutputOffset, {c->stride_w, c->stride_h},
                                       {c->pad_w, c->pad_h}, {1, 1},        kFull};
  check_sizes(c, c->out * c->kernel_h * c->kernel_w * filter.c);
  set_shifts(c->kernel_h * c->kernel_w * filter.c);
  if (bench_packed_convolution(c)) {
    return;
  }
  const cmsis_nn_context ctx =
      scratch_of(c->name, arm_convolve_wrapper_s8_get_buffer_size(&params, &in, &filter, &out));
  bench_begin();
  bench_end(c->name, arm_convolve_wrapper_s8(&ctx, &params, &kQuant, &in, bench_input, &filter, bench_weights, &bias,
                                             bench_bias, &out, bench_output));
}

static void run_depthwise(const convolution *c) {
  const cmsis_nn_dims in = {1, c->h, c->w, c->in}, filter = {1, c->kernel_h, c->kernel_w, c->out};
  const cmsis_nn_dims bias = {1, 1, 1, c->out}, out = {1, c->out_h, c->out_w, c->out};
  const cmsis_nn_dw_conv_params params = {
      kInputOffset, kOutputOffset, c->out / c->in, {c->stride_w, c->stride_h}, {c->pad_w, c->pad_h}, {1, 1}, kFull};
  check_sizes(c, c->out * c->kernel_h * c->kernel_w);
  set_shifts(c->kernel_h * c->kernel_w);
  if (bench_packed_depthwise(c)) {
    return;
  }
  const cmsis_nn_context ctx =
      scratch_of(c->name, arm_depthwise_conv_wrapper_s8_get_buffer_size(&params, &in, &filter, &out));
  bench_begin();
  bench_end(c->name, arm_depthwise_conv_wrapper_s8(&ctx, &params, &kQuant, &in, bench_input, &filter, bench_weights,
                                                   &bias, bench_bias, &out, bench_output));
}

static void run_transposed(const convolution *c) {
  const cmsis_nn_dims in = {1, c->h, c->w, c->in}, filter = {c->out, c->kernel_h, c->kernel_w, c->in};
  const cmsis_nn_dims bias = {1, 1, 1, c->out}, out = {1, c->out_h, c->out_w, c->out};
  const cmsis_nn_transpose_conv_params params = {
      kInputOffset, kOutputOffset, {c->stride_w, c->stride_h}, {c->pad_w, c->pad_h}, {0, 0}, {1, 1}, kFull};
  check_sizes(c, c->out * c->kernel_h * c->kernel_w * c->in);
  set_shifts(c->kernel_h * c->kernel_w * c->in / (c->stride_h * c->stride_w));
  const int32_t bytes = (arm_transpose_conv_s8_get_buffer_size(&params, &in, &filter, &out) + 15) / 16 * 16;
  const int32_t reversed = arm_transpose_conv_s8_get_reverse_conv_buffer_size(&params, &in, &filter);
  bench_scratch(c->name, bytes + reversed);
  const cmsis_nn_context ctx = {scratch, bytes}, reversed_ctx = {scratch + bytes, reversed};
  bench_begin();
  bench_end(c->name, arm_transpose_conv_wrapper_s8(&ctx, &reversed_ctx, &params, &kQuant, &in, bench_input, &filter,
                                                   bench_weights, &bias, bench_bias, &out, bench_output));
}

// The exporter has the input offset in the bias.
static void run_linear(const char *name, int32_t depth, int32_t channels) {
  const cmsis_nn_dims in = {1, 1, 1, depth}, filter = {depth, 1, 1, channels}, out = {1, 1, 1, channels};
  const cmsis_nn_fc_params params = {0, 0, kOutputOffset, kFull};
  if (depth * channels > kWeights) {
    bench_fail(name, " is larger than the bench's memory\n");
  }
  set_shifts(depth);
  if (bench_packed_linear(name, depth, channels)) {
    return;
  }
  const cmsis_nn_context ctx = {(void *)bench_linear_sums(depth, channels), channels * (int32_t)sizeof(int32_t)};
  bench_begin();
  bench_end(name, arm_fully_connected_per_channel_s8(&ctx, &params, &kQuant, &in, bench_input, &filter, bench_weights,
                                                     &out, bench_bias, &out, bench_output));
}

static void run_matmul(const char *name, int32_t heads, int32_t m, int32_t k, int32_t n) {
  const cmsis_nn_dims left = {1, 1, m, k}, right = {1, 1, n, k}, out = {1, 1, m, n}, filter = {k, 1, 1, n};
  const cmsis_nn_bmm_params params = {false, false, {kInputOffset, 7, kOutputOffset, kFull}};
  const cmsis_nn_per_tensor_quant_params quant = {bench_multiplier[0], -10};
  const cmsis_nn_context ctx = scratch_of(name, arm_fully_connected_s8_get_buffer_size(&filter));
  int status = 0;
  bench_begin();
  for (int32_t i = 0; i < heads; ++i) {
    status |= arm_batch_matmul_s8(&ctx, &params, &quant, &left, bench_input + i * m * k, &right,
                                  bench_second + i * n * k, &out, bench_output + i * m * n);
  }
  bench_end(name, status);
}

static void run_pool(const char *name, bool max, int32_t size, int32_t kernel) {
  const cmsis_nn_dims in = {1, size, size, 64}, filter = {1, kernel, kernel, 1};
  const cmsis_nn_dims out = {1, size / kernel, size / kernel, 64};
  const cmsis_nn_pool_params params = {{kernel, kernel}, {0, 0}, kFull};
  const cmsis_nn_context ctx = scratch_of(name, arm_avgpool_s8_get_buffer_size(out.w, 64));
  bench_begin();
  bench_end(name, max ? arm_max_pool_s8(&ctx, &params, &in, bench_input, &filter, &out, bench_output)
                      : arm_avgpool_s8(&ctx, &params, &in, bench_input, &filter, &out, bench_output));
}

static void run_pad(const char *name, cmsis_nn_dims in, cmsis_nn_dims before, cmsis_nn_dims after) {
  bench_begin();
  bench_end(name, arm_pad_s8(bench_input, bench_output, -3, &in, &before, &after));
}

// `sizes` and `permutation` of `rank` dimensions.
static void run_transpose(const char *name, int32_t rank, const int32_t *sizes, const uint32_t *permutation) {
  int32_t in[4] = {1, 1, 1, 1}, out[4] = {1, 1, 1, 1};
  for (int32_t i = 0; i < rank; ++i) {
    in[i] = sizes[i];
    out[i] = sizes[permutation[i]];
  }
  const cmsis_nn_dims from = {in[0], in[1], in[2], in[3]}, to = {out[0], out[1], out[2], out[3]};
  const cmsis_nn_transpose_params params = {rank, permutation};
  bench_begin();
  bench_end(name, arm_transpose_s8(bench_input, bench_output, &from, &to, &params));
}

static void run_add(const char *name, int32_t multiplier_2, int32_t shift_2, int32_t count) {
  bench_begin();
  bench_end(name, arm_elementwise_add_s8(bench_input, bench_second, kInputOffset, 1 << 30, 0, -7, multiplier_2, shift_2,
                                         20, bench_output, kOutputOffset, 1342177280, -18, -128, 127, count));
}

static void run_mul(const char *name, int32_t count) {
  bench_begin();
  bench_end(name, arm_elementwise_mul_s8(bench_input, bench_second, kInputOffset, -7, bench_output, kOutputOffset,
                                         1342177280, -6, -128, 127, count));
}

static void run_maximum(const char *name, cmsis_nn_dims dims) {
  const cmsis_nn_context none = {NULL, 0};
  bench_begin();
  bench_end(name, arm_maximum_s8(&none, bench_input, &dims, bench_second, &dims, bench_output, &dims));
}

// clang-format off
static const convolution kConvolutions[] = {
    {"conv 3x3 32->32, 32x32, pad 1", 32, 32, 32, 32, 1, 3, 3, 1, 1, 1, 1, 32, 32},
    {"conv 3x3 16->16, 32x32, pad 1", 32, 32, 16, 16, 1, 3, 3, 1, 1, 1, 1, 32, 32},
    {"conv 3x3 64->64, 8x8, pad 1", 8, 8, 64, 64, 1, 3, 3, 1, 1, 1, 1, 8, 8},
    {"conv 3x3 3->16, 32x32, pad 1", 32, 32, 3, 16, 1, 3, 3, 1, 1, 1, 1, 32, 32},
    {"conv 3x3 stride 2 3->8, 96x96, pad 1", 96, 96, 3, 8, 1, 3, 3, 2, 2, 1, 1, 48, 48},
    {"conv 10x4 stride 2 1->64, 49x10", 49, 10, 1, 64, 1, 10, 4, 2, 2, 4, 1, 25, 5},
    {"pointwise 64->128, 16x16", 16, 16, 64, 128, 1, 1, 1, 1, 1, 0, 0, 16, 16},
    {"pointwise 64->64, 25x5", 25, 5, 64, 64, 1, 1, 1, 1, 1, 0, 0, 25, 5},
    {"pointwise 8->16, 48x48", 48, 48, 8, 16, 1, 1, 1, 1, 1, 0, 0, 48, 48},
    {"pointwise 128->128, 6x6", 6, 6, 128, 128, 1, 1, 1, 1, 1, 0, 0, 6, 6},
    {"pointwise 64->1, 32x32", 32, 32, 64, 1, 1, 1, 1, 1, 1, 0, 0, 32, 32},
    {"pointwise 64->3, 32x32", 32, 32, 64, 3, 1, 1, 1, 1, 1, 0, 0, 32, 32},
    {"pointwise 64->5, 32x32", 32, 32, 64, 5, 1, 1, 1, 1, 1, 0, 0, 32, 32},
    {"pointwise 3->3, 32x32", 32, 32, 3, 3, 1, 1, 1, 1, 1, 0, 0, 32, 32},
    {"pointwise 64->2, 16x16", 16, 16, 64, 2, 1, 1, 1, 1, 1, 0, 0, 16, 16},
    {"pointwise 16->2, 40x40", 40, 40, 16, 2, 1, 1, 1, 1, 1, 0, 0, 40, 40},
    {"pointwise 17->13, 20x20", 20, 20, 17, 13, 1, 1, 1, 1, 1, 0, 0, 20, 20},
    {"pointwise 72->24, 1x1", 1, 1, 72, 24, 1, 1, 1, 1, 1, 0, 0, 1, 1},
    {"pointwise 24->72, 1x1", 1, 1, 24, 72, 1, 1, 1, 1, 1, 0, 0, 1, 1},
    {"pointwise 960->240, 1x1", 1, 1, 960, 240, 1, 1, 1, 1, 1, 0, 0, 1, 1},
    {"pointwise 256->64, 1x1", 1, 1, 256, 64, 1, 1, 1, 1, 1, 0, 0, 1, 1},
    {"conv 3x3 64->10, 3x3, one output", 3, 3, 64, 10, 1, 3, 3, 1, 1, 0, 0, 1, 1},
    {"conv 3x3 groups 4 32->32, 16x16, pad 1", 16, 16, 32, 32, 4, 3, 3, 1, 1, 1, 1, 16, 16},
    {"conv 3x3 groups 8 32->32, 16x16, pad 1", 16, 16, 32, 32, 8, 3, 3, 1, 1, 1, 1, 16, 16},
    {"conv 3x3 groups 16 32->32, 16x16, pad 1", 16, 16, 32, 32, 16, 3, 3, 1, 1, 1, 1, 16, 16},
};
static const convolution kDepthwise[] = {
    {"depthwise 3x3 64, 32x32, pad 1", 32, 32, 64, 64, 1, 3, 3, 1, 1, 1, 1, 32, 32},
    {"depthwise 3x3 64, 25x5, pad 1", 25, 5, 64, 64, 1, 3, 3, 1, 1, 1, 1, 25, 5},
    {"depthwise 3x3 8, 48x48, pad 1", 48, 48, 8, 8, 1, 3, 3, 1, 1, 1, 1, 48, 48},
    {"depthwise 3x3 256, 3x3, pad 1", 3, 3, 256, 256, 1, 3, 3, 1, 1, 1, 1, 3, 3},
    {"depthwise 3x3 stride 2 64, 32x32, pad 1", 32, 32, 64, 64, 1, 3, 3, 2, 2, 1, 1, 16, 16},
    {"depthwise 3x3 1->8, 32x32, pad 1", 32, 32, 1, 8, 1, 3, 3, 1, 1, 1, 1, 32, 32},
    {"depthwise 3x3 8->32, 16x16, pad 1", 16, 16, 8, 32, 1, 3, 3, 1, 1, 1, 1, 16, 16},
    {"depthwise 3x3 16->32, 16x16, pad 1", 16, 16, 16, 32, 1, 3, 3, 1, 1, 1, 1, 16, 16},
    {"depthwise 3x3 1, 32x32, pad 1", 32, 32, 1, 1, 1, 3, 3, 1, 1, 1, 1, 32, 32},
    {"depthwise 3x3 2, 32x32, pad 1", 32, 32, 2, 2, 1, 3, 3, 1, 1, 1, 1, 32, 32},
    {"depthwise 3x3 3, 32x32, pad 1", 32, 32, 3, 3, 1, 3, 3, 1, 1, 1, 1, 32, 32},
    {"depthwise 5x5 32, 28x28, pad 2", 28, 28, 32, 32, 1, 5, 5, 1, 1, 2, 2, 28, 28},
    {"depthwise 5x5 120, 14x14, pad 2", 14, 14, 120, 120, 1, 5, 5, 1, 1, 2, 2, 14, 14},
    {"depthwise 5x5 stride 2 96, 28x28, pad 2", 28, 28, 96, 96, 1, 5, 5, 2, 2, 2, 2, 14, 14},
    {"depthwise 1x9 40, 1x98, pad 4", 1, 98, 40, 40, 1, 1, 9, 1, 1, 0, 4, 1, 98},
    {"depthwise 10x1 64, 25x5", 25, 5, 64, 64, 1, 10, 1, 1, 1, 0, 0, 16, 5},
    {"depthwise 8x8 global 64", 8, 8, 64, 64, 1, 8, 8, 1, 1, 0, 0, 1, 1},
};
static const convolution kTransposed[] = {
    {"transposed conv 2x2 stride 2 16->8, 8x8", 8, 8, 16, 8, 1, 2, 2, 2, 2, 0, 0, 16, 16},
    {"transposed conv 4x4 stride 2 8->3, 16x16, pad 1", 16, 16, 8, 3, 1, 4, 4, 2, 2, 1, 1, 32, 32},
    {"transposed conv 3x3 stride 2 16->8, 8x8, pad 1", 8, 8, 16, 8, 1, 3, 3, 2, 2, 1, 1, 15, 15},
    {"transposed conv 4x4 stride 2 32->16, 8x8, pad 1", 8, 8, 32, 16, 1, 4, 4, 2, 2, 1, 1, 16, 16},
    {"transposed conv 2x2 stride 2 64->32, 8x8", 8, 8, 64, 32, 1, 2, 2, 2, 2, 0, 0, 16, 16},
    {"transposed conv 2x2 stride 2 32->16, 16x16", 16, 16, 32, 16, 1, 2, 2, 2, 2, 0, 0, 32, 32},
};
static const struct {
  const char *name;
  int32_t depth, channels;
} kLinear[] = {
    {"linear 640->128", 640, 128},
    {"linear 256->256", 256, 256},
    {"linear 784->128", 784, 128},
    {"linear 1024->256", 1024, 256},
    {"linear 400->120", 400, 120},
    {"linear 256->1", 256, 1},
    {"linear 128->2", 128, 2},
    {"linear 576->3", 576, 3},
    {"linear 64->5", 64, 5},
    {"linear 10->7", 10, 7},
    {"linear 16->1", 16, 1},
    {"linear 4->2", 4, 2},
    {"linear 1->16", 1, 16},
    {"linear 64->10", 64, 10},
};
static const struct {
  const char *name;
  int32_t rank, sizes[4];
  uint32_t permutation[4];
} kTransposes[] = {
    {"transpose NHWC to NCHW 32x32x16", 4, {1, 32, 32, 16}, {0, 3, 1, 2}},
    {"transpose NCHW to NHWC 16x32x32", 4, {1, 16, 32, 32}, {0, 2, 3, 1}},
    {"transpose NCHW to NHWC 3x96x96", 4, {1, 3, 96, 96}, {0, 2, 3, 1}},
    {"transpose last two 64x64", 4, {1, 1, 64, 64}, {0, 1, 3, 2}},
    {"transpose middle two 4x49x16", 4, {1, 4, 49, 16}, {0, 2, 1, 3}},
    {"transpose reversed 8x16x16x8", 4, {8, 16, 16, 8}, {3, 2, 1, 0}},
};
// clang-format on

int main(void) {
  fill();
  for (int32_t i = 0; i < LENGTH(kConvolutions); ++i) {
    run_convolution(&kConvolutions[i]);
  }
  for (int32_t i = 0; i < LENGTH(kDepthwise); ++i) {
    run_depthwise(&kDepthwise[i]);
  }
  for (int32_t i = 0; i < LENGTH(kTransposed); ++i) {
    run_transposed(&kTransposed[i]);
  }
  for (int32_t i = 0; i < LENGTH(kLinear); ++i) {
    run_linear(kLinear[i].name, kLinear[i].depth, kLinear[i].channels);
  }
  run_matmul("batch matmul 64x64x64", 1, 64, 64, 64);
  run_matmul("batch matmul 4 of 49x16x49", 4, 49, 16, 49);
  run_matmul("batch matmul 8x7x9", 1, 8, 7, 9);
  run_add("add 32x32x32", 1518500250, -1, 32 * 32 * 32);
  run_add("add 32x32x32, equal scales", 1 << 30, 0, 32 * 32 * 32);
  run_add("add 7", 1518500250, -1, 7);
  run_mul("mul 32x32x32", 32 * 32 * 32);
  run_mul("mul 7", 7);
  run_maximum("maximum 16x16x32", (cmsis_nn_dims){1, 16, 16, 32});
  run_pool("average pool 8x8 global, 64", false, 8, 8);
  run_pool("average pool 2x2 stride 2, 16x16x64", false, 16, 2);
  run_pool("max pool 2x2 stride 2, 16x16x64", true, 16, 2);
  run_pad("pad 32x32x16 by 1", (cmsis_nn_dims){1, 32, 32, 16}, (cmsis_nn_dims){0, 1, 1, 0},
          (cmsis_nn_dims){0, 1, 1, 0});
  run_pad("pad 96x96x3 by 1", (cmsis_nn_dims){1, 96, 96, 3}, (cmsis_nn_dims){0, 1, 1, 0}, (cmsis_nn_dims){0, 1, 1, 0});
  run_pad("pad channels 16x16x8 to 16", (cmsis_nn_dims){1, 16, 16, 8}, (cmsis_nn_dims){0, 0, 0, 0},
          (cmsis_nn_dims){0, 0, 0, 8});
  for (int32_t i = 0; i < LENGTH(kTransposes); ++i) {
    run_transpose(kTransposes[i].name, kTransposes[i].rank, kTransposes[i].sizes, kTransposes[i].permutation);
  }
  bench_begin();
  arm_softmax_s8(bench_input, 64, 64, 1717986918, 22, -248, bench_output);
  bench_end("softmax 64 rows of 64", 0);
  bench_additional();
  return 0;
}
