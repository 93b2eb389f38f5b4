#include "cortex_m/nn/additional.h"
#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/quantization.h"

namespace cortex_m::ops {

namespace {

void Dequantize(const int8_t* x, int32_t step, float* y, int32_t count, const cortex_m_nn_quantization& q) {
  cortex_m_nn_dequantize_s8(x, step, y, count, &q);
}

void Dequantize(const int16_t* x, int32_t step, float* y, int32_t count, const cortex_m_nn_quantization& q) {
  for (int32_t i = 0; i < count; ++i) y[i] = cortex_m_nn_dequantize(x[i * step], &q);
}

template <typename T>
void DequantizeFromNhwc(const T* x, float* y, const int32_t strides[4], const cmsis_nn_dims& dims,
                        const cortex_m_nn_quantization& q) {
  ForEachRun(strides, dims, [&](int32_t offset, int32_t nhwc_offset, int32_t count, int32_t step) {
    Dequantize(x + nhwc_offset, step, y + offset, count, q);
  });
}

}  // namespace

Status dequantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                                 int64_t quant_min, int64_t quant_max, ScalarType dtype, const Tensor& out) {
  if (out.dtype != ScalarType::kFloat) return context.Fail("dequantize_per_tensor: the output must be float32");
  if (input.dtype != dtype) return context.Fail("dequantize_per_tensor: the input has another type than dtype");
  if (!SameLayout(input, out)) {
    return context.Fail("dequantize_per_tensor: input and output have different sizes or dim orders");
  }
  cortex_m_nn_quantization q;
  CORTEX_M_RETURN_IF_ERROR(ReadQuantization(context, scale, zero_point, quant_min, quant_max, dtype, &q));
  const int32_t count = static_cast<int32_t>(ElementCount(input));
  if (dtype == ScalarType::kChar) {
    Dequantize(input.as<int8_t>(), 1, out.mutable_as<float>(), count, q);
  } else {
    Dequantize(input.as<int16_t>(), 1, out.mutable_as<float>(), count, q);
  }
  return Status();
}

Status dequantize_from_nhwc_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                                int64_t quant_min, int64_t quant_max, ScalarType dtype, const Tensor& out) {
  if (out.dtype != ScalarType::kFloat) return context.Fail("dequantize_from_nhwc: the output must be float32");
  if (input.dtype != dtype) return context.Fail("dequantize_from_nhwc: the input has another type than dtype");
  cmsis_nn_dims dims;
  if (out.rank != 4 || !ReadContiguous4(input, &dims)) {
    return context.Fail(
        "dequantize_from_nhwc: the input must be contiguous of rank 4, the output have rank 4, neither empty");
  }
  if (out.sizes[0] != dims.n || out.sizes[1] != dims.c || out.sizes[2] != dims.h || out.sizes[3] != dims.w) {
    return context.Fail("dequantize_from_nhwc: the input's sizes are not the output's in the order N, H, W, C");
  }
  cortex_m_nn_quantization q;
  CORTEX_M_RETURN_IF_ERROR(ReadQuantization(context, scale, zero_point, quant_min, quant_max, dtype, &q));
  int32_t strides[4];
  ReadStrides(out, strides);
  if (dtype == ScalarType::kChar) {
    DequantizeFromNhwc(input.as<int8_t>(), out.mutable_as<float>(), strides, dims, q);
  } else {
    DequantizeFromNhwc(input.as<int16_t>(), out.mutable_as<float>(), strides, dims, q);
  }
  return Status();
}

}  // namespace cortex_m::ops
