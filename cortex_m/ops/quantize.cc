#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/quantization.h"

namespace cortex_m::ops {

namespace {

template <typename T>
void Quantize(const float* x, size_t count, const Quantization& q, T* y) {
  for (size_t i = 0; i < count; ++i) y[i] = static_cast<T>(QuantizeValue(x[i], q));
}

// x has element strides of its NCHW dimensions; y is dense NHWC.
template <typename T>
void QuantizeToNhwc(const float* x, const int32_t strides[4], const cmsis_nn_dims& dims, const Quantization& q, T* y) {
  for (int32_t n = 0; n < dims.n; ++n) {
    for (int32_t h = 0; h < dims.h; ++h) {
      for (int32_t w = 0; w < dims.w; ++w) {
        const float* pixel = x + n * strides[0] + h * strides[2] + w * strides[3];
        for (int32_t c = 0; c < dims.c; ++c) *y++ = static_cast<T>(QuantizeValue(pixel[c * strides[1]], q));
      }
    }
  }
}

}  // namespace

Status quantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                               int64_t quant_min, int64_t quant_max, ScalarType dtype, const Tensor& out) {
  if (input.dtype != ScalarType::kFloat) return context.Fail("quantize_per_tensor: the input must be float32");
  if (out.dtype != dtype) return context.Fail("quantize_per_tensor: the output has another type than dtype");
  if (!SameLayout(input, out)) {
    return context.Fail("quantize_per_tensor: input and output have different sizes or dim orders");
  }
  Quantization q;
  CORTEX_M_RETURN_IF_ERROR(ReadQuantization(context, scale, zero_point, quant_min, quant_max, dtype, &q));
  const size_t count = ElementCount(input);
  if (dtype == ScalarType::kChar) {
    Quantize(input.as<float>(), count, q, out.mutable_as<int8_t>());
  } else {
    Quantize(input.as<float>(), count, q, out.mutable_as<int16_t>());
  }
  return Status();
}

Status quantize_to_nhwc_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                            int64_t quant_min, int64_t quant_max, ScalarType dtype, const Tensor& out) {
  if (input.dtype != ScalarType::kFloat) return context.Fail("quantize_to_nhwc: the input must be float32");
  if (out.dtype != dtype) return context.Fail("quantize_to_nhwc: the output has another type than dtype");
  cmsis_nn_dims dims;
  if (input.rank != 4 || !ReadContiguous4(out, &dims)) {
    return context.Fail("quantize_to_nhwc: input must have rank 4, the output be contiguous of rank 4, neither empty");
  }
  if (input.sizes[0] != dims.n || input.sizes[1] != dims.c || input.sizes[2] != dims.h || input.sizes[3] != dims.w) {
    return context.Fail("quantize_to_nhwc: the output's sizes are not the input's in the order N, H, W, C");
  }
  Quantization q;
  CORTEX_M_RETURN_IF_ERROR(ReadQuantization(context, scale, zero_point, quant_min, quant_max, dtype, &q));
  int32_t strides[4];
  ReadStrides(input, strides);
  if (dtype == ScalarType::kChar) {
    QuantizeToNhwc(input.as<float>(), strides, dims, q, out.mutable_as<int8_t>());
  } else {
    QuantizeToNhwc(input.as<float>(), strides, dims, q, out.mutable_as<int16_t>());
  }
  return Status();
}

}  // namespace cortex_m::ops
