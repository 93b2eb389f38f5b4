// Kernels beyond CMSIS-NN's interface. They stand beside it: operators call them whichever library is linked in, so this header
// knows neither library's structs. Tensors are dense and NHWC; sizes and parameters are trusted (the caller has checked
// them), accumulators wrap as everywhere (docs/numerics.md).
#ifndef CORTEX_M_NN_ADDITIONAL_H_
#define CORTEX_M_NN_ADDITIONAL_H_

#include <stdbool.h>
#include <stdint.h>

#include "isa.h"
#include "quantization.h"

#ifdef __cplusplus
extern "C" {
#endif

// One axis of a sliding window.
typedef struct {
  int32_t input;
  int32_t output;
  int32_t kernel;
  int32_t stride;
  int32_t padding;
  int32_t dilation;
} cortex_m_nn_window_axis;

// Transposed convolution with any stride, dilation and groups. Input pixel i and kernel index k meet in output pixel
// i * stride - padding + k * dilation; an output that nothing meets is its bias. filter [C_OUT, KH, KW, C_IN / groups].
typedef struct {
  const int8_t *input;
  const int8_t *filter;
  const int32_t *bias;                // or null
  const int32_t *multiplier, *shift;  // one for each output channel
  int8_t *out;
  int32_t batch, input_channels, output_channels, groups;
  cortex_m_nn_window_axis rows, columns;
  int32_t input_offset, output_offset, activation_min, activation_max;
} cortex_m_nn_transpose_conv_args;

// Whether it takes this function: CMSIS-NN's interface has no groups and no dilation, and leaves open what an output size
// beyond its own means. The exporter asks too, as this function needs no scratch.
static inline bool cortex_m_nn_transpose_conv_is_general(int32_t groups, int32_t dilation_h, int32_t dilation_w,
                                                         int32_t output_padding_h, int32_t output_padding_w) {
  return groups != 1 || dilation_h != 1 || dilation_w != 1 || output_padding_h != 0 || output_padding_w != 0;
}

void cortex_m_nn_transpose_conv_s8(const cortex_m_nn_transpose_conv_args *args);
// The same without special instructions: what the variant for a core is tested against.
void cortex_m_nn_transpose_conv_scalar(const cortex_m_nn_transpose_conv_args *args);

// ---- Convolution whose weights the exporter has packed for the inner loop of a core's kernel, one group of channels.
typedef enum {
  CORTEX_M_NN_PACKING_NONE = 0,  // no kernel is better off with it: the plain operator
  // For each pair of output channels: for each 16 values of a window (kernel row, kernel column, channel; zeros behind the
  // last) the first channel's 16 weights, then the second's. After them as int32 both channels' biases, multipliers and
  // shifts. A bias has its share of the input offset: bias + input_offset * sum(weights), modulo 2^32.
  CORTEX_M_NN_PACKING_PAIRS_OF_16 = 1,
  // Depthwise, 3x3. For each 16 channels: for each tap (kernel row, kernel column) 16 weights. After them, for the channels 0, 4, 8,
  // 12 of these, then for 2, 6, 10, 14, for 1, 5, 9, 13 and for 3, 7, 11, 15, as int32 four biases (as above), four multipliers and
  // four shifts.
  CORTEX_M_NN_PACKING_TAPS_OF_16 = 2,
  // Linear. For each four output channels: for each four input values (zeros behind the last) eight int16, each 256 * w[c] + w[c + 1]
  // for a value and a pair of channels: values 0 and 2 of channels 0 and 1, the same of channels 2 and 3, then values 1 and 3. After
  // them as int32 four biases (as above), four multipliers and four shifts.
  CORTEX_M_NN_PACKING_FOURS_OF_PAIRS = 3,
} cortex_m_nn_packing;

typedef struct {
  const int8_t *input;
  const int8_t *packed;  // aligned to 4 bytes
  int8_t *out;
  int32_t batch, input_channels, output_channels;
  cortex_m_nn_window_axis rows, columns;
  int32_t input_offset, output_offset, activation_min, activation_max;
} cortex_m_nn_packed_conv_args;

// The packing that pays for these sizes on a core: asked by the exporter, and by the operator for the core that it runs on. Of
// args the pointers and what follows the axes do not count.
cortex_m_nn_packing cortex_m_nn_packed_conv_packing(cortex_m_nn_isa isa, const cortex_m_nn_packed_conv_args *args);
// Whether a channel's parameters are among those that packed kernels take: factors that are positive and below 1/2.
static inline bool cortex_m_nn_packed_requantization_is_valid(int32_t multiplier, int32_t shift) {
  return multiplier > 0 && shift >= -31 && shift < 0;
}
// Whether all values among the packed bytes are such as the kernels take. The bytes come from a program, and nothing else checks them.
bool cortex_m_nn_packed_conv_is_valid(const cortex_m_nn_packed_conv_args *args);
// Sizes in bytes; -1 where they do not fit an int32.
int32_t cortex_m_nn_packed_conv_bytes(const cortex_m_nn_packed_conv_args *args);
int32_t cortex_m_nn_packed_conv_scratch_bytes(const cortex_m_nn_packed_conv_args *args);
// filter [C_OUT, KH, KW, C_IN]; bias may be null. Of args only sizes and input_offset count.
void cortex_m_nn_pack_conv(const cortex_m_nn_packed_conv_args *args, const int8_t *filter, const int32_t *bias,
                           const int32_t *multiplier, const int32_t *shift, int8_t *packed);

void cortex_m_nn_packed_conv_s8(const cortex_m_nn_packed_conv_args *args, void *scratch);
// The same without special instructions and without scratch.
void cortex_m_nn_packed_conv_scalar(const cortex_m_nn_packed_conv_args *args);

// The same for a depthwise convolution with as many output channels as input channels. filter [1, 3, 3, C].
cortex_m_nn_packing cortex_m_nn_packed_depthwise_conv_packing(cortex_m_nn_isa isa,
                                                              const cortex_m_nn_packed_conv_args *args);
// The products of two taps must fit 16 bits together, too: no weight may be -128.
bool cortex_m_nn_packed_depthwise_conv_is_valid(const cortex_m_nn_packed_conv_args *args);
int32_t cortex_m_nn_packed_depthwise_conv_bytes(const cortex_m_nn_packed_conv_args *args);
int32_t cortex_m_nn_packed_depthwise_conv_scratch_bytes(const cortex_m_nn_packed_conv_args *args);
void cortex_m_nn_pack_depthwise_conv(const cortex_m_nn_packed_conv_args *args, const int8_t *filter,
                                     const int32_t *bias, const int32_t *multiplier, const int32_t *shift,
                                     int8_t *packed);
void cortex_m_nn_packed_depthwise_conv_s8(const cortex_m_nn_packed_conv_args *args, void *scratch);
void cortex_m_nn_packed_depthwise_conv_scalar(const cortex_m_nn_packed_conv_args *args);

typedef struct {
  const int8_t *input;   // [rows, depth]
  const int8_t *packed;  // aligned to 4 bytes
  int8_t *out;           // [rows, channels]
  int32_t rows, depth, channels;
  int32_t output_offset, activation_min, activation_max;
} cortex_m_nn_packed_linear_args;

// The same for a linear layer. weights [channels, depth]; the bias has the input offset's share already.
cortex_m_nn_packing cortex_m_nn_packed_linear_packing(cortex_m_nn_isa isa, const cortex_m_nn_packed_linear_args *args);
bool cortex_m_nn_packed_linear_is_valid(const cortex_m_nn_packed_linear_args *args);
int32_t cortex_m_nn_packed_linear_bytes(const cortex_m_nn_packed_linear_args *args);
int32_t cortex_m_nn_packed_linear_scratch_bytes(const cortex_m_nn_packed_linear_args *args);
// False for weights that have no packed form: an even channel's sums, of 24 bits in every variant, must fit, and so must each pair
// of weights in 16.
bool cortex_m_nn_pack_linear(const cortex_m_nn_packed_linear_args *args, const int8_t *weights, const int32_t *bias,
                             const int32_t *multiplier, const int32_t *shift, int8_t *packed);
void cortex_m_nn_packed_linear_s8(const cortex_m_nn_packed_linear_args *args, void *scratch);
void cortex_m_nn_packed_linear_scalar(const cortex_m_nn_packed_linear_args *args);

// Maximum over windows with gaps. Padding does not count; each window must touch the input.
typedef struct {
  const int8_t *input;
  int8_t *out;
  int32_t batch, channels;
  cortex_m_nn_window_axis rows, columns;
  int32_t activation_min, activation_max;
} cortex_m_nn_max_pool_args;

void cortex_m_nn_max_pool_dilated_s8(const cortex_m_nn_max_pool_args *args);

// output[i] = table[input[i] + 128]. table: 256 entries. Input and output may be the same memory.
void cortex_m_nn_lookup_s8(const int8_t *input, const int8_t *table, int8_t *output, int32_t count);
// The same without special instructions.
void cortex_m_nn_lookup_scalar(const int8_t *input, const int8_t *table, int8_t *output, int32_t count);

// PReLU: rows of `channels` values, each minus the zero point and requantized: by the channel's factor if negative.
typedef struct {
  const int8_t *input;
  int8_t *out;
  const int32_t *negative_multiplier, *negative_shift;  // one for each channel
  int32_t rows, channels;
  int32_t multiplier, shift;
  int32_t input_offset, output_offset;
} cortex_m_nn_prelu_args;

void cortex_m_nn_prelu_s8(const cortex_m_nn_prelu_args *args);
// The same without special instructions.
void cortex_m_nn_prelu_scalar(const cortex_m_nn_prelu_args *args);

// output[i * step] = the quantized input[i]; `quantization` in the range of int8, step at least 1. Input and output overlap
// nowhere.
void cortex_m_nn_quantize_s8(const float *input, int8_t *output, int32_t step, int32_t count,
                             const cortex_m_nn_quantization *quantization);

// output[i] = the real number that input[i * step] stands for.
void cortex_m_nn_dequantize_s8(const int8_t *input, int32_t step, float *output, int32_t count,
                               const cortex_m_nn_quantization *quantization);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_NN_ADDITIONAL_H_
