// Lanes: the three C++ types that portable kernels compute in, and the conversions between them and element types.
//
// float32 computes in float; int64 in int64_t; bool and the narrower integers in int32_t. So a kernel is written once
// for each lane, not once for each element type. Integers wrap around at the width of their element type, as PyTorch's
// do.
//
// float -> integer truncates towards zero to a 64-bit integer (at its limits outside; NaN gives 0) and then wraps;
// float -> bool is `x != 0`. PyTorch leaves values out of range to the processor; here they are the same on each.
#ifndef CORTEX_M_PORTABLE_CONVERT_H_
#define CORTEX_M_PORTABLE_CONVERT_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/portable/scalar_types.h"

namespace cortex_m::portable {

template <typename Lane>
constexpr ScalarType kLaneType = ScalarType::kFloat;
template <>
constexpr ScalarType kLaneType<int32_t> = ScalarType::kInt;
template <>
constexpr ScalarType kLaneType<int64_t> = ScalarType::kLong;

// `count` elements of type `from`, `stride` elements apart and the first at `offset`, as numbers of the lane.
template <typename Lane>
void Load(ScalarType from, const void* data, ptrdiff_t offset, int32_t stride, size_t count, Lane* lane);

// The reverse. Integers wrap around to `to`.
template <typename Lane>
void Store(const Lane* lane, size_t count, ScalarType to, void* data, ptrdiff_t offset, int32_t stride);

// Integers wrapped around to `type`, and made 0 or 1 for bool; nothing happens to floats.
template <typename Lane>
void Wrap(ScalarType type, Lane* lane, size_t count);

// One element, whatever its type.
float LoadFloat(const Tensor& tensor, ptrdiff_t offset);
int64_t LoadInt(const Tensor& tensor, ptrdiff_t offset);

int64_t FloatToInt(double value);

// A Python number as a lane has it: floats for an integer lane are truncated.
template <typename Lane>
Lane ScalarAs(const Scalar& scalar) {
  if (scalar.tag == Tag::kInt) return static_cast<Lane>(scalar.as_int);
  if (scalar.tag == Tag::kBool) return static_cast<Lane>(scalar.as_bool ? 1 : 0);
  if constexpr (kLaneType<Lane> == ScalarType::kFloat) return static_cast<float>(scalar.as_double);
  return static_cast<Lane>(FloatToInt(scalar.as_double));
}

inline Scalar IntScalar(int64_t number) {
  Scalar scalar{Tag::kInt, {0}};
  scalar.as_int = number;
  return scalar;
}

// A Python number as the 1, 2, 4 or 8 bytes of an element of `type`; false if the number is outside of its range.
bool ScalarToElement(const Scalar& scalar, ScalarType type, uint64_t& element);
// Whether `scalar` may be converted to `type`, by PyTorch's measure: integers by range (of uint8 the negatives too,
// which wrap around), floats always.
bool Fits(const Scalar& scalar, ScalarType type);

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_CONVERT_H_
