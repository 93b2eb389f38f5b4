// Scratch sizes for any core, asked on the host: what the exporter calls (through ctypes, libcortex_m_nn.so).
//
// isa: cortex_m_nn_isa. Shapes are int32[4] NHWC; padding, stride and dilation int32[2] {h, w}. Bytes, or -1 if no kernel
// takes these sizes. The answer is that of the kernel library that is linked in, ours or CMSIS-NN.
#ifndef CORTEX_M_NN_EXPORTER_BUFFER_SIZES_H_
#define CORTEX_M_NN_EXPORTER_BUFFER_SIZES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// filter_nhwc {C_OUT, KH, KW, C_IN / groups}
int32_t cortex_m_nn_convolve_s8_buffer_size(int isa, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                            const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                            const int32_t stride_hw[2], const int32_t dilation_hw[2]);
// filter_nhwc {1, KH, KW, C_OUT}. input_nhwc[0] must be 1 for CMSIS-NN: a batch is run image by image.
int32_t cortex_m_nn_depthwise_conv_s8_buffer_size(int isa, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                                  const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                                  const int32_t stride_hw[2], const int32_t dilation_hw[2],
                                                  int32_t ch_mult);
// filter_nhwc {C_OUT, KH, KW, C_IN / groups}; the scratch and the output_scratch of the operator.
int32_t cortex_m_nn_transpose_conv_s8_buffer_size(int isa, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                                  const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                                  const int32_t stride_hw[2], const int32_t dilation_hw[2],
                                                  const int32_t output_padding_hw[2]);
int32_t cortex_m_nn_transpose_conv_s8_output_buffer_size(int isa, const int32_t input_nhwc[4],
                                                         const int32_t filter_nhwc[4], const int32_t output_nhwc[4],
                                                         const int32_t padding_hw[2], const int32_t stride_hw[2],
                                                         const int32_t dilation_hw[2],
                                                         const int32_t output_padding_hw[2]);
int32_t cortex_m_nn_avgpool_s8_buffer_size(int isa, int32_t output_width, int32_t channels);
// depth values in, channels out; a batch matmul asks with its columns as channels.
int32_t cortex_m_nn_fully_connected_s8_buffer_size(int isa, int32_t depth, int32_t channels);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_NN_EXPORTER_BUFFER_SIZES_H_
