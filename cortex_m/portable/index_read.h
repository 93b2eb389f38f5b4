// Indices that come as a tensor of int64 or int32.
#ifndef CORTEX_M_PORTABLE_INDEX_READ_H_
#define CORTEX_M_PORTABLE_INDEX_READ_H_

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/loops.h"

namespace cortex_m::portable {

inline Status CheckIndex(const Tensor& index) {
  if (index.rank > kMaxRank) return Refuse("a tensor has more than 16 dimensions");
  if (index.dtype != ScalarType::kLong && index.dtype != ScalarType::kInt) {
    return Refuse("an index must be int64 or int32");
  }
  return Status();
}

inline int64_t IndexAt(const Tensor& index, ptrdiff_t offset) {
  return index.dtype == ScalarType::kLong ? index.as<int64_t>()[offset] : index.as<int32_t>()[offset];
}

inline constexpr const char* kIndexOutOfRange = "an index is out of range";

// The index at `offset`, which is read once: false if it is not in 0 .. size - 1. Checked where it is used, so that nothing that is
// written in between can matter.
inline bool ReadIndex(const Tensor& index, ptrdiff_t offset, int64_t size, ptrdiff_t& value) {
  const int64_t read = IndexAt(index, offset);
  value = static_cast<ptrdiff_t>(read);
  return read >= 0 && read < size;
}

// All indices in 0 .. size - 1 (from -size on, if `negative`): for kernels that write where indices say, which check all of them before
// they write anything, and each one again where they use it.
inline Status CheckIndexRange(const Tensor& index, int64_t size, bool negative) {
  const size_t count = ElementCount(index);
  for (size_t i = 0; i < count; ++i) {
    const int64_t value = IndexAt(index, static_cast<ptrdiff_t>(i));
    if (value >= size || value < (negative ? -size : 0)) return Refuse(kIndexOutOfRange);
  }
  return Status();
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_INDEX_READ_H_
