// Packing of weights for any core, on the host: what the exporter calls (through ctypes, libcortex_m_nn.so).
//
// isa: cortex_m_nn_isa. Shapes are int32[4] NHWC, filter {C_OUT, KH, KW, C_IN / groups}; padding, stride and dilation int32[2]
// {h, w}; multiplier and shift int32[C_OUT].
#ifndef CORTEX_M_NN_EXPORTER_PACKING_H_
#define CORTEX_M_NN_EXPORTER_PACKING_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The packing (cortex_m_nn_packing) of a convolution for that core, and the bytes of the packed weights and of the operator's
// scratch; 0 if the plain operator is to be taken.
int32_t cortex_m_nn_plan_packed_conv(int isa, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                     const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                     const int32_t stride_hw[2], const int32_t dilation_hw[2], int32_t *packed_bytes,
                                     int32_t *scratch_bytes);
// Writes the packed weights of a convolution in one group; false if a value is none that its kernels take, and the plain operator is
// to be taken after all. bias may be null.
bool cortex_m_nn_write_packed_conv(const int32_t filter_nhwc[4], int32_t input_offset, const int8_t *filter,
                                   const int32_t *bias, const int32_t *multiplier, const int32_t *shift,
                                   int8_t *packed);

// The same for a depthwise convolution; filter {1, KH, KW, C_OUT}.
int32_t cortex_m_nn_plan_packed_depthwise_conv(int isa, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                               const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                               const int32_t stride_hw[2], const int32_t dilation_hw[2],
                                               int32_t *packed_bytes, int32_t *scratch_bytes);
bool cortex_m_nn_write_packed_depthwise_conv(const int32_t filter_nhwc[4], int32_t input_offset, const int8_t *filter,
                                             const int32_t *bias, const int32_t *multiplier, const int32_t *shift,
                                             int8_t *packed);

// The same for a linear layer of rows of `depth` values; weights [channels, depth], the input offset's share in the bias.
int32_t cortex_m_nn_plan_packed_linear(int isa, int32_t depth, int32_t channels, int32_t *packed_bytes,
                                       int32_t *scratch_bytes);
bool cortex_m_nn_write_packed_linear(int32_t depth, int32_t channels, const int8_t *weights, const int32_t *bias,
                                     const int32_t *multiplier, const int32_t *shift, int8_t *packed);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_NN_EXPORTER_PACKING_H_
