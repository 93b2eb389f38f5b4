// The executor: one instruction after the other. arguments.cc reads what calls are given.
#include "cortex_m/runtime/method.h"
#include "cortex_m/runtime/plan.h"
#include "cortex_m/runtime/schema.h"

namespace cortex_m {

Running g_running;

namespace {

// Null for no call.
inline const char* NameOf(const fbs::ExecutionPlan* plan, const fbs::KernelCall* call) {
  if (call == nullptr) return nullptr;
  return plan->operators()->Get(static_cast<uint32_t>(call->op_index()))->name()->c_str();
}

}  // namespace

Status Method::Call(const fbs::KernelCall& call) {
  const CallShape shape = ShapeOf(*plan_, call);
  CORTEX_M_RETURN_IF_ERROR(ReadArguments(call, shape.arguments));
  KernelContext context;
  const Span<Value> arguments = {buffers_.arguments.data, shape.arguments};
  CORTEX_M_RETURN_IF_ERROR(buffers_.kernels[static_cast<size_t>(call.op_index())](context, arguments));
  if (shape.outs == 0) return Status();

  const Value& returned = arguments[shape.first_out];
  if (returned.tag > Tag::kDouble) return Status();
  if (Slot* slot = FindSlot(call.args()->Get(static_cast<uint32_t>(shape.first_out)))) slot->SetNumber(returned);
  return Status();
}

void Method::Move(int32_t from, int32_t to) {
  Slot& target = *FindSlot(to);
  const Value moved = Read(from);
  if (moved.tag != Tag::kTensor) {
    target.SetNumber(moved);
    return;
  }
  const Slot* source = FindSlot(from);
  const bool aliased = source != nullptr && source->kind == Slot::Kind::kAlias;
  target.alias = aliased ? source->alias : from;
  target.kind = Slot::Kind::kAlias;
}

Status Method::IsTrue(int32_t condition, bool& truth) const {
  const Value value = Read(condition);
  if (value.tag == Tag::kBool) {
    truth = value.as_bool;
    return Status();
  }
  if (value.tag != Tag::kTensor || value.as_tensor.dtype != ScalarType::kBool) {
    return Status(Code::kInvalidProgram, "the condition of a jump is neither a bool nor a tensor of bools");
  }
  // As executorch does: a tensor is true if all its elements are.
  Tensor tensor;
  CORTEX_M_RETURN_IF_ERROR(ReadTensor(condition, tensor));
  truth = true;
  const size_t count = ElementCount(tensor);
  for (size_t i = 0; i < count; ++i) truth &= tensor.as<uint8_t>()[i] != 0;
  return Status();
}

size_t Method::instruction_count() const { return plan_ == nullptr ? 0 : SizeOf(InstructionsOf(*plan_)); }

const fbs::KernelCall* Method::CallAt(int32_t instruction) const {
  if (instruction < 0 || static_cast<size_t>(instruction) >= instruction_count()) return nullptr;
  return InstructionsOf(*plan_)->Get(static_cast<uint32_t>(instruction))->instr_args_as_KernelCall();
}

const char* Method::operator_name(int32_t instruction) const { return NameOf(plan_, CallAt(instruction)); }

const fbs::TensorList* Method::OutListOf(const fbs::KernelCall& call) const {
  const CallShape shape = ShapeOf(*plan_, call);
  if (shape.outs != 1) return nullptr;
  return ValueAt(*plan_, call.args()->Get(static_cast<uint32_t>(shape.first_out))).val_as_TensorList();
}

size_t Method::call_output_count(int32_t instruction) const {
  const fbs::KernelCall* call = CallAt(instruction);
  if (call == nullptr) return 0;
  const fbs::TensorList* list = OutListOf(*call);
  return list != nullptr ? SizeOf(list->items()) : ShapeOf(*plan_, *call).outs;
}

Value Method::call_output(int32_t instruction, size_t index) const {
  const fbs::KernelCall& call = *CallAt(instruction);
  if (const fbs::TensorList* list = OutListOf(call)) {
    return Read(static_cast<int32_t>(list->items()->Get(static_cast<uint32_t>(index))));
  }
  return Read(call.args()->Get(static_cast<uint32_t>(ShapeOf(*plan_, call).first_out + index)));
}

void Method::Begin() {
  next_ = 0;
  for (Slot& slot : buffers_.slots) {
    if (!slot.is_input || slot.kind == Slot::Kind::kAlias) slot.kind = Slot::Kind::kInitial;
  }
}

bool Method::done() const { return next_ >= instruction_count(); }

Status Method::Run(const fbs::Instruction& instruction) {
  ++next_;
  switch (instruction.instr_args_type()) {
    case fbs::InstructionArguments::KernelCall:
      return Call(*instruction.instr_args_as_KernelCall());
    case fbs::InstructionArguments::MoveCall: {
      const fbs::MoveCall& move = *instruction.instr_args_as_MoveCall();
      Move(move.move_from(), move.move_to());
      return Status();
    }
    case fbs::InstructionArguments::JumpFalseCall: {
      const fbs::JumpFalseCall& jump = *instruction.instr_args_as_JumpFalseCall();
      bool truth = false;
      CORTEX_M_RETURN_IF_ERROR(IsTrue(jump.cond_value_index(), truth));
      if (!truth) next_ = static_cast<uint32_t>(jump.destination_instruction());
      return Status();
    }
    case fbs::InstructionArguments::FreeCall:
      // Memory is static: there is nothing to give back.
      return Status();
    default:
      return Status(Code::kUnsupported, "an instruction of this kind is not supported");
  }
}

Status Method::Step() {
  const auto* instructions = plan_ == nullptr ? nullptr : InstructionsOf(*plan_);
  if (next_ >= SizeOf(instructions)) {
    return Status(Code::kInvalidArgument, "there is no instruction left: call Begin() first");
  }
  const int32_t instruction = next_instruction();
  const fbs::Instruction& stored = *instructions->Get(next_);
  const char* name = NameOf(plan_, stored.instr_args_as_KernelCall());
  g_running.operator_name = name;
  g_running.instruction = instruction;
  if (observer_.notify != nullptr) observer_.notify(observer_.context, instruction, Phase::kBegin);
  const Status status = Run(stored);
  if (observer_.notify != nullptr) observer_.notify(observer_.context, instruction, Phase::kEnd);
  g_running.instruction = -1;
  g_running.operator_name = nullptr;
  return status.ok() ? status : status.At(name, instruction);
}

Status Method::Execute(uint32_t instruction_limit) {
  if (plan_ == nullptr) return Status(Code::kInvalidArgument, "the method is not initialised");
  Begin();
  const size_t count = instruction_count();
  while (next_ < count) {
    if (instruction_limit-- == 0) {
      return Status(Code::kInvalidProgram, "the method did not end within the limit of instructions",
                    plan_->name()->c_str(), next_instruction());
    }
    CORTEX_M_RETURN_IF_ERROR(Step());
  }
  return Status();
}

}  // namespace cortex_m
