// What verifier, measure and executor must agree on about a method of the program: one definition for the three.
//
// A value is an entry of ExecutionPlan.values. Most never change and are read from the program at each call. The few that do
// change while the method runs have a slot in RAM: destinations of a MoveCall, numbers that kernels return, numbers that the
// caller passes in, and input and output tensors for which the exporter planned no memory.
#ifndef CORTEX_M_RUNTIME_PLAN_H_
#define CORTEX_M_RUNTIME_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/runtime/schema.h"

namespace cortex_m {

inline const fbs::EValue& ValueAt(const fbs::ExecutionPlan& plan, int32_t index) {
  return *plan.values()->Get(static_cast<uint32_t>(index));
}

// The same characters up to the terminating 0.
bool SameText(const char* a, const char* b);

// None, Int, Bool and Double: what a kernel can return beside tensors.
bool IsNumber(const fbs::EValue& value);
// A tensor with neither data in the file nor a place in planned memory.
bool IsUnplannedTensor(const fbs::EValue& value);

// Which of a call's arguments the kernel gets. exir's emitter appends the returned value to the arguments of the schema: the
// out tensor once more, the changed tensor of an in-place operator, for several outs or a list a list of them. The kernel does
// not see that one. A number has no place in the schema's arguments: there the appended value is where it goes.
struct CallShape {
  size_t arguments;  // the first so many are handed to the kernel
  size_t first_out;  // from here on
  size_t outs;       // so many of them are written; 0 only if there are no arguments
};
CallShape ShapeOf(const fbs::ExecutionPlan& plan, const fbs::KernelCall& call);

// The instructions: the verifier refuses more than one chain (no exporter makes them).
inline const flatbuffers::Vector<flatbuffers::Offset<fbs::Instruction>>* InstructionsOf(
    const fbs::ExecutionPlan& plan) {
  return SizeOf(plan.chains()) == 0 ? nullptr : plan.chains()->Get(0)->instructions();
}
// -1 if no instruction calls the operator.
int32_t FirstCallOf(const fbs::ExecutionPlan& plan, size_t operator_index);

// The smallest index above `after` of a value that needs a slot; -1 if there is none. Start with -1.
int32_t NextSlot(const fbs::ExecutionPlan& plan, int32_t after);

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_PLAN_H_
