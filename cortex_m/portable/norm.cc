// Normalization of float32: layer_norm, group_norm, batch_norm in inference.
//
// Mean and variance are compensated sums in logical order (reduce.h), the variance of distances from the mean; then
// out = (x - mean) * rstd * weight + bias, each operation rounded by itself.

#include <cmath>

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/reduce.h"

namespace cortex_m {
namespace {

using namespace portable;

Status CheckFloats(std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* tensor : tensors) {
    if (tensor == nullptr) continue;
    CORTEX_M_RETURN_IF_ERROR(Check(*tensor));
    if (!IsFloat(tensor->dtype)) return Refuse("normalization is defined for float32 only");
  }
  return Status();
}

struct Moments {
  float mean, rstd;
};

// Of what `loops`, whose operand 1 is the input, goes through.
Moments MomentsOf(const Loops& loops, const float* in, float eps) {
  const auto sum = [&](float from, bool squared) {
    KahanSum total;
    for (Walk walk(loops); !walk.done(); walk.Next()) {
      const float* x = in + walk.offset(1);
      for (int32_t i = 0; i < loops.inner_size(); ++i, x += loops.inner_stride(1)) {
        const float distance = *x - from;
        total.Add(squared ? distance * distance : distance);
      }
    }
    return total.Result();
  };
  size_t count = 0;
  for (Walk walk(loops); !walk.done(); walk.Next()) count += static_cast<size_t>(loops.inner_size());
  Moments moments;
  moments.mean = sum(0, false) / static_cast<float>(count);
  moments.rstd = 1 / std::sqrt(sum(moments.mean, true) / static_cast<float>(count) + eps);
  return moments;
}

// Operands of `loops`: 0 out, 1 in, 2 weight, 3 bias; either of the last two may be null.
void Apply(const Loops& loops, float* out, const float* in, const float* weight, const float* bias, Moments moments) {
  for (Walk walk(loops); !walk.done(); walk.Next()) {
    for (int32_t i = 0; i < loops.inner_size(); ++i) {
      const auto at = [&](int operand) {
        return walk.offset(operand) + static_cast<ptrdiff_t>(i) * loops.inner_stride(operand);
      };
      float y = (in[at(1)] - moments.mean) * moments.rstd;
      if (weight != nullptr) y = y * weight[at(2)];
      if (bias != nullptr) y = y + bias[at(3)];
      out[at(0)] = y;
    }
  }
}

const float* DataOf(const Tensor* tensor) { return tensor == nullptr ? nullptr : tensor->as<float>(); }

}  // namespace

// Over the last dimensions, which are normalized_shape. out1 and out2 (mean and rstd) have 1 in their place.
Status aten::native_layer_norm_out(KernelContext&, const Tensor& input, IntList normalized_shape, const Tensor* weight,
                                   const Tensor* bias, double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  CORTEX_M_RETURN_IF_ERROR(CheckFloats({&input, weight, bias, &out0, &out1, &out2}));
  if (normalized_shape.size == 0 || normalized_shape.size > input.rank) {
    return Refuse("normalized_shape must name 1 to all dimensions");
  }
  const int inner_rank = static_cast<int>(normalized_shape.size);
  const int outer_rank = input.rank - inner_rank;
  if (!SameSizes(input, out0)) return Refuse(kWrongOutSizes);
  int32_t weight_strides[kMaxRank] = {};
  int32_t bias_strides[kMaxRank] = {};
  for (const Tensor* parameter : {weight, bias}) {
    if (parameter != nullptr && !HasSizes(*parameter, normalized_shape.data, inner_rank)) {
      return Refuse("weight and bias must have normalized_shape");
    }
  }
  if (weight != nullptr) StridesOf(*weight, weight_strides);
  if (bias != nullptr) StridesOf(*bias, bias_strides);
  int32_t in_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  int32_t mean_strides[kMaxRank];
  int32_t rstd_strides[kMaxRank];
  StridesOf(input, in_strides);
  StridesOf(out0, out_strides);
  StridesOf(out1, mean_strides);
  StridesOf(out2, rstd_strides);
  if (out1.rank != input.rank || out2.rank != input.rank) return Refuse(kWrongOutSizes);
  Loops outer(4);
  Loops inner(4);
  for (int i = 0; i < input.rank; ++i) {
    const bool kept = i < outer_rank;
    const int32_t size = kept ? input.sizes[i] : 1;
    if (out1.sizes[i] != size || out2.sizes[i] != size) return Refuse(kWrongOutSizes);
    if (kept) {
      outer.Add(size, {out_strides[i], in_strides[i], mean_strides[i], rstd_strides[i]});
      continue;
    }
    const int at = i - outer_rank;
    if (input.sizes[i] != normalized_shape[static_cast<size_t>(at)]) {
      return Refuse("the input does not end with normalized_shape");
    }
    inner.Add(input.sizes[i], {out_strides[i], in_strides[i], weight_strides[at], bias_strides[at]});
  }
  for (Walk walk(outer); !walk.done(); walk.Next()) {
    for (int32_t i = 0; i < outer.inner_size(); ++i) {
      const auto at = [&](int operand) {
        return walk.offset(operand) + static_cast<ptrdiff_t>(i) * outer.inner_stride(operand);
      };
      const float* in = input.as<float>() + at(1);
      const Moments moments = MomentsOf(inner, in, static_cast<float>(eps));
      out1.mutable_as<float>()[at(2)] = moments.mean;
      out2.mutable_as<float>()[at(3)] = moments.rstd;
      Apply(inner, out0.mutable_as<float>() + at(0), in, DataOf(weight), DataOf(bias), moments);
    }
  }
  return Status();
}

// input [N, C, ...] with HxW elements a channel; each group of C / group channels is normalized together. out1 and out2
// are [N, group].
Status aten::native_group_norm_out(KernelContext&, const Tensor& input, const Tensor* weight, const Tensor* bias,
                                   int64_t N, int64_t C, int64_t HxW, int64_t group, double eps, Tensor& out0,
                                   Tensor& out1, Tensor& out2) {
  CORTEX_M_RETURN_IF_ERROR(CheckFloats({&input, weight, bias, &out0, &out1, &out2}));
  if (input.rank < 2 || input.sizes[0] != N || input.sizes[1] != C) return Refuse("the input is not [N, C, ...]");
  if (!FitsInt32(HxW) || static_cast<int64_t>(ElementCount(input)) != N * C * HxW) {
    return Refuse("the input does not have HxW elements a channel");
  }
  if (group <= 0 || C % group != 0) return Refuse("the channels cannot be divided into the groups");
  if (!SameSizes(input, out0)) return Refuse(kWrongOutSizes);
  const int64_t statistics[2] = {N, group};
  if (!HasSizes(out1, statistics, 2) || !HasSizes(out2, statistics, 2)) return Refuse(kWrongOutSizes);
  for (const Tensor* parameter : {weight, bias}) {
    if (parameter != nullptr && (parameter->rank != 1 || parameter->sizes[0] != C)) {
      return Refuse("weight and bias must be [C]");
    }
  }
  int32_t in_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  int32_t mean_strides[2];
  int32_t rstd_strides[2];
  StridesOf(input, in_strides);
  StridesOf(out0, out_strides);
  StridesOf(out1, mean_strides);
  StridesOf(out2, rstd_strides);
  const int32_t channels = static_cast<int32_t>(C / group);
  Loops inner(4);
  inner.Add(channels, {out_strides[1], in_strides[1], 1, 1});
  for (int i = 2; i < input.rank; ++i) inner.Add(input.sizes[i], {out_strides[i], in_strides[i], 0, 0});
  for (int32_t n = 0; n < input.sizes[0]; ++n) {
    for (int32_t g = 0; g < static_cast<int32_t>(group); ++g) {
      const ptrdiff_t first = static_cast<ptrdiff_t>(g) * channels;
      const float* in = input.as<float>() + static_cast<ptrdiff_t>(n) * in_strides[0] + first * in_strides[1];
      float* out = out0.mutable_as<float>() + static_cast<ptrdiff_t>(n) * out_strides[0] + first * out_strides[1];
      const Moments moments = MomentsOf(inner, in, static_cast<float>(eps));
      out1.mutable_as<float>()[n * mean_strides[0] + g * mean_strides[1]] = moments.mean;
      out2.mutable_as<float>()[n * rstd_strides[0] + g * rstd_strides[1]] = moments.rstd;
      Apply(inner, out, in, weight == nullptr ? nullptr : DataOf(weight) + first,
            bias == nullptr ? nullptr : DataOf(bias) + first, moments);
    }
  }
  return Status();
}

// input [N, C, ...]; out1 and out2, which only training fills, have no elements. momentum has no effect.
Status aten::_native_batch_norm_legit_no_training_out(KernelContext&, const Tensor& input, const Tensor* weight,
                                                      const Tensor* bias, const Tensor& running_mean,
                                                      const Tensor& running_var, double, double eps, Tensor& out0,
                                                      Tensor& out1, Tensor& out2) {
  CORTEX_M_RETURN_IF_ERROR(CheckFloats({&input, weight, bias, &running_mean, &running_var, &out0, &out1, &out2}));
  if (input.rank < 2) return Refuse("the input is not [N, C, ...]");
  if (!SameSizes(input, out0) || ElementCount(out1) != 0 || ElementCount(out2) != 0) return Refuse(kWrongOutSizes);
  for (const Tensor* parameter : {weight, bias, &running_mean, &running_var}) {
    if (parameter != nullptr && (parameter->rank != 1 || parameter->sizes[0] != input.sizes[1])) {
      return Refuse("weight, bias, running_mean and running_var must be [C]");
    }
  }
  int32_t in_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  StridesOf(input, in_strides);
  StridesOf(out0, out_strides);
  Loops loops(4);
  for (int i = 0; i < input.rank; ++i) {
    const int dim = out0.dim_order[i];
    if (dim != 1) loops.Add(input.sizes[dim], {out_strides[dim], in_strides[dim], 0, 0});
  }
  for (int32_t c = 0; c < input.sizes[1]; ++c) {
    const Moments moments{running_mean.as<float>()[c],
                          1 / std::sqrt(running_var.as<float>()[c] + static_cast<float>(eps))};
    Apply(loops, out0.mutable_as<float>() + static_cast<ptrdiff_t>(c) * out_strides[1],
          input.as<float>() + static_cast<ptrdiff_t>(c) * in_strides[1],
          weight == nullptr ? nullptr : DataOf(weight) + c, bias == nullptr ? nullptr : DataOf(bias) + c, moments);
  }
  return Status();
}

}  // namespace cortex_m
