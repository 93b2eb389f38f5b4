// Elementwise operators: one functor, any mix of element types, any layouts, broadcasting.
//
//   struct Minimum {
//     template <typename T> static T Of(T a, T b) { return a < b ? a : b; }
//   };
//   return Elementwise(kAllLanes<Minimum, 2>, Result::kPromoted, {self, other}, out);
//
// The operands are brought to their common type (torch.result_type, where tensors of rank 0 and Python numbers count
// less than tensors with dimensions), the functor computes in that type's lane (convert.h), and the result is stored in
// `out`, whose type may be any that PyTorch casts the result to. Operands are read a few at a time through buffers on
// the stack, except where they can be read in place.
#ifndef CORTEX_M_PORTABLE_ELEMENTWISE_H_
#define CORTEX_M_PORTABLE_ELEMENTWISE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/convert.h"

namespace cortex_m::portable {

// in[operand][element] -> out[element]. Returns a sentence if a value cannot be computed with, null otherwise.
template <typename Lane>
using LaneFunction = const char* (*)(const Lane* const* in, Lane* out, size_t count);

// A null function: the operator is not defined for that lane.
struct ElementwiseKernel {
  LaneFunction<float> in_float;
  LaneFunction<int32_t> in_int32;
  LaneFunction<int64_t> in_int64;
};

// Which type the result has, out of the operands' common type.
enum class Result {
  kPromoted,  // the common type
  kFloat,     // the common type, or float32 if that is an integer (computed in float32)
  kBool,      // bool (computed in the common type)
};

// An operand: a tensor or a Python number.
class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(&tensor), scalar_{Tag::kInt, {0}} {}
  Operand(const Scalar& scalar) : tensor_(nullptr), scalar_(scalar) {}
  // Has no say in the common type, though it is converted to it: alpha of add, say.
  static Operand Parameter(const Scalar& scalar) { return Operand(nullptr, scalar, Role::kParameter); }
  // Has no say in the common type and is read as a bool: the condition of where, say.
  static Operand Condition(const Tensor& tensor) { return Operand(&tensor, Scalar{Tag::kInt, {0}}, Role::kCondition); }

  const Tensor* tensor() const { return tensor_; }
  const Scalar& scalar() const { return scalar_; }
  bool is_condition() const { return role_ == Role::kCondition; }
  bool has_say() const { return role_ == Role::kValue; }

 private:
  enum class Role { kValue, kParameter, kCondition };
  Operand(const Tensor* tensor, const Scalar& scalar, Role role) : tensor_(tensor), scalar_(scalar), role_(role) {}
  const Tensor* tensor_;
  Scalar scalar_;
  Role role_ = Role::kValue;
};

using Operands = std::initializer_list<Operand>;

// torch.result_type of the operands that have a say.
ScalarType CommonType(Operands operands);

Status Elementwise(const ElementwiseKernel& kernel, Result result, Operands operands, Tensor& out);

namespace elementwise {

template <typename Functor, typename Lane, size_t... kIndex>
const char* Apply(const Lane* const* in, Lane* out, size_t count, std::index_sequence<kIndex...>) {
  for (size_t i = 0; i < count; ++i) out[i] = Functor::template Of<Lane>(in[kIndex][i]...);
  return nullptr;
}
template <typename Functor, typename Lane, size_t kOperands>
const char* Apply(const Lane* const* in, Lane* out, size_t count) {
  return Apply<Functor, Lane>(in, out, count, std::make_index_sequence<kOperands>{});
}

}  // namespace elementwise

template <typename Functor, size_t kOperands>
constexpr ElementwiseKernel kAllLanes = {elementwise::Apply<Functor, float, kOperands>,
                                         elementwise::Apply<Functor, int32_t, kOperands>,
                                         elementwise::Apply<Functor, int64_t, kOperands>};
template <typename Functor, size_t kOperands>
constexpr ElementwiseKernel kFloatLane = {elementwise::Apply<Functor, float, kOperands>, nullptr, nullptr};
template <typename Functor, size_t kOperands>
constexpr ElementwiseKernel kIntegerLanes = {nullptr, elementwise::Apply<Functor, int32_t, kOperands>,
                                             elementwise::Apply<Functor, int64_t, kOperands>};

// Integer arithmetic that wraps around instead of being undefined; plain arithmetic for floats.
template <typename T>
struct Unsigned {
  using Type = T;
};
template <>
struct Unsigned<int32_t> {
  using Type = uint32_t;
};
template <>
struct Unsigned<int64_t> {
  using Type = uint64_t;
};
template <typename T>
T Plus(T a, T b) {
  using U = typename Unsigned<T>::Type;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <typename T>
T Minus(T a, T b) {
  using U = typename Unsigned<T>::Type;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}
template <typename T>
T Times(T a, T b) {
  using U = typename Unsigned<T>::Type;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_ELEMENTWISE_H_
