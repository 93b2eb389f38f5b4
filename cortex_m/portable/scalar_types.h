// Element types: which ones the portable kernels take, and PyTorch's rules for mixing them.
//
// Taken: float32, int8, uint8, int16, int32, int64, bool. float16 and float64 are refused by name: no Cortex-M computes
// them as PyTorch's CPU kernels do at a price that a fallback may ask.
#ifndef CORTEX_M_PORTABLE_SCALAR_TYPES_H_
#define CORTEX_M_PORTABLE_SCALAR_TYPES_H_

#include "cortex_m/runtime/boxed.h"
#include "cortex_m/runtime/status.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m::portable {

constexpr bool IsFloat(ScalarType type) { return type == ScalarType::kFloat; }
constexpr bool IsSupported(ScalarType type) {
  return IsFloat(type) || type == ScalarType::kByte || type == ScalarType::kChar || type == ScalarType::kShort ||
         type == ScalarType::kInt || type == ScalarType::kLong || type == ScalarType::kBool;
}

// Integers from narrow to wide; bool is the narrowest. Only for types that IsSupported.
constexpr int Width(ScalarType type) {
  switch (type) {
    case ScalarType::kBool:
      return 0;
    case ScalarType::kByte:
    case ScalarType::kChar:
      return 1;
    case ScalarType::kShort:
      return 2;
    case ScalarType::kInt:
      return 3;
    case ScalarType::kLong:
      return 4;
    default:
      return 5;
  }
}

// The type that holds both: torch.promote_types.
constexpr ScalarType Promote(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (Width(a) == 1 && Width(b) == 1) return ScalarType::kShort;  // uint8 with int8
  return Width(a) > Width(b) ? a : b;
}

// torch.can_cast: a result may be stored in another type of its own kind or of a higher one (bool < integer < float).
constexpr bool CanCast(ScalarType from, ScalarType to) {
  if (IsFloat(from)) return IsFloat(to);
  return from == ScalarType::kBool || to != ScalarType::kBool;
}

// The type of a Python number among tensors.
constexpr ScalarType TypeOf(const Scalar& scalar) {
  if (scalar.tag == Tag::kDouble) return ScalarType::kFloat;
  return scalar.tag == Tag::kInt ? ScalarType::kLong : ScalarType::kBool;
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_SCALAR_TYPES_H_
