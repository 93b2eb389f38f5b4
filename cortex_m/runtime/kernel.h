// How the executor calls an operator, and how an operator is written.
//
// An operator is a plain function with typed arguments, declared in the header that is generated from operators.yaml:
//
//   Status quantized_mul_out(KernelContext& context, const Tensor& self, int64_t self_zero_point, ..., const Tensor& out);
//
// The mapping from schema types: Tensor -> const Tensor&; Tensor? -> const Tensor* (null for None); int -> int64_t;
// float -> double; bool -> bool; ScalarType -> ScalarType; int[] -> IntList; Tensor[] -> Span<const Tensor>; int? -> const int64_t*.
// boxed.h has the whole table. The out tensor comes last; its shape is fixed by the program and the kernel checks it. The
// executor never hands out a constant as the out tensor; an operator that writes to another argument (scratch, say) takes it as
// Tensor& and then never sees a constant there either.
//
// `Boxed<quantized_mul_out>` (boxed.h) is the function the executor sees: it checks the tag of each argument against the C++
// type and calls the operator. A table of {name, Boxed<...>} is all the runtime knows of operators.
#ifndef CORTEX_M_RUNTIME_KERNEL_H_
#define CORTEX_M_RUNTIME_KERNEL_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/runtime/status.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m {

enum class Tag : uint8_t {
  kNone = 0,
  kInt,
  kBool,
  kDouble,
  kTensor,
  kString,
  kIntList,
  kBoolList,
  kDoubleList,
  kTensorList,
  kOptionalTensorList,
};

// One argument of a call, materialised from the program for the duration of the call.
struct Value {
  Tag tag = Tag::kNone;
  union {
    int64_t as_int;
    bool as_bool;
    double as_double;
    Tensor as_tensor;
    Span<const char> as_string;
    IntList as_int_list;
    Span<const bool> as_bool_list;
    Span<const double> as_double_list;
    Span<const Tensor> as_tensor_list;
    Span<const Tensor* const> as_optional_tensor_list;
  };
  constexpr Value() : as_int(0) {}

  static Value Int(int64_t number) {
    Value value;
    value.tag = Tag::kInt;
    value.as_int = number;
    return value;
  }
  static Value Bool(bool truth) {
    Value value;
    value.tag = Tag::kBool;
    value.as_bool = truth;
    return value;
  }
  static Value Double(double number) {
    Value value;
    value.tag = Tag::kDouble;
    value.as_double = number;
    return value;
  }
};

// Handed to each kernel. Kernels need no memory but their arguments: scratch is an argument, planned by the exporter.
class KernelContext {
 public:
  __attribute__((always_inline)) Status Fail(const char* message) const {
    return Status(Code::kInvalidArgument, message);
  }
};

// args: the arguments of the call in schema order, out included (once). Writes go through the tensors' data pointers, or,
// for operators that return a number (executorch_prim::add.Scalar, say), into the last Value. A kernel checks how many
// arguments it got: the program may have been made for another version of it.
using KernelFunction = Status (*)(KernelContext& context, Span<Value> args);

struct Kernel {
  const char* name;  // "cortex_m::quantized_add.out": namespace, name, overload as in the program
  KernelFunction function;
};

using KernelTable = Span<const Kernel>;

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_KERNEL_H_
