#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/quantization.h"

namespace cortex_m::ops {

namespace {

template <typename T>
void Dequantize(const T* x, size_t count, const Quantization& q, float* y) {
  for (size_t i = 0; i < count; ++i) y[i] = DequantizeValue(x[i], q);
}

// x is dense NHWC; y has element strides of its NCHW dimensions.
template <typename T>
void DequantizeFromNhwc(const T* x, const int32_t strides[4], const cmsis_nn_dims& dims, const Quantization& q, float* y) {
  for (int32_t n = 0; n < dims.n; ++n) {
    for (int32_t h = 0; h < dims.h; ++h) {
      for (int32_t w = 0; w < dims.w; ++w) {
        float* pixel = y + n * strides[0] + h * strides[2] + w * strides[3];
        for (int32_t c = 0; c < dims.c; ++c) pixel[c * strides[1]] = DequantizeValue(*x++, q);
      }
    }
  }
}

}  // namespace

Status dequantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                                 int64_t quant_min, int64_t quant_max, ScalarType dtype, const Tensor& out) {
  if (out.dtype != ScalarType::kFloat) return context.Fail("dequantize_per_tensor: the output must be float32");
  if (input.dtype != dtype) return context.Fail("dequantize_per_tensor: the input has another type than dtype");
  if (!SameLayout(input, out)) {
    return context.Fail("dequantize_per_tensor: input and output have different sizes or dim orders");
  }
  Quantization q;
  CORTEX_M_RETURN_IF_ERROR(ReadQuantization(context, scale, zero_point, quant_min, quant_max, dtype, &q));
  const size_t count = ElementCount(input);
  if (dtype == ScalarType::kChar) {
    Dequantize(input.as<int8_t>(), count, q, out.mutable_as<float>());
  } else {
    Dequantize(input.as<int16_t>(), count, q, out.mutable_as<float>());
  }
  return Status();
}

Status dequantize_from_nhwc_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                                int64_t quant_min, int64_t quant_max, ScalarType dtype, const Tensor& out) {
  if (out.dtype != ScalarType::kFloat) return context.Fail("dequantize_from_nhwc: the output must be float32");
  if (input.dtype != dtype) return context.Fail("dequantize_from_nhwc: the input has another type than dtype");
  cmsis_nn_dims dims;
  if (out.rank != 4 || !ReadContiguous4(input, &dims)) {
    return context.Fail("dequantize_from_nhwc: the input must be contiguous of rank 4, the output have rank 4, neither empty");
  }
  if (out.sizes[0] != dims.n || out.sizes[1] != dims.c || out.sizes[2] != dims.h || out.sizes[3] != dims.w) {
    return context.Fail("dequantize_from_nhwc: the input's sizes are not the output's in the order N, H, W, C");
  }
  Quantization q;
  CORTEX_M_RETURN_IF_ERROR(ReadQuantization(context, scale, zero_point, quant_min, quant_max, dtype, &q));
  int32_t strides[4];
  ReadStrides(out, strides);
  if (dtype == ScalarType::kChar) {
    DequantizeFromNhwc(input.as<int8_t>(), strides, dims, q, out.mutable_as<float>());
  } else {
    DequantizeFromNhwc(input.as<int16_t>(), strides, dims, q, out.mutable_as<float>());
  }
  return Status();
}

}  // namespace cortex_m::ops
