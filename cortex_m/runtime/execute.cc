// The executor: arguments are read from the program, a call at a time. What it need not check, the verifier has (verify.h).
#include <cstring>

#include "cortex_m/runtime/method.h"
#include "cortex_m/runtime/plan.h"
#include "cortex_m/runtime/schema.h"

namespace cortex_m {

Running g_running;

namespace {

Status NoRoom() { return Status(Code::kInternal, "the lists of a call have more items than Measure() counted"); }

Value NumberOf(const fbs::EValue& value) {
  switch (value.val_type()) {
    case fbs::KernelTypes::Int:
      return Value::Int(value.val_as_Int()->int_val());
    case fbs::KernelTypes::Bool:
      return Value::Bool(value.val_as_Bool()->bool_val());
    case fbs::KernelTypes::Double:
      return Value::Double(value.val_as_Double()->double_val());
    default:
      return Value();
  }
}

bool HasConstant(const Value& written) {
  if (written.tag == Tag::kTensor) return written.as_tensor.constant;
  if (written.tag != Tag::kTensorList) return false;
  for (const Tensor& tensor : written.as_tensor_list) {
    if (tensor.constant) return true;
  }
  return false;
}

}  // namespace

void Slot::SetNumber(const Value& number) {
  kind = Kind::kNumber;
  tag = number.tag;
  if (tag == Tag::kInt) as_int = number.as_int;
  if (tag == Tag::kBool) as_bool = number.as_bool;
  if (tag == Tag::kDouble) as_double = number.as_double;
}

Value Slot::Number() const {
  if (tag == Tag::kInt) return Value::Int(as_int);
  if (tag == Tag::kBool) return Value::Bool(as_bool);
  if (tag == Tag::kDouble) return Value::Double(as_double);
  return Value();
}

Slot* Method::FindSlot(int32_t value) const {
  size_t low = 0;
  size_t high = buffers_.slots.size;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (buffers_.slots[middle].value == value) return &buffers_.slots[middle];
    if (buffers_.slots[middle].value < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return nullptr;
}

Tensor Method::OwnTensor(int32_t value) const {
  const fbs::Tensor& stored = *ValueAt(*plan_, value).val_as_Tensor();
  Tensor tensor;
  tensor.rank = static_cast<uint8_t>(SizeOf(stored.sizes()));
  if (tensor.rank > 0) {
    tensor.sizes = stored.sizes()->data();
    tensor.dim_order = stored.dim_order()->data();
  }
  tensor.dtype = static_cast<ScalarType>(stored.scalar_type());
  if (const fbs::AllocationDetails* place = stored.allocation_info()) {
    // The high half of the offset is 0: the verifier refuses what does not lie in a memory of less than 2 GiB.
    uint8_t* memory = planned_[place->memory_id() - 1].data;
    tensor.data = memory == nullptr ? nullptr : memory + place->memory_offset_low();
  } else if (stored.data_buffer_idx() > 0) {
    tensor.data = const_cast<uint8_t*>(program_.ConstantData(stored.data_buffer_idx()));
    tensor.constant = true;
  } else if (const Slot* slot = FindSlot(value)) {
    tensor.data = slot->data;
  }
  return tensor;
}

Value Method::Read(int32_t value) const {
  const Slot* slot = FindSlot(value);
  if (slot != nullptr && slot->kind == Slot::Kind::kNumber) return slot->Number();
  const bool moved = slot != nullptr && slot->kind == Slot::Kind::kAlias;
  if (!moved && ValueAt(*plan_, value).val_type() != fbs::KernelTypes::Tensor) return NumberOf(ValueAt(*plan_, value));
  Value tensor;
  tensor.tag = Tag::kTensor;
  tensor.as_tensor = OwnTensor(moved ? slot->alias : value);
  return tensor;
}

Status Method::ReadTensor(int32_t value, Tensor& tensor) const {
  const Value read = Read(value);
  if (read.tag != Tag::kTensor) return Status(Code::kInvalidProgram, "a number was moved to where a tensor is needed");
  if (read.as_tensor.data == nullptr && ElementCount(read.as_tensor) > 0) {
    return Status(Code::kInvalidArgument, "a tensor has no memory: it is not planned, and the caller gave it none");
  }
  tensor = read.as_tensor;
  return Status();
}

Status Method::ReadInts(const fbs::IntList& list, Used& used, Value& argument) const {
  const size_t count = SizeOf(list.items());
  if (count > buffers_.integers.size - used.integers) return NoRoom();
  int64_t* integers = buffers_.integers.data + used.integers;
  used.integers += count;
  for (uint32_t i = 0; i < count; ++i) {
    const Value item = Read(static_cast<int32_t>(list.items()->Get(i)));
    if (item.tag != Tag::kInt) return Status(Code::kInvalidProgram, "an item of a list of ints became another type");
    integers[i] = item.as_int;
  }
  argument.tag = Tag::kIntList;
  argument.as_int_list = {integers, count};
  return Status();
}

Status Method::ReadTensors(const fbs::TensorList& list, Used& used, Value& argument) const {
  const size_t count = SizeOf(list.items());
  if (count > buffers_.tensors.size - used.tensors) return NoRoom();
  Tensor* tensors = buffers_.tensors.data + used.tensors;
  used.tensors += count;
  for (uint32_t i = 0; i < count; ++i) {
    CORTEX_M_RETURN_IF_ERROR(ReadTensor(list.items()->Get(i), tensors[i]));
  }
  argument.tag = Tag::kTensorList;
  argument.as_tensor_list = {tensors, count};
  return Status();
}

Status Method::ReadOptionalTensors(const fbs::OptionalTensorList& list, Used& used, Value& argument) const {
  const size_t count = SizeOf(list.items());
  if (count > buffers_.tensors.size - used.tensors) return NoRoom();
  if (count > buffers_.tensor_pointers.size - used.tensor_pointers) return NoRoom();
  Tensor* tensors = buffers_.tensors.data + used.tensors;
  const Tensor** pointers = buffers_.tensor_pointers.data + used.tensor_pointers;
  used.tensors += count;
  used.tensor_pointers += count;
  for (uint32_t i = 0; i < count; ++i) {
    const int32_t item = list.items()->Get(i);
    pointers[i] = nullptr;
    if (item < 0 || Read(item).tag == Tag::kNone) continue;
    CORTEX_M_RETURN_IF_ERROR(ReadTensor(item, tensors[i]));
    pointers[i] = &tensors[i];
  }
  argument.tag = Tag::kOptionalTensorList;
  argument.as_optional_tensor_list = {pointers, count};
  return Status();
}

Status Method::ReadArgument(int32_t value, Used& used, Value& argument) const {
  const fbs::EValue& stored = ValueAt(*plan_, value);
  switch (stored.val_type()) {
    case fbs::KernelTypes::IntList:
      return ReadInts(*stored.val_as_IntList(), used, argument);
    case fbs::KernelTypes::TensorList:
      return ReadTensors(*stored.val_as_TensorList(), used, argument);
    case fbs::KernelTypes::OptionalTensorList:
      return ReadOptionalTensors(*stored.val_as_OptionalTensorList(), used, argument);
    case fbs::KernelTypes::BoolList: {
      // The verifier saw to it that each byte is 0 or 1, so that it may be read as a bool.
      const auto* items = stored.val_as_BoolList()->items();
      argument.tag = Tag::kBoolList;
      argument.as_bool_list = {items == nullptr ? nullptr : reinterpret_cast<const bool*>(items->data()), SizeOf(items)};
      return Status();
    }
    case fbs::KernelTypes::DoubleList: {
      const auto* items = stored.val_as_DoubleList()->items();
      argument.tag = Tag::kDoubleList;
      argument.as_double_list = {items == nullptr ? nullptr : items->data(), SizeOf(items)};
      return Status();
    }
    case fbs::KernelTypes::String: {
      const flatbuffers::String* string = stored.val_as_String()->string_val();
      argument.tag = Tag::kString;
      argument.as_string = {string->c_str(), string->size()};
      return Status();
    }
    default:
      break;
  }
  argument = Read(value);
  return argument.tag == Tag::kTensor ? ReadTensor(value, argument.as_tensor) : Status();
}

Status Method::Call(const fbs::KernelCall& call) {
  const CallShape shape = ShapeOf(*plan_, call);
  Used used;
  for (size_t i = 0; i < shape.arguments; ++i) {
    const int32_t value = call.args()->Get(static_cast<uint32_t>(i));
    if (Status status = ReadArgument(value, used, buffers_.arguments[i]); !status.ok()) return status.OfArgument(i);
  }
  // The verifier refused constants that are written to by name; a move can still have put one there.
  for (size_t i = shape.first_out; i < shape.first_out + shape.outs; ++i) {
    if (HasConstant(buffers_.arguments[i])) {
      return Status(Code::kInvalidProgram, "a call writes to a constant").OfArgument(i);
    }
  }
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

const char* Method::operator_name(int32_t instruction) const {
  if (instruction < 0 || static_cast<size_t>(instruction) >= instruction_count()) return nullptr;
  const fbs::KernelCall* call =
      InstructionsOf(*plan_)->Get(static_cast<uint32_t>(instruction))->instr_args_as_KernelCall();
  if (call == nullptr) return nullptr;
  return plan_->operators()->Get(static_cast<uint32_t>(call->op_index()))->name()->c_str();
}

void Method::Begin() {
  next_ = 0;
  for (Slot& slot : buffers_.slots) {
    if (!slot.is_input || slot.kind == Slot::Kind::kAlias) slot.kind = Slot::Kind::kInitial;
  }
}

bool Method::done() const { return next_ >= instruction_count(); }

Status Method::Run(uint32_t index) {
  const fbs::Instruction& instruction = *InstructionsOf(*plan_)->Get(index);
  next_ = index + 1;
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
  if (done()) return Status(Code::kInvalidArgument, "there is no instruction left: call Begin() first");
  const int32_t instruction = next_instruction();
  const char* name = operator_name(instruction);
  g_running.operator_name = name;
  g_running.instruction = instruction;
  if (observer_.notify != nullptr) observer_.notify(observer_.context, instruction, Phase::kBegin);
  const Status status = Run(static_cast<uint32_t>(instruction));
  if (observer_.notify != nullptr) observer_.notify(observer_.context, instruction, Phase::kEnd);
  g_running.instruction = -1;
  g_running.operator_name = nullptr;
  return status.ok() ? status : status.At(name, instruction);
}

Status Method::Execute(uint32_t instruction_limit) {
  if (plan_ == nullptr) return Status(Code::kInvalidArgument, "the method is not initialised");
  Begin();
  while (!done()) {
    if (instruction_limit-- == 0) {
      return Status(Code::kInvalidProgram, "the method did not end within the limit of instructions",
                    plan_->name()->c_str(), next_instruction());
    }
    CORTEX_M_RETURN_IF_ERROR(Step());
  }
  return Status();
}

}  // namespace cortex_m
