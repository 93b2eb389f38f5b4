// What every portable kernel asks of its tensors before it looks at their data.
#ifndef CORTEX_M_PORTABLE_CHECK_H_
#define CORTEX_M_PORTABLE_CHECK_H_

#include <cstdint>
#include <initializer_list>

#include "cortex_m/portable/scalar_types.h"

namespace cortex_m::portable {

constexpr Status Refuse(const char* sentence) { return Status(Code::kInvalidArgument, sentence); }

// Rank and element type within what the kernels are made for.
inline Status Check(const Tensor& tensor) {
  if (tensor.rank > kMaxRank) return Refuse("a tensor has more than 16 dimensions");
  if (!IsSupported(tensor.dtype)) {
    return Refuse("portable kernels take float32, int8, uint8, int16, int32, int64 and bool");
  }
  return Status();
}

inline Status CheckAll(std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* tensor : tensors) {
    CORTEX_M_RETURN_IF_ERROR(Check(*tensor));
  }
  return Status();
}

// For kernels that only move elements: any type whose size is known.
inline Status CheckMovable(const Tensor& tensor) {
  if (tensor.rank > kMaxRank) return Refuse("a tensor has more than 16 dimensions");
  if (ElementSize(tensor.dtype) == 0) return Refuse("a tensor has an element type that this runtime does not know");
  return Status();
}
inline Status CheckMovable(const Tensor& from, const Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(from));
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(out));
  if (from.dtype != out.dtype) return Refuse("the out tensor has another element type than the input");
  return Status();
}

// `sizes` has `rank` entries.
template <typename Integer>
bool HasSizes(const Tensor& tensor, const Integer* sizes, int rank) {
  if (tensor.rank != rank) return false;
  for (int i = 0; i < rank; ++i) {
    if (tensor.sizes[i] != sizes[i]) return false;
  }
  return true;
}

inline constexpr const char* kWrongOutSizes = "the out tensor does not have the sizes of the result";

// What a size can be, or a difference of sizes: no sum of a few such overflows 64 bits.
inline bool FitsInt32(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

// -rank <= dim < rank, a scalar counting as one dimension; then dim is made non-negative.
inline bool NormalizeDim(int64_t& dim, int rank) {
  const int64_t range = rank == 0 ? 1 : rank;
  if (dim < -range || dim >= range) return false;
  if (dim < 0) dim += range;
  return true;
}
inline constexpr const char* kDimOutOfRange = "dim is out of range";

// A set of dimensions as bits. Empty `dims` gives the empty set.
inline Status DimSet(IntList dims, int rank, uint32_t& set) {
  set = 0;
  for (int64_t dim : dims) {
    if (!NormalizeDim(dim, rank)) return Refuse(kDimOutOfRange);
    const uint32_t bit = 1u << dim;
    if ((set & bit) != 0) return Refuse("a dim appears twice");
    set |= bit;
  }
  return Status();
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_CHECK_H_
