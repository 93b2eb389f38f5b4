// Values of a program as a call's arguments: constants where they lie in the file, what moves and loops have put into slots, and
// lists. What it need not check, the verifier has (verify.h).
#include "cortex_m/runtime/method.h"
#include "cortex_m/runtime/plan.h"
#include "cortex_m/runtime/schema.h"

// Where the executor spends its time, unless the program is to be small: inlined, each table's vtable is looked up once.
#ifdef __OPTIMIZE_SIZE__
#define CORTEX_M_INLINED
#else
#define CORTEX_M_INLINED [[gnu::always_inline]] inline
#endif

namespace cortex_m {
namespace {

bool LacksMemory(const Tensor& tensor) { return tensor.data == nullptr && ElementCount(tensor) > 0; }

Status NoMemory() {
  return Status(Code::kInvalidArgument, "a tensor has no memory: it is not planned, and the caller gave it none");
}

Status NoRoom() { return Status(Code::kInternal, "the lists of a call have more items than Measure() counted"); }

// The table of a value whose type is known already: the accessors val_as_...() would read the type again.
template <typename Table>
const Table& As(const fbs::EValue& value) {
  return *static_cast<const Table*>(value.val());
}

CORTEX_M_INLINED void ReadNumber(const fbs::EValue& value, fbs::KernelTypes type, Value& number) {
  switch (type) {
    case fbs::KernelTypes::Int:
      number.tag = Tag::kInt;
      number.as_int = As<fbs::Int>(value).int_val();
      return;
    case fbs::KernelTypes::Bool:
      number.tag = Tag::kBool;
      number.as_bool = As<fbs::Bool>(value).bool_val();
      return;
    case fbs::KernelTypes::Double:
      number.tag = Tag::kDouble;
      number.as_double = As<fbs::Double>(value).double_val();
      return;
    default:
      number.tag = Tag::kNone;
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

CORTEX_M_INLINED Tensor Method::TensorOf(const fbs::Tensor& stored, int32_t value) const {
  Tensor tensor;
  const flatbuffers::Vector<int32_t>* sizes = stored.sizes();
  tensor.rank = static_cast<uint8_t>(SizeOf(sizes));
  if (tensor.rank > 0) {
    tensor.sizes = sizes->data();
    tensor.dim_order = stored.dim_order()->data();
  }
  tensor.dtype = static_cast<ScalarType>(stored.scalar_type());
  if (const fbs::AllocationDetails* place = stored.allocation_info()) {
    // The high half of the offset is 0: the verifier refuses what does not lie in a memory of less than 2 GiB.
    uint8_t* memory = planned_[place->memory_id() - 1].data;
    tensor.data = memory == nullptr ? nullptr : memory + place->memory_offset_low();
  } else if (const uint32_t buffer = stored.data_buffer_idx(); buffer > 0) {
    tensor.data = const_cast<uint8_t*>(constants_ + flatbuffers::ReadScalar<uint64_t>(constant_offsets_ + buffer));
    tensor.constant = true;
  } else if (const Slot* slot = FindSlot(value)) {
    tensor.data = slot->data;
  }
  return tensor;
}

Tensor Method::OwnTensor(int32_t value) const { return TensorOf(As<fbs::Tensor>(ValueAt(*plan_, value)), value); }

CORTEX_M_INLINED void Method::ReadInto(const fbs::EValue& stored, fbs::KernelTypes type, int32_t value,
                                       Value& read) const {
  if (const Slot* slot = FindSlot(value); slot != nullptr && slot->kind != Slot::Kind::kInitial) {
    read = ReadSlot(*slot);
  } else if (type == fbs::KernelTypes::Tensor) {
    read.tag = Tag::kTensor;
    read.as_tensor = TensorOf(As<fbs::Tensor>(stored), value);
  } else {
    ReadNumber(stored, type, read);
  }
}

Value Method::ReadSlot(const Slot& slot) const {
  if (slot.kind == Slot::Kind::kNumber) return slot.Number();
  Value tensor;
  tensor.tag = Tag::kTensor;
  tensor.as_tensor = OwnTensor(slot.alias);
  return tensor;
}

Value Method::Read(int32_t value) const {
  const fbs::EValue& stored = ValueAt(*plan_, value);
  Value read;
  ReadInto(stored, stored.val_type(), value, read);
  return read;
}

Status Method::ReadTensor(int32_t value, Tensor& tensor) const {
  const Value read = Read(value);
  if (read.tag != Tag::kTensor) return Status(Code::kInvalidProgram, "a number was moved to where a tensor is needed");
  if (LacksMemory(read.as_tensor)) return NoMemory();
  tensor = read.as_tensor;
  return Status();
}

Status Method::ReadInts(const fbs::IntList& list, Used& used, Value& argument) const {
  const auto* items = list.items();
  const size_t count = SizeOf(items);
  if (count > buffers_.integers.size - used.integers) return NoRoom();
  int64_t* integers = buffers_.integers.data + used.integers;
  used.integers += count;
  const auto* values = plan_->values();
  for (uint32_t i = 0; i < count; ++i) {
    const int32_t value = static_cast<int32_t>(items->Get(i));
    const fbs::EValue& stored = *values->Get(static_cast<uint32_t>(value));
    if (stored.val_type() == fbs::KernelTypes::Int && FindSlot(value) == nullptr) {  // nearly all are constants
      integers[i] = As<fbs::Int>(stored).int_val();
      continue;
    }
    const Value item = Read(value);
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

Status Method::ReadList(const fbs::EValue& stored, fbs::KernelTypes type, Used& used, Value& argument) const {
  switch (type) {
    case fbs::KernelTypes::IntList:
      return ReadInts(As<fbs::IntList>(stored), used, argument);
    case fbs::KernelTypes::TensorList:
      return ReadTensors(As<fbs::TensorList>(stored), used, argument);
    case fbs::KernelTypes::OptionalTensorList:
      return ReadOptionalTensors(As<fbs::OptionalTensorList>(stored), used, argument);
    case fbs::KernelTypes::BoolList: {
      // The verifier saw to it that each byte is 0 or 1, so that it may be read as a bool.
      const auto* items = As<fbs::BoolList>(stored).items();
      argument.tag = Tag::kBoolList;
      argument.as_bool_list = {items == nullptr ? nullptr : reinterpret_cast<const bool*>(items->data()),
                               SizeOf(items)};
      return Status();
    }
    case fbs::KernelTypes::DoubleList: {
      const auto* items = As<fbs::DoubleList>(stored).items();
      argument.tag = Tag::kDoubleList;
      argument.as_double_list = {items == nullptr ? nullptr : items->data(), SizeOf(items)};
      return Status();
    }
    default: {
      const flatbuffers::String* string = As<fbs::String>(stored).string_val();
      argument.tag = Tag::kString;
      argument.as_string = {string->c_str(), string->size()};
      return Status();
    }
  }
}

Status Method::ReadArguments(const fbs::KernelCall& call, size_t count) const {
  Used used;
  const auto* values = plan_->values();
  const auto* indices = call.args();
  for (size_t i = 0; i < count; ++i) {
    const int32_t value = indices->Get(static_cast<uint32_t>(i));
    const fbs::EValue& stored = *values->Get(static_cast<uint32_t>(value));
    const fbs::KernelTypes type = stored.val_type();
    Value& argument = buffers_.arguments[i];
    if (type > fbs::KernelTypes::Tensor) {  // behind it are strings and lists
      if (Status status = ReadList(stored, type, used, argument); !status.ok()) return status.OfArgument(i);
      continue;
    }
    ReadInto(stored, type, value, argument);
    if (argument.tag == Tag::kTensor && LacksMemory(argument.as_tensor)) return NoMemory().OfArgument(i);
  }
  return Status();
}

}  // namespace cortex_m
