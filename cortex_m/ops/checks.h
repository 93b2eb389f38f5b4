// What the operators check of their arguments, and how they hand them to the kernels.
//
//   cmsis_nn_dims dims;
//   if (!ReadImage(input, layout, &dims)) return context.Fail("quantized_conv2d: input is not ...");
#ifndef CORTEX_M_OPS_CHECKS_H_
#define CORTEX_M_OPS_CHECKS_H_

#include <cstdint>

#include "arm_nnfunctions.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m::ops {

// How the images of an operator's two variants are written; in memory both are N, H, W, C.
enum class Layout {
  kChannelsLast,  // sizes N, C, H, W; channels_last memory
  kNhwc,          // sizes N, H, W, C; contiguous
};

// Sizes of an image as the kernels want them; false if it is not of rank 4, lies otherwise in memory, or is empty.
bool ReadImage(const Tensor& tensor, Layout layout, cmsis_nn_dims* dims);

// Sizes of a contiguous tensor of rank 4, in their order; false otherwise.
bool ReadContiguous4(const Tensor& tensor, cmsis_nn_dims* dims);

// The values of a contiguous int32 tensor of `count` elements; null for any other tensor.
const int32_t* Int32Values(const Tensor& tensor, int32_t count);

// {height, width} from a list of two values, or of one for both; false for other lists or values outside low..high.
bool ReadTile(IntList list, int32_t low, int32_t high, cmsis_nn_tile* tile);

// Whether `value` lies in low..high; if so, stores it.
bool Narrow(int64_t value, int32_t low, int32_t high, int32_t* out);

// Whether -128 <= min <= max <= 127; if so, stores them.
bool ReadActivation(int64_t min, int64_t max, cmsis_nn_activation* activation);

// -2^31 is no multiplier: Helium's doubling multiplication saturates where both factors are -2^31, and other cores wrap.
constexpr int32_t kMinMultiplier = -INT32_MAX;

// Whether each pair of multiplier and shift is one that all kernels take alike: the shift in -31..30.
bool RequantizationIsValid(const int32_t* multipliers, const int32_t* shifts, int32_t count);

// Element strides of a tensor of rank <= 4, from its dim order.
void ReadStrides(const Tensor& tensor, int32_t strides[4]);

// True if the elements of dimension `dim` are neighbours in memory (always so if there is only one).
bool IsInnermost(const Tensor& tensor, int dim);

// Output size of a convolution or pooling along one axis; at least 1, or 0 if the window does not fit.
int64_t OutputSize(int32_t input, int32_t kernel, int32_t stride, int32_t padding, int32_t dilation, bool ceil_mode);

// Scratch for a kernel: null and 0 for an empty tensor.
cmsis_nn_context Scratch(const Tensor& scratch);

}  // namespace cortex_m::ops

#endif  // CORTEX_M_OPS_CHECKS_H_
