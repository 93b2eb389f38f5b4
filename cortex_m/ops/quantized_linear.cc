#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

// The sizes and parameters that both kinds of linear have.
struct Linear {
  cmsis_nn_fc_params params;
  cmsis_nn_dims input, filter, output;  // {rows, 1, 1, K}, {K, 1, 1, N}, {rows, 1, 1, N}
};

Status Read(KernelContext& context, const Tensor& input, const Tensor& weights, int64_t input_offset,
            int64_t filter_offset, int64_t output_offset, int64_t activation_min, int64_t activation_max,
            const Tensor& out, Linear* linear) {
  if (input.dtype != ScalarType::kChar || weights.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("linear: input, weights and output must be int8");
  }
  if (input.rank < 1 || input.rank != out.rank || weights.rank != 2) {
    return context.Fail("linear: input and output must have one rank of at least 1, weights rank 2");
  }
  if (!IsContiguous(input) || !IsContiguous(weights) || !IsContiguous(out)) {
    return context.Fail("linear: input, weights and output must be contiguous");
  }
  const int last = input.rank - 1;
  const int32_t depth = weights.sizes[1];
  const int32_t channels = weights.sizes[0];
  int64_t rows = 1;
  for (int i = 0; i < last; ++i) {
    if (input.sizes[i] != out.sizes[i]) return context.Fail("linear: input and output have different leading sizes");
    rows *= input.sizes[i];
  }
  if (input.sizes[last] != depth || out.sizes[last] != channels) {
    return context.Fail("linear: weights [N, K] do not fit an input [..., K] and an output [..., N]");
  }
  if (rows < 1 || depth < 1 || channels < 1 || rows * depth > INT32_MAX || rows * channels > INT32_MAX) {
    return context.Fail("linear: a size is 0, or too large");
  }
  cmsis_nn_fc_params& params = linear->params;
  if (!Narrow(input_offset, -127, 128, &params.input_offset) ||
      !Narrow(filter_offset, -127, 128, &params.filter_offset)) {
    return context.Fail("linear: input_offset or filter_offset (minus the zero point) is outside -127..128");
  }
  if (!Narrow(output_offset, -128, 127, &params.output_offset)) {
    return context.Fail("linear: output_offset is outside -128..127");
  }
  if (!ReadActivation(activation_min, activation_max, &params.activation)) {
    return context.Fail("linear: the activation range is not inside -128..127");
  }
  linear->input = {static_cast<int32_t>(rows), 1, 1, depth};
  linear->filter = {depth, 1, 1, channels};
  linear->output = {static_cast<int32_t>(rows), 1, 1, channels};
  return Status();
}

}  // namespace

Status quantized_linear_out(KernelContext& context, const Tensor& input, const Tensor& weights, const Tensor* bias,
                            const Tensor* kernel_sum, int64_t input_offset, int64_t filter_offset,
                            int64_t output_offset, IntList requantize_multipliers, IntList requantize_shifts,
                            int64_t activation_max, int64_t activation_min, const Tensor& out) {
  Linear linear;
  CORTEX_M_RETURN_IF_ERROR(Read(context, input, weights, input_offset, filter_offset, output_offset, activation_min,
                                activation_max, out, &linear));
  const int32_t channels = linear.output.c;
  if (bias != nullptr && kernel_sum != nullptr) {
    return context.Fail("linear: both bias and kernel_sum, which has the bias in it, are given");
  }
  const int32_t* constants = nullptr;
  if (bias != nullptr || kernel_sum != nullptr) {
    constants = Int32Values(bias != nullptr ? *bias : *kernel_sum, channels);
    if (constants == nullptr)
      return context.Fail("linear: bias or kernel_sum must be int32, one value for each output");
  }
  const size_t count = requantize_multipliers.size;
  if (count != requantize_shifts.size || (count != 1 && count != static_cast<size_t>(channels))) {
    return context.Fail("linear: there must be one multiplier and one shift, or one of each for each output");
  }

  cmsis_nn_context sums = {nullptr, 0};
  const int32_t needed = arm_fully_connected_s8_get_buffer_size(&linear.filter);
  if (needed > 0) {  // CMSIS-NN with Helium: it reads kernel sums, and cannot make them without scratch
    if (kernel_sum == nullptr) return context.Fail("linear: the kernel library needs kernel_sum on this core");
    sums = {const_cast<int32_t*>(constants), needed};
    constants = nullptr;
  } else if (kernel_sum != nullptr) {
    linear.params.input_offset = 0;  // kernel_sum = input_offset * sum(w) + bias: what is left is a plain product
  }

  const int8_t* x = input.as<int8_t>();
  const int8_t* w = weights.as<int8_t>();
  int8_t* y = out.mutable_as<int8_t>();
  // One call for all outputs; or, with parameters per channel, one for each output value: an int[] cannot be handed on as it is.
  const bool per_channel = count > 1;
  const int32_t rows = per_channel ? linear.input.n : 1;
  const int32_t step = per_channel ? 1 : channels;
  if (per_channel) {
    linear.input.n = linear.output.n = 1;
    linear.filter.c = linear.output.c = 1;
  }
  const cmsis_nn_dims bias_dims = {1, 1, 1, step};
  for (int32_t row = 0; row < rows; ++row) {
    for (int32_t c = 0; c < channels; c += step) {
      cmsis_nn_per_tensor_quant_params quant;
      if (!Narrow(requantize_multipliers[c % count], kMinMultiplier, INT32_MAX, &quant.multiplier) ||
          !Narrow(requantize_shifts[c % count], -31, 30, &quant.shift)) {
        return context.Fail("linear: a multiplier is not in -(2^31-1)..2^31-1, or a shift is outside -31..30");
      }
      cmsis_nn_context sum = sums;
      if (sum.buf != nullptr) sum.buf = static_cast<int32_t*>(sums.buf) + c;
      if (arm_fully_connected_s8(&sum, &linear.params, &quant, &linear.input, x + row * linear.filter.n, &linear.filter,
                                 w + c * linear.filter.n, &bias_dims, constants == nullptr ? nullptr : constants + c,
                                 &linear.output, y + row * channels + c) != ARM_CMSIS_NN_SUCCESS) {
        return context.Fail("linear: the kernel library refused the arguments");
      }
    }
  }
  return Status();
}

Status quantized_linear_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& weights,
                                        const Tensor* bias, int64_t input_offset, int64_t output_offset,
                                        const Tensor& requantize_multipliers, const Tensor& requantize_shifts,
                                        int64_t activation_min, int64_t activation_max, const Tensor& out) {
  Linear linear;
  CORTEX_M_RETURN_IF_ERROR(
      Read(context, input, weights, input_offset, 0, output_offset, activation_min, activation_max, out, &linear));
  const int32_t channels = linear.output.c;
  const int32_t* values = bias == nullptr ? nullptr : Int32Values(*bias, channels);
  if (bias != nullptr && values == nullptr)
    return context.Fail("linear: bias must be int32, one value for each output");
  const int32_t* multipliers = Int32Values(requantize_multipliers, channels);
  const int32_t* shifts = Int32Values(requantize_shifts, channels);
  if (multipliers == nullptr || shifts == nullptr) {
    return context.Fail("linear: multipliers and shifts must be int32, one for each output");
  }
  if (!RequantizationIsValid(multipliers, shifts, channels)) {
    return context.Fail("linear: a requantize multiplier is -2^31, or a shift is outside -31..30");
  }
  if (arm_fully_connected_s8_get_buffer_size(&linear.filter) > 0) {
    return context.Fail("linear: the kernel library needs kernel sums on this core, which this operator does not have");
  }
  // The library's struct has pointers to non-const for historical reasons; it only reads.
  const cmsis_nn_per_channel_quant_params quant = {const_cast<int32_t*>(multipliers), const_cast<int32_t*>(shifts)};
  const cmsis_nn_context none = {nullptr, 0};
  const cmsis_nn_dims bias_dims = {1, 1, 1, channels};
  if (arm_fully_connected_per_channel_s8(&none, &linear.params, &quant, &linear.input, input.as<int8_t>(),
                                         &linear.filter, weights.as<int8_t>(), &bias_dims, values, &linear.output,
                                         out.mutable_as<int8_t>()) != ARM_CMSIS_NN_SUCCESS) {
    return context.Fail("linear: the kernel library refused the arguments");
  }
  return Status();
}

}  // namespace cortex_m::ops
