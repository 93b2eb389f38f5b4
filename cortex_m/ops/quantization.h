// quantize and dequantize: their parameters, checked, and the order in which they change the layout on the way.
#ifndef CORTEX_M_OPS_QUANTIZATION_H_
#define CORTEX_M_OPS_QUANTIZATION_H_

#include <cstdint>

#include "arm_nnfunctions.h"
#include "cortex_m/nn/quantization.h"
#include "cortex_m/runtime/kernel.h"

namespace cortex_m::ops {

// dtype: of the quantized tensor, int8 or int16.
Status ReadQuantization(KernelContext& context, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max,
                        ScalarType dtype, cortex_m_nn_quantization* quantization);

// A dimension of more than one element: of a dense tensor with any dim order, and of its dense NHWC twin.
struct Axis {
  int32_t size = 1;
  int32_t stride = 0, nhwc_stride = 0;
};

// Visits all elements of an image in runs of neighbours: run(offset, nhwc_offset, count, step), where the elements of a run
// are one apart in the tensor and `step` apart in its twin. strides: of the tensor's NCHW dimensions.
template <typename Run>
void ForEachRun(const int32_t strides[4], const cmsis_nn_dims& dims, Run run) {
  const Axis nhwc[] = {{dims.n, strides[0], dims.h * dims.w * dims.c},
                       {dims.h, strides[2], dims.w * dims.c},
                       {dims.w, strides[3], dims.c},
                       {dims.c, strides[1], 1}};
  Axis axes[4];
  int count = 0;
  for (const Axis& axis : nhwc) {
    if (axis.size == 1) continue;
    Axis* outer = count == 0 ? nullptr : &axes[count - 1];
    if (outer != nullptr && outer->stride == axis.size * axis.stride &&
        outer->nhwc_stride == axis.size * axis.nhwc_stride) {
      *outer = {outer->size * axis.size, axis.stride, axis.nhwc_stride};  // one follows the other in both
    } else {
      axes[count++] = axis;
    }
  }
  Axis neighbours = {1, 1,
                     1};  // the axis whose elements are neighbours in the tensor; there is one unless all sizes are 1
  for (Axis& axis : axes) {
    if (axis.stride != 1) continue;
    neighbours = axis;
    axis = Axis();
  }
  for (int32_t a = 0; a < axes[0].size; ++a) {
    for (int32_t b = 0; b < axes[1].size; ++b) {
      for (int32_t c = 0; c < axes[2].size; ++c) {
        for (int32_t d = 0; d < axes[3].size; ++d) {
          run(a * axes[0].stride + b * axes[1].stride + c * axes[2].stride + d * axes[3].stride,
              a * axes[0].nhwc_stride + b * axes[1].nhwc_stride + c * axes[2].nhwc_stride + d * axes[3].nhwc_stride,
              neighbours.size, neighbours.nhwc_stride);
        }
      }
    }
  }
}

}  // namespace cortex_m::ops

#endif  // CORTEX_M_OPS_QUANTIZATION_H_
