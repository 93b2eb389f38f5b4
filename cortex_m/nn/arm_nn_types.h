// Structs and status codes of CMSIS-NN's public API: same names, same fields, same order, so that code written for the one
// library compiles against the other. Shapes are NHWC; a tile is {width, height}.
#ifndef CORTEX_M_NN_ARM_NN_TYPES_H_
#define CORTEX_M_NN_ARM_NN_TYPES_H_

#include <stdbool.h>
#include <stdint.h>

typedef enum {
  ARM_CMSIS_NN_SUCCESS = 0,
  ARM_CMSIS_NN_ARG_ERROR = -1,      // an argument is null, out of range, or contradicts another one
  ARM_CMSIS_NN_NO_IMPL_ERROR = -2,  // valid, but not implemented
  ARM_CMSIS_NN_FAILURE = -3,
} arm_cmsis_nn_status;

typedef struct {
  int32_t w;
  int32_t h;
} cmsis_nn_tile;

// Scratch memory of one call; `size` in bytes. May hold anything before the call and after it.
typedef struct {
  void *buf;
  int32_t size;
} cmsis_nn_context;

typedef struct {
  int32_t n;  // batches of an activation, output channels of a convolution's filter, depth of a fully connected filter
  int32_t h;
  int32_t w;
  int32_t c;
} cmsis_nn_dims;

// One multiplier and one shift for each output channel. Real factor = multiplier * 2^shift / 2^31.
typedef struct {
  int32_t *multiplier;
  int32_t *shift;
} cmsis_nn_per_channel_quant_params;

typedef struct {
  int32_t multiplier;
  int32_t shift;
} cmsis_nn_per_tensor_quant_params;

typedef struct {
  int32_t *multiplier;
  int32_t *shift;
  int32_t is_per_channel;  // 0: element 0 of both arrays serves all channels
} cmsis_nn_quant_params;

typedef struct {
  int32_t min;
  int32_t max;
} cmsis_nn_activation;

// input_offset: minus the zero point of the input, -127..128. output_offset: the zero point of the output, -128..127.
typedef struct {
  int32_t input_offset;
  int32_t output_offset;
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;
  cmsis_nn_tile dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
  int32_t input_offset;
  int32_t output_offset;
  int32_t ch_mult;  // output channels of each input channel
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;
  cmsis_nn_tile dilation;
  cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

// padding_offsets: what the output has beyond the size that stride and padding give; it is not read.
typedef struct {
  int32_t input_offset;
  int32_t output_offset;
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;
  cmsis_nn_tile padding_offsets;
  cmsis_nn_tile dilation;
  cmsis_nn_activation activation;
} cmsis_nn_transpose_conv_params;

typedef struct {
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;
  cmsis_nn_activation activation;
} cmsis_nn_pool_params;

// filter_offset: minus the zero point of the weights; 0 for symmetric ones.
typedef struct {
  int32_t input_offset;
  int32_t filter_offset;
  int32_t output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

// adj_x, adj_y: not read, operands come with their common dimension innermost. In fc_params, input_offset belongs to the
// left operand and filter_offset to the right one.
typedef struct {
  const bool adj_x;
  const bool adj_y;
  cmsis_nn_fc_params fc_params;
} cmsis_nn_bmm_params;

typedef struct {
  const int32_t num_dims;
  const uint32_t *permutations;  // output dimension i is input dimension permutations[i]
} cmsis_nn_transpose_params;

#endif  // CORTEX_M_NN_ARM_NN_TYPES_H_
