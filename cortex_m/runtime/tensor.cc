#include "cortex_m/runtime/tensor.h"

namespace cortex_m {

size_t ElementSize(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kByte:
    case ScalarType::kChar:
    case ScalarType::kBool:
      return 1;
    case ScalarType::kShort:
    case ScalarType::kHalf:
      return 2;
    case ScalarType::kInt:
    case ScalarType::kFloat:
      return 4;
    case ScalarType::kLong:
    case ScalarType::kDouble:
      return 8;
  }
  return 0;
}

size_t ElementCount(const Tensor& tensor) {
  size_t count = 1;
  for (int i = 0; i < tensor.rank; ++i) {
    count *= static_cast<size_t>(tensor.sizes[i]);
  }
  return count;
}

size_t ByteSize(const Tensor& tensor) { return ElementCount(tensor) * ElementSize(tensor.dtype); }

bool SameSizes(const Tensor& a, const Tensor& b) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i) {
    if (a.sizes[i] != b.sizes[i]) return false;
  }
  return true;
}

namespace {

// The next position in memory order, from `position` on, whose dimension is larger than 1; rank if there is none.
int NextLargeDimension(const Tensor& tensor, int position) {
  while (position < tensor.rank && tensor.sizes[tensor.dim_order[position]] == 1) ++position;
  return position;
}

// True if the dimensions larger than 1 lie in memory as `order` says, outermost first.
bool HasOrder(const Tensor& tensor, const uint8_t* order) {
  int position = 0;
  while (position < tensor.rank && tensor.dim_order[position] == order[position]) ++position;  // mostly all of them
  for (int i = position; i < tensor.rank; ++i) {
    if (tensor.sizes[order[i]] == 1) continue;
    position = NextLargeDimension(tensor, position);
    if (tensor.dim_order[position] != order[i]) return false;
    ++position;
  }
  return true;
}

}  // namespace

bool IsContiguous(const Tensor& tensor) {
  if (tensor.rank > kMaxRank) return false;
  static constexpr uint8_t kLogicalOrder[kMaxRank] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return HasOrder(tensor, kLogicalOrder);
}

bool IsChannelsLast(const Tensor& tensor) {
  static constexpr uint8_t kNhwc[4] = {0, 2, 3, 1};
  return tensor.rank == 4 && HasOrder(tensor, kNhwc);
}

bool SameLayout(const Tensor& a, const Tensor& b) { return SameSizes(a, b) && HasOrder(a, b.dim_order); }

}  // namespace cortex_m
