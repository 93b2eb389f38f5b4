#include "cortex_m/runtime/method_buffers.h"
#include "cortex_m/runtime/plan.h"

namespace cortex_m {
namespace {

uint32_t Max(uint32_t a, size_t b) { return b > a ? static_cast<uint32_t>(b) : a; }

void MeasureCall(const fbs::ExecutionPlan& plan, const fbs::KernelCall& call, MethodSizes& sizes) {
  const size_t arguments = ShapeOf(plan, call).arguments;
  size_t integers = 0;
  size_t tensors = 0;
  size_t pointers = 0;
  for (uint32_t i = 0; i < arguments; ++i) {
    const fbs::EValue& value = ValueAt(plan, call.args()->Get(i));
    if (const fbs::IntList* list = value.val_as_IntList()) integers += SizeOf(list->items());
    if (const fbs::TensorList* list = value.val_as_TensorList()) tensors += SizeOf(list->items());
    if (const fbs::OptionalTensorList* list = value.val_as_OptionalTensorList()) {
      tensors += SizeOf(list->items());
      pointers += SizeOf(list->items());
    }
  }
  sizes.arguments = Max(sizes.arguments, arguments);
  sizes.integers = Max(sizes.integers, integers);
  sizes.tensors = Max(sizes.tensors, tensors);
  sizes.tensor_pointers = Max(sizes.tensor_pointers, pointers);
}

}  // namespace

Status Measure(const Program& program, const char* name, MethodSizes& sizes) {
  sizes = MethodSizes();
  const fbs::ExecutionPlan* plan = program.FindPlan(name);
  if (plan == nullptr) return Status(Code::kNotFound, "the program has no method of this name", name);
  sizes.operators = static_cast<uint32_t>(SizeOf(plan->operators()));
  for (int32_t slot = NextSlot(*plan, -1); slot >= 0; slot = NextSlot(*plan, slot)) ++sizes.slots;
  const auto* instructions = InstructionsOf(*plan);
  for (uint32_t i = 0; i < SizeOf(instructions); ++i) {
    const fbs::KernelCall* call = instructions->Get(i)->instr_args_as_KernelCall();
    if (call != nullptr) MeasureCall(*plan, *call, sizes);
  }
  return Status();
}

size_t PlannedCount(const Program& program, const char* name) {
  const fbs::ExecutionPlan* plan = program.FindPlan(name);
  const size_t sizes = plan == nullptr ? 0 : SizeOf(plan->non_const_buffer_sizes());
  return sizes == 0 ? 0 : sizes - 1;
}

size_t PlannedBytes(const Program& program, const char* name, size_t memory_id) {
  if (memory_id == 0 || memory_id > PlannedCount(program, name)) return 0;
  const fbs::ExecutionPlan* plan = program.FindPlan(name);
  return static_cast<size_t>(plan->non_const_buffer_sizes()->Get(static_cast<uint32_t>(memory_id)));
}

}  // namespace cortex_m
