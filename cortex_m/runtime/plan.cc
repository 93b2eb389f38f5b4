#include "cortex_m/runtime/plan.h"

namespace cortex_m {
namespace {

bool SameItems(const flatbuffers::Vector<int32_t>* a, const flatbuffers::Vector<int32_t>* b, size_t b_begin,
               size_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (a->Get(i) != b->Get(static_cast<uint32_t>(b_begin + i))) return false;
  }
  return true;
}

// Tells NextSlot of one value that needs a slot.
struct Smallest {
  int32_t after;
  int32_t found;
  void Offer(int32_t index) {
    if (index > after && (found < 0 || index < found)) found = index;
  }
};

void OfferInstruction(const fbs::ExecutionPlan& plan, const fbs::Instruction& instruction, Smallest& smallest) {
  if (const fbs::MoveCall* move = instruction.instr_args_as_MoveCall()) smallest.Offer(move->move_to());
  if (const fbs::KernelCall* call = instruction.instr_args_as_KernelCall()) {
    const CallShape shape = ShapeOf(plan, *call);
    if (shape.outs == 0) return;
    const int32_t out = call->args()->Get(static_cast<uint32_t>(shape.first_out));
    if (IsNumber(ValueAt(plan, out))) smallest.Offer(out);
  }
}

}  // namespace

bool SameText(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

bool IsNumber(const fbs::EValue& value) {
  switch (value.val_type()) {
    case fbs::KernelTypes::Null:
    case fbs::KernelTypes::Int:
    case fbs::KernelTypes::Bool:
    case fbs::KernelTypes::Double:
      return true;
    default:
      return false;
  }
}

bool IsUnplannedTensor(const fbs::EValue& value) {
  const fbs::Tensor* tensor = value.val_as_Tensor();
  return tensor != nullptr && tensor->data_buffer_idx() == 0 && tensor->allocation_info() == nullptr;
}

CallShape ShapeOf(const fbs::ExecutionPlan& plan, const fbs::KernelCall& call) {
  const auto* args = call.args();
  const size_t count = SizeOf(args);
  if (count == 0) return {0, 0, 0};
  const size_t last = count - 1;
  const CallShape whole = {count, last, 1};
  const int32_t returned = args->Get(static_cast<uint32_t>(last));
  const fbs::EValue& value = ValueAt(plan, returned);
  if (value.val_type() == fbs::KernelTypes::Tensor) {
    for (size_t i = last; i-- > 0;) {
      if (args->Get(static_cast<uint32_t>(i)) == returned) return {last, i, 1};
    }
    return whole;
  }
  const fbs::TensorList* list = value.val_as_TensorList();
  if (list == nullptr || last == 0) return whole;

  const size_t outs = SizeOf(list->items());
  const fbs::TensorList* out_list = ValueAt(plan, args->Get(static_cast<uint32_t>(last - 1))).val_as_TensorList();
  if (out_list != nullptr && SizeOf(out_list->items()) == outs &&
      SameItems(list->items(), out_list->items(), 0, outs)) {
    return {last, last - 1, 1};
  }
  if (outs > 0 && outs <= last && SameItems(list->items(), args, last - outs, outs)) return {last, last - outs, outs};
  return whole;
}

int32_t FirstCallOf(const fbs::ExecutionPlan& plan, size_t operator_index) {
  const auto* instructions = InstructionsOf(plan);
  for (uint32_t i = 0; i < SizeOf(instructions); ++i) {
    const fbs::KernelCall* call = instructions->Get(i)->instr_args_as_KernelCall();
    if (call != nullptr && static_cast<size_t>(call->op_index()) == operator_index) return static_cast<int32_t>(i);
  }
  return -1;
}

int32_t NextSlot(const fbs::ExecutionPlan& plan, int32_t after) {
  Smallest smallest = {after, -1};
  for (uint32_t i = 0; i < SizeOf(plan.inputs()); ++i) {
    const int32_t input = plan.inputs()->Get(i);
    if (IsNumber(ValueAt(plan, input)) || IsUnplannedTensor(ValueAt(plan, input))) smallest.Offer(input);
  }
  for (uint32_t i = 0; i < SizeOf(plan.outputs()); ++i) {
    if (IsUnplannedTensor(ValueAt(plan, plan.outputs()->Get(i)))) smallest.Offer(plan.outputs()->Get(i));
  }
  const auto* instructions = InstructionsOf(plan);
  for (uint32_t i = 0; i < SizeOf(instructions); ++i) OfferInstruction(plan, *instructions->Get(i), smallest);
  return smallest.found;
}

}  // namespace cortex_m
