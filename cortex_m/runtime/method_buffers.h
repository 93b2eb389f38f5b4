// The RAM of a method: how much it needs, and arrays of exactly that size.
//
// Sizes are counts, for a pointer has 4 bytes on the device and 8 on the host that measures:
//
//   MethodSizes sizes;
//   Status status = Measure(program, "forward", sizes);    // on the host, by //cortex_m/runtime:program_info
//
//   constexpr MethodSizes kForwardSizes = {8, 0, 14, 12, 0, 0};   // what the build makes of it
//   static MethodStorage<kForwardSizes> storage;
//   method.Init(program, "forward", kernels, storage.buffers(), planned);
#ifndef CORTEX_M_RUNTIME_METHOD_BUFFERS_H_
#define CORTEX_M_RUNTIME_METHOD_BUFFERS_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/runtime/kernel.h"
#include "cortex_m/runtime/program.h"
#include "cortex_m/runtime/status.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m {

struct MethodSizes {
  uint32_t operators = 0;        // kernel function pointers
  uint32_t slots = 0;            // values that change while the method runs
  uint32_t arguments = 0;        // of the call with most of them
  uint32_t integers = 0;         // in the int lists of one call
  uint32_t tensors = 0;          // in the tensor lists of one call
  uint32_t tensor_pointers = 0;  // in the optional tensor lists of one call
};

// A value that changes: a number, or which tensor it stands for.
struct Slot {
  enum class Kind : uint8_t {
    kInitial,  // as the program has it
    kNumber,   // a kernel, a move or the caller gave it a number
    kAlias,    // a move made it stand for the tensor that is value `alias`
  };
  union {
    int64_t as_int = 0;
    bool as_bool;
    double as_double;
    int32_t alias;
  };
  int32_t value = 0;     // index of the value whose slot this is
  void* data = nullptr;  // memory that the caller gave to an unplanned tensor
  Kind kind = Kind::kInitial;
  Tag tag = Tag::kNone;  // of a number
  bool is_input = false;

  void SetNumber(const Value& number);
  Value Number() const;
};

// What Method::Init takes.
struct MethodBuffers {
  Span<KernelFunction> kernels;
  Span<Slot> slots;
  Span<Value> arguments;
  Span<int64_t> integers;
  Span<Tensor> tensors;
  Span<const Tensor*> tensor_pointers;
};

// What the method needs. `name` null: the first method. Errors: kNotFound.
Status Measure(const Program& program, const char* name, MethodSizes& sizes);

// Memories that the exporter planned for the method, with ids 1 to PlannedCount(). 0 for an unknown method or id.
size_t PlannedCount(const Program& program, const char* name);
size_t PlannedBytes(const Program& program, const char* name, size_t memory_id);

namespace storage {

template <typename T, size_t kCount>
struct Array {
  T items[kCount] = {};
  Span<T> span() { return {items, kCount}; }
};
template <typename T>
struct Array<T, 0> {
  Span<T> span() { return {}; }
};

}  // namespace storage

template <const MethodSizes& kSizes>
class MethodStorage {
 public:
  MethodBuffers buffers() {
    return {kernels_.span(),  slots_.span(),   arguments_.span(),
            integers_.span(), tensors_.span(), tensor_pointers_.span()};
  }

 private:
  storage::Array<Value, kSizes.arguments> arguments_;
  storage::Array<Slot, kSizes.slots> slots_;
  storage::Array<int64_t, kSizes.integers> integers_;
  storage::Array<Tensor, kSizes.tensors> tensors_;
  storage::Array<KernelFunction, kSizes.operators> kernels_;
  storage::Array<const Tensor*, kSizes.tensor_pointers> tensor_pointers_;
};

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_METHOD_BUFFERS_H_
