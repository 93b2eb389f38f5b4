// The check of a .pte that Program::Load() makes.
//
// First the flatbuffer: each offset, vector and string lies inside it (flatc's own verifier). Then its meaning: each index,
// type, size and offset that the executor will follow, so that the executor need not look again. Time is bounded by the size
// of the file: where parts of the file overlap to make it look larger than it is, verification stops.
#ifndef CORTEX_M_RUNTIME_VERIFY_H_
#define CORTEX_M_RUNTIME_VERIFY_H_

#include "cortex_m/runtime/program.h"
#include "cortex_m/runtime/schema.h"
#include "cortex_m/runtime/status.h"

namespace cortex_m {

// The whole file, whose header Program has read.
Status VerifyProgram(const Program& program);

// How many items of vectors verification may still look at. A program whose parts do not overlap has no more items than the
// flatbuffer has words, for each item it looks at is a word (or, of strings and shapes, not counted).
class Budget {
 public:
  explicit Budget(size_t items) : items_(items) {}
  // Takes `items`; false when they are not left.
  bool Take(size_t items) {
    if (items > items_) return false;
    items_ -= items;
    return true;
  }

 private:
  size_t items_;
};

// flatc's verifier looks at the alignment of a vector's length only; 64-bit items need their own, or the read faults.
template <typename Vector>
bool HasAlignedItems(const Vector* vector) {
  return vector == nullptr || reinterpret_cast<uintptr_t>(vector->Data()) % sizeof(uint64_t) == 0;
}

// One method: its values, its instructions, its inputs and outputs, and that no call overwrites what it reads (verify_calls.h).
// Segments are already known to be sound. `comparisons`: of tensors, as for VerifyCalls().
Status VerifyPlan(const Program& program, const fbs::ExecutionPlan& plan, Budget& budget, Budget& comparisons);

// One tensor: what it is, and that its data lies where it may.
Status VerifyTensor(const Program& program, const fbs::ExecutionPlan& plan, const fbs::Tensor& tensor);

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_VERIFY_H_
