#include "cortex_m/ops/checks.h"

#include "cortex_m/nn/requantize_checks.h"

namespace cortex_m::ops {

namespace {

// The kernels count elements in int32.
bool CountFits(const cmsis_nn_dims& dims) {
  const int32_t sizes[4] = {dims.n, dims.h, dims.w, dims.c};
  int32_t count = 1;
  for (int32_t size : sizes) {
    if (size < 1 || count > INT32_MAX / size) return false;
    count *= size;
  }
  return true;
}

}  // namespace

bool ReadImage(const Tensor& tensor, Layout layout, cmsis_nn_dims* dims) {
  if (layout == Layout::kNhwc) return ReadContiguous4(tensor, dims);
  if (!IsChannelsLast(tensor)) return false;
  *dims = {tensor.sizes[0], tensor.sizes[2], tensor.sizes[3], tensor.sizes[1]};
  return CountFits(*dims);
}

bool ReadContiguous4(const Tensor& tensor, cmsis_nn_dims* dims) {
  if (tensor.rank != 4 || !IsContiguous(tensor)) return false;
  *dims = {tensor.sizes[0], tensor.sizes[1], tensor.sizes[2], tensor.sizes[3]};
  return CountFits(*dims);
}

const int32_t* Int32Values(const Tensor& tensor, int32_t count) {
  if (tensor.dtype != ScalarType::kInt || ElementCount(tensor) != static_cast<size_t>(count) || !IsContiguous(tensor)) {
    return nullptr;
  }
  return tensor.as<int32_t>();
}

bool Narrow(int64_t value, int32_t low, int32_t high, int32_t* out) {
  if (value < low || value > high) return false;
  *out = static_cast<int32_t>(value);
  return true;
}

bool ReadTile(IntList list, int32_t low, int32_t high, cmsis_nn_tile* tile) {
  if (list.size != 1 && list.size != 2) return false;
  return Narrow(list[0], low, high, &tile->h) && Narrow(list[list.size - 1], low, high, &tile->w);
}

bool ReadActivation(int64_t min, int64_t max, cmsis_nn_activation* activation) {
  return Narrow(min, -128, 127, &activation->min) && Narrow(max, -128, 127, &activation->max) && min <= max;
}

bool RequantizationIsValid(const int32_t* multipliers, const int32_t* shifts, int32_t count) {
  return cortex_m_nn_requantization_is_valid(multipliers, shifts, count);
}

void ReadStrides(const Tensor& tensor, int32_t strides[4]) {
  int32_t stride = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    const int dim = tensor.dim_order[i];
    strides[dim] = stride;
    stride *= tensor.sizes[dim];
  }
}

bool IsInnermost(const Tensor& tensor, int dim) {
  if (tensor.sizes[dim] == 1) return true;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    if (tensor.dim_order[i] == dim) return true;
    if (tensor.sizes[tensor.dim_order[i]] != 1) return false;
  }
  return false;
}

int64_t OutputSize(int32_t input, int32_t kernel, int32_t stride, int32_t padding, int32_t dilation, bool ceil_mode) {
  const int64_t room = int64_t{input} + 2 * int64_t{padding} - int64_t{dilation} * (kernel - 1) - 1;
  if (room < 0 || room > INT32_MAX) return 0;  // no window, or more than a tensor has
  // 32 bits: a division of 64 is a function of 800 bytes.
  const uint32_t steps = static_cast<uint32_t>(room) + (ceil_mode ? static_cast<uint32_t>(stride) - 1 : 0);
  int64_t size = int64_t{steps / static_cast<uint32_t>(stride)} + 1;
  // As in PyTorch: the last window must start inside the input or the padding before it.
  if (ceil_mode && (size - 1) * stride >= int64_t{input} + padding) --size;
  return size;
}

cmsis_nn_context Scratch(const Tensor& scratch) {
  const size_t bytes = ByteSize(scratch);
  if (bytes == 0) return {nullptr, 0};
  return {scratch.data, static_cast<int32_t>(bytes > INT32_MAX ? INT32_MAX : bytes)};
}

}  // namespace cortex_m::ops
