// Boxed<f>: an operator with typed arguments, as the function that the executor calls.
//
//   Status quantized_mul_out(KernelContext&, const Tensor& self, int64_t self_zero_point, ..., const Tensor& out);
//   constexpr Kernel kKernels[] = {{"cortex_m::quantized_mul.out", Boxed<quantized_mul_out>}};
//
//   schema            C++ parameter                 accepted in the program
//   Tensor            const Tensor&                 Tensor
//   Tensor(a!)        Tensor&                       Tensor that is not a constant
//   Tensor?           const Tensor*                 Tensor; None -> null
//   int, SymInt       int64_t                       Int
//   int?              const int64_t*                Int; None -> null
//   float             double                        Double, Int
//   float?            const double*                 Double, Int; None -> null
//   bool              bool                          Bool
//   ScalarType        ScalarType                    Int in 0 .. 127
//   Scalar            Scalar                        Int, Bool, Double
//   str               Span<const char>              String
//   int[]             IntList                       IntList
//   int[]?            const IntList*                IntList; None -> null
//   bool[]            Span<const bool>              BoolList
//   float[]           Span<const double>            DoubleList
//   Tensor[]          Span<const Tensor>            TensorList
//   Tensor?[]         Span<const Tensor* const>     OptionalTensorList, its items null for None
//
// Too few or too many arguments, or one of another type, end in a Status that names the argument; the operator is not called.
#ifndef CORTEX_M_RUNTIME_BOXED_H_
#define CORTEX_M_RUNTIME_BOXED_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "cortex_m/runtime/kernel.h"
#include "cortex_m/runtime/status.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m {

// The nearest double. Two halves where the core adds doubles: the compiler's own function brings the library's addition along.
inline double ToDouble(int64_t value) {
#if defined(__ARM_FP) && (__ARM_FP & 8)
  return static_cast<double>(static_cast<int32_t>(value >> 32)) * 4294967296.0 +
         static_cast<double>(static_cast<uint32_t>(value));
#else
  return static_cast<double>(value);
#endif
}

// A number whose type only the program knows.
struct Scalar {
  Tag tag;  // kInt, kBool or kDouble
  union {
    int64_t as_int;
    bool as_bool;
    double as_double;
  };
  double ToDouble() const {
    if (tag == Tag::kDouble) return as_double;
    return tag == Tag::kInt ? cortex_m::ToDouble(as_int) : (as_bool ? 1.0 : 0.0);
  }
};

namespace boxing {

// What a parameter accepts: one bit for each Tag, and two further demands.
using Accepts = uint16_t;
constexpr Accepts Only(Tag tag) { return static_cast<Accepts>(1u << static_cast<unsigned>(tag)); }
constexpr Accepts kWritable = 1u << 15;
constexpr Accepts kScalarTypeCode = 1u << 14;

// One copy for all operators: args against `accepts`, one entry a parameter.
Status Check(Span<Value> args, const Accepts* accepts, size_t count);

template <typename T>
struct Parameter;

template <>
struct Parameter<const Tensor&> {
  static constexpr Accepts kAccepts = Only(Tag::kTensor);
  static const Tensor& Get(Value& value) { return value.as_tensor; }
};
template <>
struct Parameter<Tensor&> {
  static constexpr Accepts kAccepts = Only(Tag::kTensor) | kWritable;
  static Tensor& Get(Value& value) { return value.as_tensor; }
};
template <>
struct Parameter<const Tensor*> {
  static constexpr Accepts kAccepts = Only(Tag::kTensor) | Only(Tag::kNone);
  static const Tensor* Get(Value& value) { return value.tag == Tag::kNone ? nullptr : &value.as_tensor; }
};
template <>
struct Parameter<int64_t> {
  static constexpr Accepts kAccepts = Only(Tag::kInt);
  static int64_t Get(Value& value) { return value.as_int; }
};
template <>
struct Parameter<const int64_t*> {
  static constexpr Accepts kAccepts = Only(Tag::kInt) | Only(Tag::kNone);
  static const int64_t* Get(Value& value) { return value.tag == Tag::kNone ? nullptr : &value.as_int; }
};
template <>
struct Parameter<double> {
  static constexpr Accepts kAccepts = Only(Tag::kDouble) | Only(Tag::kInt);
  static double Get(Value& value) { return value.tag == Tag::kInt ? ToDouble(value.as_int) : value.as_double; }
};
template <>
struct Parameter<const double*> {
  static constexpr Accepts kAccepts = Only(Tag::kDouble) | Only(Tag::kInt) | Only(Tag::kNone);
  static const double* Get(Value& value) {
    if (value.tag == Tag::kNone) return nullptr;
    if (value.tag == Tag::kInt) value = Value::Double(ToDouble(value.as_int));
    return &value.as_double;
  }
};
template <>
struct Parameter<bool> {
  static constexpr Accepts kAccepts = Only(Tag::kBool);
  static bool Get(Value& value) { return value.as_bool; }
};
template <>
struct Parameter<ScalarType> {
  static constexpr Accepts kAccepts = Only(Tag::kInt) | kScalarTypeCode;
  static ScalarType Get(Value& value) { return static_cast<ScalarType>(value.as_int); }
};
template <>
struct Parameter<Scalar> {
  static constexpr Accepts kAccepts = Only(Tag::kInt) | Only(Tag::kBool) | Only(Tag::kDouble);
  static Scalar Get(Value& value) {
    Scalar scalar{value.tag, {0}};
    if (value.tag == Tag::kInt) scalar.as_int = value.as_int;
    if (value.tag == Tag::kBool) scalar.as_bool = value.as_bool;
    if (value.tag == Tag::kDouble) scalar.as_double = value.as_double;
    return scalar;
  }
};
template <>
struct Parameter<Span<const char>> {
  static constexpr Accepts kAccepts = Only(Tag::kString);
  static Span<const char> Get(Value& value) { return value.as_string; }
};
template <>
struct Parameter<IntList> {
  static constexpr Accepts kAccepts = Only(Tag::kIntList);
  static IntList Get(Value& value) { return value.as_int_list; }
};
template <>
struct Parameter<const IntList*> {
  static constexpr Accepts kAccepts = Only(Tag::kIntList) | Only(Tag::kNone);
  static const IntList* Get(Value& value) { return value.tag == Tag::kNone ? nullptr : &value.as_int_list; }
};
template <>
struct Parameter<Span<const bool>> {
  static constexpr Accepts kAccepts = Only(Tag::kBoolList);
  static Span<const bool> Get(Value& value) { return value.as_bool_list; }
};
template <>
struct Parameter<Span<const double>> {
  static constexpr Accepts kAccepts = Only(Tag::kDoubleList);
  static Span<const double> Get(Value& value) { return value.as_double_list; }
};
template <>
struct Parameter<Span<const Tensor>> {
  static constexpr Accepts kAccepts = Only(Tag::kTensorList);
  static Span<const Tensor> Get(Value& value) { return value.as_tensor_list; }
};
template <>
struct Parameter<Span<const Tensor* const>> {
  static constexpr Accepts kAccepts = Only(Tag::kOptionalTensorList);
  static Span<const Tensor* const> Get(Value& value) { return value.as_optional_tensor_list; }
};

template <typename... Parameters, size_t... kIndex>
Status Call(Status (*function)(KernelContext&, Parameters...), KernelContext& context, Span<Value> args,
            std::index_sequence<kIndex...>) {
  static constexpr Accepts kAccepts[] = {Parameter<Parameters>::kAccepts...};
  CORTEX_M_RETURN_IF_ERROR(Check(args, kAccepts, sizeof...(Parameters)));
  return function(context, Parameter<Parameters>::Get(args[kIndex])...);
}

template <typename... Parameters>
Status Call(Status (*function)(KernelContext&, Parameters...), KernelContext& context, Span<Value> args) {
  return Call(function, context, args, std::index_sequence_for<Parameters...>{});
}

}  // namespace boxing

template <auto kFunction>
Status Boxed(KernelContext& context, Span<Value> args) {
  return boxing::Call(kFunction, context, args);
}

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_BOXED_H_
