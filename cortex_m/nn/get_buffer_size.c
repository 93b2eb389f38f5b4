// Each arm_*_get_buffer_size function: the plan's answer, for the instruction set compiled for or the one in the name.
#include "arm_nnfunctions.h"
#include "dispatch.h"

int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *conv_params,
                                                const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                const cmsis_nn_dims *output_dims) {
  return cortex_m_nn_plan_convolve_s8(CORTEX_M_NN_COMPILED_ISA, conv_params, input_dims, filter_dims, output_dims)
      .scratch_bytes;
}

int32_t arm_convolve_wrapper_s8_get_buffer_size_mve(const cmsis_nn_conv_params *conv_params,
                                                    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                    const cmsis_nn_dims *output_dims) {
  return cortex_m_nn_plan_convolve_s8(CORTEX_M_NN_ISA_MVE, conv_params, input_dims, filter_dims, output_dims)
      .scratch_bytes;
}

int32_t arm_convolve_wrapper_s8_get_buffer_size_dsp(const cmsis_nn_conv_params *conv_params,
                                                    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                    const cmsis_nn_dims *output_dims) {
  return cortex_m_nn_plan_convolve_s8(CORTEX_M_NN_ISA_DSP, conv_params, input_dims, filter_dims, output_dims)
      .scratch_bytes;
}

int32_t arm_convolve_s8_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return cortex_m_nn_convolve_columns_bytes(CORTEX_M_NN_COMPILED_ISA, input_dims, filter_dims);
}

int32_t arm_convolve_1x1_s8_fast_get_buffer_size(const cmsis_nn_dims *input_dims) {
  (void)input_dims;
  return 0;
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                      const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                      const cmsis_nn_dims *output_dims) {
  return cortex_m_nn_plan_depthwise_conv_s8(CORTEX_M_NN_COMPILED_ISA, dw_conv_params, input_dims, filter_dims,
                                            output_dims)
      .scratch_bytes;
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size_mve(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                          const cmsis_nn_dims *input_dims,
                                                          const cmsis_nn_dims *filter_dims,
                                                          const cmsis_nn_dims *output_dims) {
  return cortex_m_nn_plan_depthwise_conv_s8(CORTEX_M_NN_ISA_MVE, dw_conv_params, input_dims, filter_dims, output_dims)
      .scratch_bytes;
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size_dsp(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                          const cmsis_nn_dims *input_dims,
                                                          const cmsis_nn_dims *filter_dims,
                                                          const cmsis_nn_dims *output_dims) {
  return cortex_m_nn_plan_depthwise_conv_s8(CORTEX_M_NN_ISA_DSP, dw_conv_params, input_dims, filter_dims, output_dims)
      .scratch_bytes;
}

// Fully connected and average pooling keep their sums in registers on every instruction set.
int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter_dims) {
  (void)filter_dims;
  return 0;
}

int32_t arm_fully_connected_s8_get_buffer_size_mve(const cmsis_nn_dims *filter_dims) {
  (void)filter_dims;
  return 0;
}

int32_t arm_fully_connected_s8_get_buffer_size_dsp(const cmsis_nn_dims *filter_dims) {
  (void)filter_dims;
  return 0;
}

int32_t arm_avgpool_s8_get_buffer_size(int dim_dst_width, int ch_src) {
  (void)dim_dst_width;
  (void)ch_src;
  return 0;
}

int32_t arm_avgpool_s8_get_buffer_size_mve(int dim_dst_width, int ch_src) {
  (void)dim_dst_width;
  (void)ch_src;
  return 0;
}

int32_t arm_avgpool_s8_get_buffer_size_dsp(int dim_dst_width, int ch_src) {
  (void)dim_dst_width;
  (void)ch_src;
  return 0;
}

// A transposed convolution collects what each output value needs, and so keeps nothing either.
int32_t arm_transpose_conv_s8_get_buffer_size(const cmsis_nn_transpose_conv_params *transposed_conv_params,
                                              const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                              const cmsis_nn_dims *out_dims) {
  (void)transposed_conv_params;
  (void)input_dims;
  (void)filter_dims;
  (void)out_dims;
  return 0;
}

int32_t arm_transpose_conv_s8_get_buffer_size_mve(const cmsis_nn_transpose_conv_params *transposed_conv_params,
                                                  const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                  const cmsis_nn_dims *out_dims) {
  (void)transposed_conv_params;
  (void)input_dims;
  (void)filter_dims;
  (void)out_dims;
  return 0;
}

int32_t arm_transpose_conv_s8_get_reverse_conv_buffer_size(const cmsis_nn_transpose_conv_params *transposed_conv_params,
                                                           const cmsis_nn_dims *input_dims,
                                                           const cmsis_nn_dims *filter_dims) {
  (void)transposed_conv_params;
  (void)input_dims;
  (void)filter_dims;
  return 0;
}
