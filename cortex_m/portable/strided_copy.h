// Moves elements of any type between two layouts: what cat, slice, permute, flip, pad and their kin have in common.
#ifndef CORTEX_M_PORTABLE_STRIDED_COPY_H_
#define CORTEX_M_PORTABLE_STRIDED_COPY_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/portable/loops.h"

namespace cortex_m::portable {

// Operand 0 of `loops` is `out`, operand 1 is `in`; both point at the element of the first turn. Sizes: 1, 2, 4 or 8
// bytes.
void CopyStrided(const Loops& loops, void* out, const void* in, size_t element_size);

// The element at `offset` (in elements, may be negative).
inline void* At(void* data, ptrdiff_t offset, size_t element_size) {
  return static_cast<uint8_t*>(data) + offset * static_cast<ptrdiff_t>(element_size);
}
inline const void* At(const void* data, ptrdiff_t offset, size_t element_size) {
  return static_cast<const uint8_t*>(data) + offset * static_cast<ptrdiff_t>(element_size);
}

// out[i...] = in at in_offset + sum of i[d] * in_strides[d], for all indices of `out`, which may have any layout.
void CopyInto(const Tensor& out, const void* in, ptrdiff_t in_offset, const int32_t* in_strides);

// Same sizes and element size, any layouts.
void CopySameSizes(const Tensor& out, const Tensor& in);

// Writes a copy of `element` (ElementSize bytes) to every element.
void Fill(const Tensor& out, const void* element);

// Copies one element of 1, 2, 4 or 8 bytes.
void CopyElement(void* out, const void* in, size_t element_size);

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_STRIDED_COPY_H_
