// What CMSIS-NN wants beside a plain call: it packs no weights, and its linear layers on cores with MVE take the sums of the rows of
// weights, which a firmware computes once, when it starts.
#include <stddef.h>

#include "arm_nnfunctions.h"
#include "cortex_m/nn/bench/bench.h"

bool bench_packed_convolution(const convolution *c) {
  (void)c;
  return false;
}

bool bench_packed_depthwise(const convolution *c) {
  (void)c;
  return false;
}

bool bench_packed_linear(const char *name, int32_t depth, int32_t channels) {
  (void)name;
  (void)depth;
  (void)channels;
  return false;
}

const int32_t *bench_linear_sums(int32_t depth, int32_t channels) {
  static int32_t sums[kChannels];
  arm_vector_sum_s8(sums, depth, channels, bench_weights, 0, 0, bench_bias);
  return sums;
}

void bench_additional(void) {}
