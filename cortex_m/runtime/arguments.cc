// Values of a program as a call's arguments: constants where they lie in the file, what moves and loops have put into slots, and
// lists. What it need not check, the verifier has (verify.h).
#include "cortex_m/runtime/method.h"
#include "cortex_m/runtime/plan.h"
#include "cortex_m/runtime/schema.h"

namespace cortex_m {
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
      argument.as_bool_list = {items == nullptr ? nullptr : reinterpret_cast<const bool*>(items->data()),
                               SizeOf(items)};
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

}  // namespace cortex_m
