// Eight layers of MobileNetV2 by CMSIS-NN, each between two passes of the mark: those whose cycles on silicon were published.
// Prints a line "layer: instructions" for each.
//
//   CMSIS_NN_PATH=FOLDER bazel run --config=peer //cortex_m/cycles:calibrate
#include <stdbool.h>
#include <stdint.h>

#include "arm_nnfunctions.h"
#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"

#define IN_ARENA __attribute__((section(".arena"), aligned(16)))
enum { kActivations = 1605632, kWeights = 16384, kScratch = 65536, kChannels = 256 };

// Input at the front, output at the end; no layer's overlap.
static IN_ARENA int8_t activations[kActivations], weights[kWeights], scratch[kScratch];
static IN_ARENA int32_t bias[kChannels], multiplier[kChannels], shift[kChannels];

typedef struct {
  const char* name;
  bool depthwise;
  int32_t size, in, out, kernel, stride;
} layer;

static const layer kLayers[] = {
    {"conv 3x3 s2 3->32", false, 224, 3, 32, 3, 2},   {"depthwise 3x3 32", true, 112, 32, 32, 3, 1},
    {"pointwise 32->16", false, 112, 32, 16, 1, 1},   {"pointwise 16->96", false, 112, 16, 96, 1, 1},
    {"depthwise 3x3 s2 96", true, 112, 96, 96, 3, 2}, {"pointwise 96->24", false, 56, 96, 24, 1, 1},
    {"pointwise 24->144", false, 56, 24, 144, 1, 1},  {"depthwise 3x3 144", true, 56, 144, 144, 3, 1},
};

static arm_cmsis_nn_status run(const layer* l, uint64_t* instructions) {
  const int32_t pad = l->kernel / 2, size = l->size / l->stride;
  const cmsis_nn_dims in = {1, l->size, l->size, l->in}, out = {1, size, size, l->out}, bias_dims = {1, 1, 1, l->out};
  const cmsis_nn_dims filter = {l->depthwise ? 1 : l->out, l->kernel, l->kernel, l->depthwise ? l->out : l->in};
  const cmsis_nn_per_channel_quant_params quant = {multiplier, shift};
  int8_t* const to = activations + kActivations - size * size * l->out;
  const cmsis_nn_conv_params conv = {128, -128, {l->stride, l->stride}, {pad, pad}, {1, 1}, {-128, 127}};
  const cmsis_nn_dw_conv_params depthwise = {128, -128, 1, {l->stride, l->stride}, {pad, pad}, {1, 1}, {-128, 127}};
  const cmsis_nn_context ctx = {scratch, kScratch};
  const int32_t needed = l->depthwise ? arm_depthwise_conv_wrapper_s8_get_buffer_size(&depthwise, &in, &filter, &out)
                                      : arm_convolve_wrapper_s8_get_buffer_size(&conv, &in, &filter, &out);
  if (needed > kScratch || l->out * l->kernel * l->kernel * l->in > kWeights * (l->depthwise ? l->in : 1)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const uint64_t start = platform_instructions();
  const arm_cmsis_nn_status status = l->depthwise
                                         ? arm_depthwise_conv_wrapper_s8(&ctx, &depthwise, &quant, &in, activations,
                                                                         &filter, weights, &bias_dims, bias, &out, to)
                                         : arm_convolve_wrapper_s8(&ctx, &conv, &quant, &in, activations, &filter,
                                                                   weights, &bias_dims, bias, &out, to);
  *instructions = platform_instructions() - start;
  return status;
}

int main(void) {
  for (int32_t i = 0; i < kChannels; ++i) {
    multiplier[i] = 1 << 30;
    shift[i] = -8;
  }
  for (int32_t i = 0; i < kWeights; ++i) {
    weights[i] = (int8_t)(i * 37 % 255 - 127);
  }
  for (uint32_t i = 0; i < sizeof kLayers / sizeof *kLayers; ++i) {
    uint64_t instructions = 0;
    if (run(&kLayers[i], &instructions) != ARM_CMSIS_NN_SUCCESS) {
      print_text("error: a layer was refused\n");
      return 1;
    }
    print_text(kLayers[i].name);
    print_text(": ");
    print_decimal((int64_t)instructions);
    print_text("\n");
  }
  return 0;
}
