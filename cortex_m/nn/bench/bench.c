// Counts the instructions of one call of each layer of a table: of the kernel that the exporter's operator for the core calls, on
// packed weights where it packs them, else through the plain wrapper. Prints a line "case: instructions" for each. Weights,
// activations and parameters are pseudo-random, and the same in every run.
//
//   bazel run //tools:bench -- --cores m55,m4
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arm_nnfunctions.h"
#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"
#include "cortex_m/nn/additional.h"

#define IN_ARENA __attribute__((section(".arena"), aligned(16)))
enum { kActivations = 131072, kWeights = 81920, kScratch = 16384, kChannels = 256, kImage = 3 * 224 * 224 };

static int8_t input[kActivations] IN_ARENA, second[kActivations] IN_ARENA, output[kActivations] IN_ARENA;
static int8_t weights[kWeights] IN_ARENA, scratch[kScratch] IN_ARENA;
static float image[kImage] IN_ARENA;
static int8_t quantized[kImage] IN_ARENA;
static int32_t bias[kChannels] IN_ARENA, multiplier[kChannels] IN_ARENA, shift[kChannels] IN_ARENA;

// Packed weights; there is no memory for them beside the second operand of add and mul, which only has to hold anything.
static int8_t *const packed = second;

static const cmsis_nn_activation kFull = {-128, 127};

static uint32_t next_random(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static void fill(void) {
  for (int32_t i = 0; i < kActivations; ++i) {
    input[i] = (int8_t)next_random();
    second[i] = (int8_t)next_random();
  }
  for (int32_t i = 0; i < kWeights; ++i) {
    weights[i] = (int8_t)((int32_t)(next_random() % 255) - 127);
  }
  for (int32_t i = 0; i < kChannels; ++i) {
    bias[i] = (int32_t)(next_random() % 20001) - 10000;
    multiplier[i] = (int32_t)(0x40000000u + next_random() * 64u);
  }
  for (int32_t i = 0; i < kImage; ++i) {
    image[i] = (float)(next_random() % 256) / 255.0f;
  }
}

// A shift that brings sums of `depth` products to the range of an int8.
static void set_shifts(int32_t depth) {
  int32_t value = -6;
  for (; depth > 2; depth /= 4) {
    --value;
  }
  for (int32_t i = 0; i < kChannels; ++i) {
    shift[i] = value;
  }
}

static uint64_t start;

static void begin(void) { start = platform_instructions(); }

static void end(const char *name, arm_cmsis_nn_status status) {
  const uint64_t instructions = platform_instructions() - start;
  print_text(name);
  if (status != ARM_CMSIS_NN_SUCCESS) {
    print_text(" was refused\n");
    platform_exit(1);
  }
  print_text(": ");
  print_decimal((int64_t)instructions);
  print_text("\n");
}

static cmsis_nn_context scratch_of(const char *name, int32_t bytes) {
  if (bytes < 0 || bytes > kScratch) {
    print_text(name);
    print_text(" needs more scratch than the bench has\n");
    platform_exit(1);
  }
  const cmsis_nn_context ctx = {scratch, bytes};
  return ctx;
}

typedef struct {
  const char *name;
  int32_t h, w, in, out;
  int32_t kernel_h, kernel_w, stride, pad_h, pad_w;
  int32_t out_h, out_w;
} convolution;

static void check_packed(const char *name, int32_t bytes) {
  if (bytes > kActivations) {
    print_text(name);
    print_text(" needs more packed weights than the bench has\n");
    platform_exit(1);
  }
}

static cortex_m_nn_packed_conv_args packed_args(const convolution *c) {
  const cortex_m_nn_packed_conv_args args = {
      .input = input,
      .packed = packed,
      .out = output,
      .batch = 1,
      .input_channels = c->in,
      .output_channels = c->out,
      .rows = {c->h, c->out_h, c->kernel_h, c->stride, c->pad_h, 1},
      .columns = {c->w, c->out_w, c->kernel_w, c->stride, c->pad_w, 1},
      .input_offset = 5,
      .output_offset = -3,
      .activation_min = kFull.min,
      .activation_max = kFull.max,
  };
  return args;
}

// False if the exporter packs nothing for this core; so below.
static bool run_packed_convolution(const convolution *c) {
  const cortex_m_nn_packed_conv_args args = packed_args(c);
  if (cortex_m_nn_packed_conv_packing(CORTEX_M_NN_COMPILED_ISA, &args) == CORTEX_M_NN_PACKING_NONE) {
    return false;
  }
  check_packed(c->name, cortex_m_nn_packed_conv_bytes(&args));
  set_shifts(c->kernel_h * c->kernel_w * c->in);
  cortex_m_nn_pack_conv(&args, weights, bias, multiplier, shift, packed);
  const cmsis_nn_context ctx = scratch_of(c->name, cortex_m_nn_packed_conv_scratch_bytes(&args));
  begin();
  cortex_m_nn_packed_conv_s8(&args, ctx.buf);
  end(c->name, ARM_CMSIS_NN_SUCCESS);
  return true;
}

static bool run_packed_depthwise(const convolution *c) {
  const cortex_m_nn_packed_conv_args args = packed_args(c);
  if (cortex_m_nn_packed_depthwise_conv_packing(CORTEX_M_NN_COMPILED_ISA, &args) == CORTEX_M_NN_PACKING_NONE) {
    return false;
  }
  check_packed(c->name, cortex_m_nn_packed_depthwise_conv_bytes(&args));
  set_shifts(c->kernel_h * c->kernel_w);
  cortex_m_nn_pack_depthwise_conv(&args, weights, bias, multiplier, shift, packed);
  const cmsis_nn_context ctx = scratch_of(c->name, cortex_m_nn_packed_depthwise_conv_scratch_bytes(&args));
  begin();
  cortex_m_nn_packed_depthwise_conv_s8(&args, ctx.buf);
  end(c->name, ARM_CMSIS_NN_SUCCESS);
  return true;
}

static void run_convolution(const convolution *c) {
  if (run_packed_convolution(c)) {
    return;
  }
  const cmsis_nn_dims in = {1, c->h, c->w, c->in}, filter = {c->out, c->kernel_h, c->kernel_w, c->in};
  const cmsis_nn_dims bias_dims = {1, 1, 1, c->out}, out = {1, c->out_h, c->out_w, c->out};
  const cmsis_nn_conv_params params = {5, -3, {c->stride, c->stride}, {c->pad_w, c->pad_h}, {1, 1}, kFull};
  const cmsis_nn_per_channel_quant_params quant = {multiplier, shift};
  set_shifts(c->kernel_h * c->kernel_w * c->in);
  const cmsis_nn_context ctx =
      scratch_of(c->name, arm_convolve_wrapper_s8_get_buffer_size(&params, &in, &filter, &out));
  begin();
  end(c->name,
      arm_convolve_wrapper_s8(&ctx, &params, &quant, &in, input, &filter, weights, &bias_dims, bias, &out, output));
}

static const convolution kConvolutions[] = {
    {"conv 3x3 32->32, 32x32, pad 1", 32, 32, 32, 32, 3, 3, 1, 1, 1, 32, 32},
    {"conv 3x3 16->16, 32x32, pad 1", 32, 32, 16, 16, 3, 3, 1, 1, 1, 32, 32},
    {"conv 3x3 64->64, 8x8, pad 1", 8, 8, 64, 64, 3, 3, 1, 1, 1, 8, 8},
    {"conv 3x3 3->16, 32x32, pad 1", 32, 32, 3, 16, 3, 3, 1, 1, 1, 32, 32},
    {"conv 3x3 stride 2 3->8, 96x96, pad 1", 96, 96, 3, 8, 3, 3, 2, 1, 1, 48, 48},
    {"conv 10x4 stride 2 1->64, 49x10", 49, 10, 1, 64, 10, 4, 2, 4, 1, 25, 5},
    {"pointwise 64->128, 16x16", 16, 16, 64, 128, 1, 1, 1, 0, 0, 16, 16},
    {"pointwise 64->64, 25x5", 25, 5, 64, 64, 1, 1, 1, 0, 0, 25, 5},
    {"pointwise 8->16, 48x48", 48, 48, 8, 16, 1, 1, 1, 0, 0, 48, 48},
    {"pointwise 128->128, 6x6", 6, 6, 128, 128, 1, 1, 1, 0, 0, 6, 6},
};

static const convolution kDepthwise[] = {
    {"depthwise 3x3 64, 32x32, pad 1", 32, 32, 64, 64, 3, 3, 1, 1, 1, 32, 32},
    {"depthwise 3x3 64, 25x5, pad 1", 25, 5, 64, 64, 3, 3, 1, 1, 1, 25, 5},
    {"depthwise 3x3 8, 48x48, pad 1", 48, 48, 8, 8, 3, 3, 1, 1, 1, 48, 48},
    {"depthwise 3x3 256, 3x3, pad 1", 3, 3, 256, 256, 3, 3, 1, 1, 1, 3, 3},
    {"depthwise 3x3 stride 2 64, 32x32, pad 1", 32, 32, 64, 64, 3, 3, 2, 1, 1, 16, 16},
};

static void run_depthwise(const convolution *c) {
  if (run_packed_depthwise(c)) {
    return;
  }
  const cmsis_nn_dims in = {1, c->h, c->w, c->in}, filter = {1, c->kernel_h, c->kernel_w, c->out};
  const cmsis_nn_dims bias_dims = {1, 1, 1, c->out}, out = {1, c->out_h, c->out_w, c->out};
  const cmsis_nn_dw_conv_params params = {5, -3, 1, {c->stride, c->stride}, {c->pad_w, c->pad_h}, {1, 1}, kFull};
  const cmsis_nn_per_channel_quant_params quant = {multiplier, shift};
  set_shifts(c->kernel_h * c->kernel_w);
  const cmsis_nn_context ctx =
      scratch_of(c->name, arm_depthwise_conv_wrapper_s8_get_buffer_size(&params, &in, &filter, &out));
  begin();
  end(c->name, arm_depthwise_conv_wrapper_s8(&ctx, &params, &quant, &in, input, &filter, weights, &bias_dims, bias,
                                             &out, output));
}

static bool run_packed_linear(const char *name, int32_t depth, int32_t channels) {
  const cortex_m_nn_packed_linear_args args = {input, packed, output, 1, depth, channels, -3, kFull.min, kFull.max};
  if (cortex_m_nn_packed_linear_packing(CORTEX_M_NN_COMPILED_ISA, &args) == CORTEX_M_NN_PACKING_NONE) {
    return false;
  }
  check_packed(name, cortex_m_nn_packed_linear_bytes(&args));
  set_shifts(depth);
  if (!cortex_m_nn_pack_linear(&args, weights, bias, multiplier, shift, packed)) {
    return false;
  }
  const cmsis_nn_context ctx = scratch_of(name, cortex_m_nn_packed_linear_scratch_bytes(&args));
  begin();
  cortex_m_nn_packed_linear_s8(&args, ctx.buf);
  end(name, ARM_CMSIS_NN_SUCCESS);
  return true;
}

static void run_linear(const char *name, int32_t depth, int32_t channels) {
  if (run_packed_linear(name, depth, channels)) {
    return;
  }
  const cmsis_nn_dims in = {1, 1, 1, depth}, filter = {depth, 1, 1, channels}, out = {1, 1, 1, channels};
  const cmsis_nn_fc_params params = {0, 0, -3, kFull};  // the exporter has the input offset in the bias
  set_shifts(depth);
  const cmsis_nn_per_tensor_quant_params quant = {multiplier[0], shift[0]};
  begin();
  end(name, arm_fully_connected_s8(NULL, &params, &quant, &in, input, &filter, weights, &out, bias, &out, output));
}

static void run_pool(const char *name, bool max, int32_t size, int32_t kernel) {
  const cmsis_nn_dims in = {1, size, size, 64}, filter = {1, kernel, kernel, 1};
  const cmsis_nn_dims out = {1, size / kernel, size / kernel, 64};
  const cmsis_nn_pool_params params = {{kernel, kernel}, {0, 0}, kFull};
  begin();
  end(name, max ? arm_max_pool_s8(NULL, &params, &in, input, &filter, &out, output)
                : arm_avgpool_s8(NULL, &params, &in, input, &filter, &out, output));
}

// A photo, from and to the planes of its colours.
static void run_quantize(void) {
  const cortex_m_nn_quantization q = {1.0f / 128, 128, -128, -128, 127};
  const int32_t pixels = kImage / 3;
  begin();
  cortex_m_nn_quantize_s8(image, quantized, 1, kImage, &q);
  end("quantize 224x224x3", ARM_CMSIS_NN_SUCCESS);
  begin();
  for (int32_t c = 0; c < 3; ++c) {
    cortex_m_nn_quantize_s8(image + c * pixels, quantized + c, 3, pixels, &q);
  }
  end("quantize 3x224x224 to NHWC", ARM_CMSIS_NN_SUCCESS);
  begin();
  for (int32_t c = 0; c < 3; ++c) {
    cortex_m_nn_dequantize_s8(quantized + c, 3, image + c * pixels, pixels, &q);
  }
  end("dequantize 224x224x3 to NCHW", ARM_CMSIS_NN_SUCCESS);
}

int main(void) {
  fill();
  for (uint32_t i = 0; i < sizeof kConvolutions / sizeof *kConvolutions; ++i) {
    run_convolution(&kConvolutions[i]);
  }
  for (uint32_t i = 0; i < sizeof kDepthwise / sizeof *kDepthwise; ++i) {
    run_depthwise(&kDepthwise[i]);
  }
  run_linear("linear 640->128", 640, 128);
  run_linear("linear 256->256", 256, 256);
  run_linear("linear 64->10", 64, 10);
  begin();
  end("add 32x32x32", arm_elementwise_add_s8(input, second, 5, 1 << 30, 0, -7, 1518500250, -1, 20, output, -3,
                                             1342177280, -18, -128, 127, 32 * 32 * 32));
  begin();
  end("add 32x32x32, equal scales", arm_elementwise_add_s8(input, second, 5, 1 << 30, 0, -7, 1 << 30, 0, 20, output, -3,
                                                           1342177280, -18, -128, 127, 32 * 32 * 32));
  begin();
  end("mul 32x32x32",
      arm_elementwise_mul_s8(input, second, 5, -7, output, -3, 1342177280, -6, -128, 127, 32 * 32 * 32));
  run_pool("average pool 8x8 global, 64", false, 8, 8);
  run_pool("average pool 2x2 stride 2, 16x16x64", false, 16, 2);
  run_pool("max pool 2x2 stride 2, 16x16x64", true, 16, 2);
  begin();
  arm_softmax_s8(input, 64, 64, 1717986918, 22, -248, output);
  end("softmax 64 rows of 64", ARM_CMSIS_NN_SUCCESS);
  run_quantize();
  return 0;
}
