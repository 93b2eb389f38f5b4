// The arguments that convolution, depthwise and transposed convolution have in common, and their checks.
#ifndef CORTEX_M_OPS_CONVOLUTION_H_
#define CORTEX_M_OPS_CONVOLUTION_H_

#include "cortex_m/ops/checks.h"
#include "cortex_m/runtime/kernel.h"

namespace cortex_m::ops {

// As they come from the program.
struct ConvolutionArguments {
  const Tensor& input;
  const Tensor& weight;
  const Tensor* bias;
  IntList stride, padding, dilation;
  int64_t input_offset, output_offset;
  const Tensor& multipliers;
  const Tensor& shifts;
  int64_t activation_min, activation_max;
  const Tensor& out;
};

// As the kernels want them.
struct Convolution {
  cmsis_nn_dims input, filter, output;  // filter: the sizes of weight, in their order
  cmsis_nn_tile stride, padding, dilation;
  int32_t input_offset, output_offset;
  cmsis_nn_activation activation;
  const int32_t* bias;  // null: none
  cmsis_nn_per_channel_quant_params quant;

  const int8_t* in;
  const int8_t* weight;
  int8_t* out;
};

// Reads and checks everything but how the channels of input, weight and output go together, and the height and width of the
// output.
Status ReadConvolution(KernelContext& context, Layout layout, const ConvolutionArguments& arguments,
                       Convolution* convolution);

// Whether the channels of input, weight [C_OUT, KH, KW, C_IN / groups] and output form groups.
Status CheckGroups(KernelContext& context, const Convolution& convolution);

// Whether the output has the height and width of a convolution that is not transposed.
Status CheckOutputSize(KernelContext& context, const Convolution& convolution);

}  // namespace cortex_m::ops

#endif  // CORTEX_M_OPS_CONVOLUTION_H_
