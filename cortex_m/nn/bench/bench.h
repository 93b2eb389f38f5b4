// What the bench's parts share: its memory, its counter, and the calls that differ from library to library (ours.c, peer.c).
#ifndef CORTEX_M_NN_BENCH_BENCH_H_
#define CORTEX_M_NN_BENCH_BENCH_H_

#include <stdbool.h>
#include <stdint.h>

enum {
  kActivations = 131072,
  kWeights = 262144,
  kScratch = 65536,
  kChannels = 1024,
  kImage = 3 * 224 * 224,
  kPackedBytes = kImage * (int32_t)sizeof(float),
  kInputOffset = 5,
  kOutputOffset = -3,
};

extern int8_t bench_input[kActivations], bench_second[kActivations], bench_output[kActivations];
extern int8_t bench_weights[kWeights];
extern int32_t bench_bias[kChannels], bench_multiplier[kChannels], bench_shift[kChannels];
// Packed weights and the photo share memory: never at the same time.
extern float bench_image[kImage];
extern int8_t bench_quantized[kImage];
extern int8_t *const bench_packed;

// Weights [out, kernel_h, kernel_w, in / groups]; of a depthwise convolution [1, kernel_h, kernel_w, out].
typedef struct {
  const char *name;
  int32_t h, w, in, out, groups;
  int32_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  int32_t out_h, out_w;
} convolution;

void bench_begin(void);
// Prints the instructions since bench_begin; ends the program if status is not 0.
void bench_end(const char *name, int status);
void bench_fail(const char *name, const char *why);
// `bytes` of scratch; ends the program if there are not so many.
void *bench_scratch(const char *name, int32_t bytes);
void bench_fill_image(void);

// Each counts the call on packed weights; false if the exporter packs nothing for this core.
bool bench_packed_convolution(const convolution *c);
bool bench_packed_depthwise(const convolution *c);
bool bench_packed_linear(const char *name, int32_t depth, int32_t channels);
// What arm_fully_connected_per_channel_s8 takes as its context: bias and sum of each row of weights, or null.
const int32_t *bench_linear_sums(int32_t depth, int32_t channels);
// Layers that one library alone has.
void bench_additional(void);

#endif  // CORTEX_M_NN_BENCH_BENCH_H_
