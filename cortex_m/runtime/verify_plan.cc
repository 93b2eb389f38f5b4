#include "cortex_m/runtime/plan.h"
#include "cortex_m/runtime/verify.h"
#include "cortex_m/runtime/verify_calls.h"

namespace cortex_m {
namespace {

Status Malformed(const char* message) { return Status(Code::kInvalidProgram, message); }
Status Unsupported(const char* message) { return Status(Code::kUnsupported, message); }
Status Unaligned() { return Malformed("a vector of 64-bit numbers is not aligned to 8 bytes"); }

class PlanVerifier {
 public:
  PlanVerifier(const Program& program, const fbs::ExecutionPlan& plan, Budget& budget)
      : program_(program), plan_(plan), budget_(budget), values_(SizeOf(plan.values())) {}

  Status Run() {
    CORTEX_M_RETURN_IF_ERROR(VerifyMemories());
    if (!budget_.Take(values_ + SizeOf(plan_.operators()))) return Overlapping();
    for (uint32_t i = 0; i < values_; ++i) {
      const fbs::EValue& value = *plan_.values()->Get(i);
      if (Status status = VerifyValue(value); !status.ok()) return status.At("value", static_cast<int32_t>(i));
    }
    for (uint32_t i = 0; i < SizeOf(plan_.operators()); ++i) {
      if (plan_.operators()->Get(i)->name() == nullptr) return Malformed("an operator has no name");
    }
    CORTEX_M_RETURN_IF_ERROR(VerifyEnds(plan_.inputs(), true));
    CORTEX_M_RETURN_IF_ERROR(VerifyEnds(plan_.outputs(), false));
    CORTEX_M_RETURN_IF_ERROR(VerifyInstructions());
    size_t slots = 0;
    for (int32_t slot = NextSlot(plan_, -1); slot >= 0; slot = NextSlot(plan_, slot)) {
      if (++slots > kMaxSlots) return Unsupported("more than 1024 values change while the method runs");
    }
    return Status();
  }

 private:
  static Status Overlapping() { return Malformed("parts of the program overlap"); }

  bool InRange(int32_t index) const { return index >= 0 && static_cast<size_t>(index) < values_; }

  bool Is(int32_t index, fbs::KernelTypes type) const {
    return InRange(index) && ValueAt(plan_, index).val_type() == type;
  }

  bool IsConstant(int32_t index) const {
    const fbs::Tensor* tensor = ValueAt(plan_, index).val_as_Tensor();
    return tensor != nullptr && tensor->data_buffer_idx() > 0 && tensor->allocation_info() == nullptr;
  }

  // Numbers and tensors can be inputs, outputs, and moved; lists and strings stay as they are in the program.
  bool IsNumberOrTensor(int32_t index) const {
    return IsNumber(ValueAt(plan_, index)) || Is(index, fbs::KernelTypes::Tensor);
  }

  Status VerifyMemories() {
    if (!HasAlignedItems(plan_.non_const_buffer_sizes())) return Unaligned();
    for (uint32_t i = 1; i < SizeOf(plan_.non_const_buffer_sizes()); ++i) {
      const int64_t size = plan_.non_const_buffer_sizes()->Get(i);
      if (size < 0 || static_cast<uint64_t>(size) >= kMaxBytes)
        return Malformed("a planned memory has an impossible size");
    }
    for (uint32_t i = 0; i < SizeOf(plan_.non_const_buffer_device()); ++i) {
      if (plan_.non_const_buffer_device()->Get(i)->device_type() != fbs::DeviceType::CPU) {
        return Unsupported("a planned memory is on another device than the CPU");
      }
    }
    return Status();
  }

  template <typename List>
  Status VerifyItems(const List* list, fbs::KernelTypes type, bool optional) {
    const size_t count = SizeOf(list->items());
    if (!budget_.Take(count)) return Overlapping();
    for (uint32_t i = 0; i < count; ++i) {
      const int64_t item = list->items()->Get(i);
      const int32_t index = static_cast<int32_t>(item);
      if (index == item && Is(index, type)) continue;
      if (optional && (item == -1 || (index == item && Is(index, fbs::KernelTypes::Null)))) continue;
      return Malformed("a list has an item that does not exist or is of another type");
    }
    return Status();
  }

  Status VerifyValue(const fbs::EValue& value) {
    if (value.val() == nullptr) return Malformed("a value is missing");
    switch (value.val_type()) {
      case fbs::KernelTypes::Null:
      case fbs::KernelTypes::Int:
      case fbs::KernelTypes::Bool:
      case fbs::KernelTypes::Double:
        return Status();
      case fbs::KernelTypes::DoubleList:
        return HasAlignedItems(value.val_as_DoubleList()->items()) ? Status() : Unaligned();
      case fbs::KernelTypes::Tensor:
        return VerifyTensor(program_, plan_, *value.val_as_Tensor());
      case fbs::KernelTypes::String:
        return value.val_as_String()->string_val() == nullptr ? Malformed("a string is missing") : Status();
      case fbs::KernelTypes::BoolList: {
        const auto* items = value.val_as_BoolList()->items();
        if (!budget_.Take(SizeOf(items) / 4)) return Overlapping();
        for (uint32_t i = 0; i < SizeOf(items); ++i) {
          if (items->Get(i) > 1) return Malformed("a bool is neither 0 nor 1");
        }
        return Status();
      }
      case fbs::KernelTypes::IntList:
        if (!HasAlignedItems(value.val_as_IntList()->items())) return Unaligned();
        return VerifyItems(value.val_as_IntList(), fbs::KernelTypes::Int, false);
      case fbs::KernelTypes::TensorList:
        return VerifyItems(value.val_as_TensorList(), fbs::KernelTypes::Tensor, false);
      case fbs::KernelTypes::OptionalTensorList:
        return VerifyItems(value.val_as_OptionalTensorList(), fbs::KernelTypes::Tensor, true);
      default:
        return Malformed("a value is of a type that does not exist");
    }
  }

  Status VerifyEnds(const flatbuffers::Vector<int32_t>* indices, bool inputs) {
    if (!budget_.Take(SizeOf(indices))) return Overlapping();
    for (uint32_t i = 0; i < SizeOf(indices); ++i) {
      const int32_t index = indices->Get(i);
      if (!InRange(index)) return Malformed("an input or output does not exist");
      if (!IsNumberOrTensor(index)) {
        return Status(Code::kUnsupported, "an input or output is neither a tensor nor a number", "value", index);
      }
      if (inputs && IsConstant(index)) return Status(Code::kInvalidProgram, "an input is a constant", "value", index);
    }
    return Status();
  }

  Status VerifyInstructions() {
    if (SizeOf(plan_.chains()) > 1) return Unsupported("the method has more than one chain of instructions");
    const auto* instructions = InstructionsOf(plan_);
    if (!budget_.Take(SizeOf(instructions))) return Overlapping();
    for (uint32_t i = 0; i < SizeOf(instructions); ++i) {
      Status status = VerifyInstruction(*instructions->Get(i), SizeOf(instructions));
      if (!status.ok()) return status.At("instruction", static_cast<int32_t>(i));
    }
    return Status();
  }

  Status VerifyInstruction(const fbs::Instruction& instruction, size_t instruction_count) {
    if (instruction.instr_args() == nullptr) return Malformed("an instruction is missing");
    switch (instruction.instr_args_type()) {
      case fbs::InstructionArguments::KernelCall:
        return VerifyKernelCall(*instruction.instr_args_as_KernelCall());
      case fbs::InstructionArguments::DelegateCall:
        return VerifyDelegateCall(*instruction.instr_args_as_DelegateCall());
      case fbs::InstructionArguments::MoveCall: {
        const fbs::MoveCall& move = *instruction.instr_args_as_MoveCall();
        if (!InRange(move.move_from()) || !InRange(move.move_to())) return Malformed("a moved value does not exist");
        if (!IsNumberOrTensor(move.move_from()) || !IsNumberOrTensor(move.move_to())) {
          return Unsupported("a list or string is moved");
        }
        return Status();
      }
      case fbs::InstructionArguments::JumpFalseCall: {
        const fbs::JumpFalseCall& jump = *instruction.instr_args_as_JumpFalseCall();
        if (!InRange(jump.cond_value_index())) return Malformed("the condition of a jump does not exist");
        const int32_t to = jump.destination_instruction();
        // One past the last instruction ends the method.
        if (to < 0 || static_cast<size_t>(to) > instruction_count) return Malformed("a jump leads out of the method");
        return Status();
      }
      case fbs::InstructionArguments::FreeCall:
        return Is(instruction.instr_args_as_FreeCall()->value_index(), fbs::KernelTypes::Tensor)
                   ? Status()
                   : Malformed("a freed value is no tensor");
      default:
        return Malformed("an instruction is of a kind that does not exist");
    }
  }

  Status VerifyKernelCall(const fbs::KernelCall& call) {
    const size_t count = SizeOf(call.args());
    if (count > kMaxArguments) return Unsupported("a call has more than 255 arguments");
    if (!budget_.Take(count)) return Overlapping();
    if (call.op_index() < 0 || static_cast<size_t>(call.op_index()) >= SizeOf(plan_.operators())) {
      return Malformed("the operator of a call does not exist");
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (!InRange(call.args()->Get(i))) return Malformed("an argument does not exist").OfArgument(i);
    }
    // ShapeOf looks at the list of what is returned: its items count for each call that names it.
    if (count > 0) {
      const fbs::EValue& last = ValueAt(plan_, call.args()->Get(static_cast<uint32_t>(count - 1)));
      if (const fbs::TensorList* returned = last.val_as_TensorList()) {
        if (!budget_.Take(SizeOf(returned->items()))) return Overlapping();
      }
    }
    return Status();
  }

  Status VerifyDelegateCall(const fbs::DelegateCall& call) {
    const size_t index = static_cast<size_t>(call.delegate_index());
    if (call.delegate_index() < 0 || index >= SizeOf(plan_.delegates())) return Malformed("a delegate does not exist");
    const flatbuffers::String* id = plan_.delegates()->Get(static_cast<uint32_t>(index))->id();
    return Status(Code::kUnsupported, "the program calls a delegate, which this runtime does not have",
                  id == nullptr ? nullptr : id->c_str());
  }

  const Program& program_;
  const fbs::ExecutionPlan& plan_;
  Budget& budget_;
  const size_t values_;
};

}  // namespace

Status VerifyPlan(const Program& program, const fbs::ExecutionPlan& plan, Budget& budget, Budget& comparisons) {
  CORTEX_M_RETURN_IF_ERROR(PlanVerifier(program, plan, budget).Run());
  return VerifyCalls(plan, comparisons);
}

}  // namespace cortex_m
