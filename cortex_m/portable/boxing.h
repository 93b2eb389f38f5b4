// Argument types that only ATen operators have: anything optional by value.
//
//   Scalar?      std::optional<Scalar>
//   bool?        std::optional<bool>
//   str?         std::optional<Span<const char>>
//   float[]?     std::optional<Span<const double>>
//   ScalarType?  std::optional<ScalarType>
//
// Included before Boxed<> (boxed.h) is used on an operator that has them.
#ifndef CORTEX_M_PORTABLE_BOXING_H_
#define CORTEX_M_PORTABLE_BOXING_H_

#include <optional>

#include "cortex_m/runtime/boxed.h"

namespace cortex_m::boxing {

template <typename T>
struct Parameter<std::optional<T>> {
  // Without the check of a scalar type's code, which would look at the number that None does not have.
  static constexpr Accepts kAccepts =
      static_cast<Accepts>((Parameter<T>::kAccepts & ~kScalarTypeCode) | Only(Tag::kNone));
  static std::optional<T> Get(Value& value) {
    if (value.tag == Tag::kNone) return std::nullopt;
    return Parameter<T>::Get(value);
  }
};

}  // namespace cortex_m::boxing

#endif  // CORTEX_M_PORTABLE_BOXING_H_
