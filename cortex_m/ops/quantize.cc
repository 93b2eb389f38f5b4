#include "cortex_m/nn/additional.h"
#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/quantization.h"

namespace cortex_m::ops {

namespace {

void Quantize(const float* x, int8_t* y, int32_t step, int32_t count, const cortex_m_nn_quantization& q) {
  cortex_m_nn_quantize_s8(x, y, step, count, &q);
}

void Quantize(const float* x, int16_t* y, int32_t step, int32_t count, const cortex_m_nn_quantization& q) {
  for (int32_t i = 0; i < count; ++i) y[i * step] = static_cast<int16_t>(cortex_m_nn_quantize(x[i], &q));
}

template <typename T>
void QuantizeToNhwc(const float* x, T* y, const int32_t strides[4], const cmsis_nn_dims& dims,
                    const cortex_m_nn_quantization& q) {
  ForEachRun(strides, dims, [&](int32_t offset, int32_t nhwc_offset, int32_t count, int32_t step) {
    Quantize(x + offset, y + nhwc_offset, step, count, q);
  });
}

}  // namespace

Status quantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                               int64_t quant_min, int64_t quant_max, ScalarType dtype, const Tensor& out) {
  if (input.dtype != ScalarType::kFloat) return context.Fail("quantize_per_tensor: the input must be float32");
  if (out.dtype != dtype) return context.Fail("quantize_per_tensor: the output has another type than dtype");
  if (!SameLayout(input, out)) {
    return context.Fail("quantize_per_tensor: input and output have different sizes or dim orders");
  }
  cortex_m_nn_quantization q;
  CORTEX_M_RETURN_IF_ERROR(ReadQuantization(context, scale, zero_point, quant_min, quant_max, dtype, &q));
  const int32_t count = static_cast<int32_t>(ElementCount(input));
  if (dtype == ScalarType::kChar) {
    Quantize(input.as<float>(), out.mutable_as<int8_t>(), 1, count, q);
  } else {
    Quantize(input.as<float>(), out.mutable_as<int16_t>(), 1, count, q);
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
  cortex_m_nn_quantization q;
  CORTEX_M_RETURN_IF_ERROR(ReadQuantization(context, scale, zero_point, quant_min, quant_max, dtype, &q));
  int32_t strides[4];
  ReadStrides(input, strides);
  if (dtype == ScalarType::kChar) {
    QuantizeToNhwc(input.as<float>(), out.mutable_as<int8_t>(), strides, dims, q);
  } else {
    QuantizeToNhwc(input.as<float>(), out.mutable_as<int16_t>(), strides, dims, q);
  }
  return Status();
}

}  // namespace cortex_m::ops
