#include "cortex_m/runtime/method.h"

#include <cstring>

#include "cortex_m/runtime/plan.h"
#include "cortex_m/runtime/schema.h"

namespace cortex_m {
namespace {

// True if `full` is "name.overload", or "name" if there is no overload.
bool NameIs(const char* full, const fbs::Operator& op) {
  for (const char* c = op.name()->c_str(); *c != '\0'; ++c, ++full) {
    if (*full != *c) return false;
  }
  if (SizeOf(op.overload()) == 0) return *full == '\0';
  return *full == '.' && SameText(full + 1, op.overload()->c_str());
}

// Looks from `place` on, and leaves there the place behind what it found: a table that the build made has the program's order.
KernelFunction FindKernel(KernelTable kernels, const fbs::Operator& op, size_t& place) {
  for (size_t tried = 0; tried < kernels.size; ++tried) {
    if (place == kernels.size) place = 0;
    const Kernel& kernel = kernels[place++];
    if (NameIs(kernel.name, op)) return kernel.function;
  }
  return nullptr;
}

}  // namespace

Status Method::Init(const Program& program, const char* name, KernelTable kernels, const MethodBuffers& buffers,
                    Span<const Span<uint8_t>> planned) {
  plan_ = nullptr;
  if (program.flatbuffer() == nullptr) return Status(Code::kInvalidArgument, "no program is loaded");
  MethodSizes sizes;
  CORTEX_M_RETURN_IF_ERROR(Measure(program, name, sizes));
  if (buffers.kernels.size < sizes.operators || buffers.slots.size < sizes.slots ||
      buffers.arguments.size < sizes.arguments || buffers.integers.size < sizes.integers ||
      buffers.tensors.size < sizes.tensors || buffers.tensor_pointers.size < sizes.tensor_pointers) {
    return Status(Code::kResourceExhausted, "the method's buffers are smaller than Measure() says", name);
  }
  return InitMeasured(program, name, kernels, buffers, planned);
}

Status Method::InitMeasured(const Program& program, const char* name, KernelTable kernels, const MethodBuffers& buffers,
                            Span<const Span<uint8_t>> planned) {
  buffers_ = buffers;
  next_ = 0;

  plan_ = program.FindPlan(name);
  if (plan_ == nullptr) return Status(Code::kNotFound, "the program has no method of this name", name);
  Status status = FindKernels(kernels);
  if (status.ok()) status = BindMemory(planned);
  if (!status.ok()) {
    plan_ = nullptr;
    return status;
  }
  FindConstants(program);
  FillSlots();
  Reset(program);
  return Status();
}

Status Method::FindKernels(KernelTable kernels) {
  size_t place = 0;
  for (uint32_t i = 0; i < SizeOf(plan_->operators()); ++i) {
    const fbs::Operator& op = *plan_->operators()->Get(i);
    buffers_.kernels[i] = FindKernel(kernels, op, place);
    if (buffers_.kernels[i] != nullptr) continue;
    const int32_t first_call = FirstCallOf(*plan_, i);
    if (first_call >= 0) {
      return Status(Code::kNotFound, "no kernel for this operator is linked in", op.name()->c_str(), first_call);
    }
  }
  return Status();
}

Status Method::BindMemory(Span<const Span<uint8_t>> planned) {
  const size_t count = SizeOf(plan_->non_const_buffer_sizes());
  for (uint32_t id = 1; id < count; ++id) {
    const size_t needed = static_cast<size_t>(plan_->non_const_buffer_sizes()->Get(id));
    const Span<uint8_t> memory = id <= planned.size ? planned[id - 1] : Span<uint8_t>{};
    if (memory.size < needed) {
      return Status(Code::kResourceExhausted, "a planned memory is smaller than the method needs (see PlannedBytes)",
                    plan_->name()->c_str(), static_cast<int32_t>(id));
    }
    if (needed > 0 && (memory.data == nullptr || reinterpret_cast<uintptr_t>(memory.data) % kDataAlignment != 0)) {
      return Status(Code::kInvalidArgument, "a planned memory is not aligned to 16 bytes", plan_->name()->c_str(),
                    static_cast<int32_t>(id));
    }
  }
  planned_ = planned;
  return Status();
}

void Method::FindConstants(const Program& program) {
  constants_ = nullptr;
  constant_offsets_ = nullptr;
  const fbs::SubsegmentOffsets* constants = program.flatbuffer()->constant_segment();
  // Entry 0 stands for "no data": alone it says that there are no constants, and then the segment need not exist (verify.cc).
  if (constants == nullptr || SizeOf(constants->offsets()) <= 1) return;
  constants_ = program.Segment(constants->segment_index()).data;
  constant_offsets_ = constants->offsets()->data();
}

void Method::FillSlots() {
  int32_t value = -1;
  for (Slot& slot : buffers_.slots) {
    value = NextSlot(*plan_, value);
    if (value < 0) {  // the buffer has more
      buffers_.slots.size = static_cast<size_t>(&slot - buffers_.slots.data);
      return;
    }
    slot = Slot();
    slot.value = value;
    for (uint32_t i = 0; i < SizeOf(plan_->inputs()); ++i) slot.is_input |= plan_->inputs()->Get(i) == value;
  }
}

void Method::Reset(const Program& program) {
  if (plan_ == nullptr || SizeOf(program.flatbuffer()->mutable_data_segments()) == 0) return;
  for (uint32_t i = 0; i < SizeOf(plan_->values()); ++i) {
    const fbs::Tensor* tensor = plan_->values()->Get(i)->val_as_Tensor();
    if (tensor == nullptr || tensor->data_buffer_idx() == 0 || tensor->allocation_info() == nullptr) continue;
    const fbs::ExtraTensorInfo* extra = tensor->extra_tensor_info();
    const size_t segment = extra == nullptr ? 0 : static_cast<size_t>(extra->mutable_data_segments_idx());
    const Tensor state = OwnTensor(static_cast<int32_t>(i));
    const size_t bytes = ByteSize(state);
    if (bytes > 0) std::memcpy(state.data, program.InitialState(segment, tensor->data_buffer_idx()), bytes);
  }
}

size_t Method::input_count() const { return plan_ == nullptr ? 0 : SizeOf(plan_->inputs()); }

size_t Method::output_count() const { return plan_ == nullptr ? 0 : SizeOf(plan_->outputs()); }

Value Method::input(size_t index) const {
  return index < input_count() ? Read(plan_->inputs()->Get(static_cast<uint32_t>(index))) : Value();
}

Value Method::output(size_t index) const {
  return index < output_count() ? Read(plan_->outputs()->Get(static_cast<uint32_t>(index))) : Value();
}

Status Method::SetInputMemory(size_t index, Span<uint8_t> memory) {
  if (index >= input_count()) return Status(Code::kInvalidArgument, "the method has no such input");
  return SetMemory(plan_->inputs()->Get(static_cast<uint32_t>(index)), memory);
}

Status Method::SetOutputMemory(size_t index, Span<uint8_t> memory) {
  if (index >= output_count()) return Status(Code::kInvalidArgument, "the method has no such output");
  return SetMemory(plan_->outputs()->Get(static_cast<uint32_t>(index)), memory);
}

Status Method::SetMemory(int32_t value, Span<uint8_t> memory) {
  if (!IsUnplannedTensor(ValueAt(*plan_, value))) {
    return Status(Code::kInvalidArgument, "only a tensor without planned memory can be given memory", "value", value);
  }
  const Tensor tensor = OwnTensor(value);
  if (memory.size < ByteSize(tensor)) {
    return Status(Code::kResourceExhausted, "the memory is smaller than the tensor", "value", value);
  }
  if (reinterpret_cast<uintptr_t>(memory.data) % ElementSize(tensor.dtype) != 0) {
    return Status(Code::kInvalidArgument, "the memory is not aligned to the tensor's elements", "value", value);
  }
  FindSlot(value)->data = memory.data;
  return Status();
}

Status Method::SetInput(size_t index, const Value& number) {
  if (index >= input_count()) return Status(Code::kInvalidArgument, "the method has no such input");
  const int32_t value = plan_->inputs()->Get(static_cast<uint32_t>(index));
  if (!IsNumber(ValueAt(*plan_, value)) || Read(value).tag != number.tag) {
    return Status(Code::kInvalidArgument, "the input is not a number of this type", "value", value);
  }
  FindSlot(value)->SetNumber(number);
  return Status();
}

}  // namespace cortex_m
