// Which kernel a core takes for given sizes, asked on the host: what reports say of a layer. The names are those of the
// kernels' files. NULL where no kernel takes the sizes, and where the kernel library that is linked in is not ours.
#ifndef CORTEX_M_NN_EXPORTER_KERNELS_H_
#define CORTEX_M_NN_EXPORTER_KERNELS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// set: a cortex_m_nn_isa, or this: no more than scalar, but with Thumb-2 (Armv7-M).
#define CORTEX_M_NN_SET_THUMB2 3

// The other arguments as of the functions for scratch sizes (buffer_sizes.h).
const char *cortex_m_nn_convolve_s8_kernel(int set, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                           const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                           const int32_t stride_hw[2], const int32_t dilation_hw[2]);
const char *cortex_m_nn_depthwise_conv_s8_kernel(int set, const int32_t input_nhwc[4], const int32_t filter_nhwc[4],
                                                 const int32_t output_nhwc[4], const int32_t padding_hw[2],
                                                 const int32_t stride_hw[2], const int32_t dilation_hw[2],
                                                 int32_t ch_mult);

#ifdef __cplusplus
}
#endif

#endif  // CORTEX_M_NN_EXPORTER_KERNELS_H_
