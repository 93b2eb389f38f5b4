// The kernels that the exporter packs weights for.
#include <stddef.h>

#include "cortex_m/nn/additional.h"
#include "cortex_m/nn/bench/bench.h"

static void check_packed(const char *name, int32_t bytes) {
  if (bytes > kPackedBytes) {
    bench_fail(name, " needs more packed weights than the bench has\n");
  }
}

static cortex_m_nn_packed_conv_args packed_args(const convolution *c) {
  const cortex_m_nn_packed_conv_args args = {
      .input = bench_input,
      .packed = bench_packed,
      .out = bench_output,
      .batch = 1,
      .input_channels = c->in,
      .output_channels = c->out,
      .rows = {c->h, c->out_h, c->kernel_h, c->stride_h, c->pad_h, 1},
      .columns = {c->w, c->out_w, c->kernel_w, c->stride_w, c->pad_w, 1},
      .input_offset = kInputOffset,
      .output_offset = kOutputOffset,
      .activation_min = -128,
      .activation_max = 127,
  };
  return args;
}

bool bench_packed_convolution(const convolution *c) {
  const cortex_m_nn_packed_conv_args args = packed_args(c);
  if (c->groups != 1 || cortex_m_nn_packed_conv_packing(CORTEX_M_NN_COMPILED_ISA, &args) == CORTEX_M_NN_PACKING_NONE) {
    return false;
  }
  check_packed(c->name, cortex_m_nn_packed_conv_bytes(&args));
  cortex_m_nn_pack_conv(&args, bench_weights, bench_bias, bench_multiplier, bench_shift, bench_packed);
  void *const scratch = bench_scratch(c->name, cortex_m_nn_packed_conv_scratch_bytes(&args));
  bench_begin();
  cortex_m_nn_packed_conv_s8(&args, scratch);
  bench_end(c->name, 0);
  return true;
}

bool bench_packed_depthwise(const convolution *c) {
  const cortex_m_nn_packed_conv_args args = packed_args(c);
  if (c->in != c->out ||
      cortex_m_nn_packed_depthwise_conv_packing(CORTEX_M_NN_COMPILED_ISA, &args) == CORTEX_M_NN_PACKING_NONE) {
    return false;
  }
  check_packed(c->name, cortex_m_nn_packed_depthwise_conv_bytes(&args));
  cortex_m_nn_pack_depthwise_conv(&args, bench_weights, bench_bias, bench_multiplier, bench_shift, bench_packed);
  void *const scratch = bench_scratch(c->name, cortex_m_nn_packed_depthwise_conv_scratch_bytes(&args));
  bench_begin();
  cortex_m_nn_packed_depthwise_conv_s8(&args, scratch);
  bench_end(c->name, 0);
  return true;
}

bool bench_packed_linear(const char *name, int32_t depth, int32_t channels) {
  const cortex_m_nn_packed_linear_args args = {bench_input, bench_packed,  bench_output, 1,  depth,
                                               channels,    kOutputOffset, -128,         127};
  if (cortex_m_nn_packed_linear_packing(CORTEX_M_NN_COMPILED_ISA, &args) == CORTEX_M_NN_PACKING_NONE) {
    return false;
  }
  check_packed(name, cortex_m_nn_packed_linear_bytes(&args));
  if (!cortex_m_nn_pack_linear(&args, bench_weights, bench_bias, bench_multiplier, bench_shift, bench_packed)) {
    return false;
  }
  void *const scratch = bench_scratch(name, cortex_m_nn_packed_linear_scratch_bytes(&args));
  bench_begin();
  cortex_m_nn_packed_linear_s8(&args, scratch);
  bench_end(name, 0);
  return true;
}

const int32_t *bench_linear_sums(int32_t depth, int32_t channels) {
  (void)depth;
  (void)channels;
  return NULL;
}

// A photo, from and to the planes of its colours.
void bench_additional(void) {
  const cortex_m_nn_quantization q = {1.0f / 128, 128, -128, -128, 127};
  const int32_t pixels = kImage / 3;
  bench_fill_image();
  bench_begin();
  cortex_m_nn_quantize_s8(bench_image, bench_quantized, 1, kImage, &q);
  bench_end("quantize 224x224x3", 0);
  bench_begin();
  for (int32_t c = 0; c < 3; ++c) {
    cortex_m_nn_quantize_s8(bench_image + c * pixels, bench_quantized + c, 3, pixels, &q);
  }
  bench_end("quantize 3x224x224 to NHWC", 0);
  bench_begin();
  for (int32_t c = 0; c < 3; ++c) {
    cortex_m_nn_dequantize_s8(bench_quantized + c, 3, bench_image + c * pixels, pixels, &q);
  }
  bench_end("dequantize 224x224x3 to NCHW", 0);
}
