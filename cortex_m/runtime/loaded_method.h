// A method with memory of exactly the size it asks for, each piece on the heap by itself: a sanitizer sees the first byte
// that is touched outside. Host only.
//
//   LoadedMethod loaded(file, kernels);
//   if (!loaded.status.ok()) ...
//   memcpy(loaded.method.input(0).as_tensor.data, image, image_size);
//   Status status = loaded.method.Execute();
#ifndef CORTEX_M_RUNTIME_LOADED_METHOD_H_
#define CORTEX_M_RUNTIME_LOADED_METHOD_H_

#include <memory>
#include <string>
#include <vector>

#include "cortex_m/runtime/method.h"
#include "cortex_m/runtime/program_file.h"

namespace cortex_m {

class LoadedMethod {
 public:
  // Load, Measure and Init; memory for unplanned inputs and outputs is given too. `load_status` of Load; `status` of all.
  // most_bytes: what a file, perhaps a hostile one, may ask for.
  LoadedMethod(const std::string& file, KernelTable kernels, const char* name = nullptr,
               size_t most_bytes = size_t{1} << 24)
      : bytes_(file), most_bytes_(most_bytes) {
    load_status = status = Program::Load(bytes_.bytes(), program);
    if (status.ok()) status = Init(kernels, name);
  }

  Span<const uint8_t> bytes() const { return bytes_.bytes(); }
  const std::vector<Span<uint8_t>>& planned() const { return planned_; }

  Status load_status;
  Status status;
  Program program;
  MethodSizes sizes;
  Method method;

 private:
  Status Init(KernelTable kernels, const char* name) {
    CORTEX_M_RETURN_IF_ERROR(Measure(program, name, sizes));
    kernels_.resize(sizes.operators);
    slots_.resize(sizes.slots);
    arguments_.resize(sizes.arguments);
    integers_.resize(sizes.integers);
    tensors_.resize(sizes.tensors);
    tensor_pointers_.resize(sizes.tensor_pointers);
    const MethodBuffers buffers = {
        {kernels_.data(), kernels_.size()},     {slots_.data(), slots_.size()},
        {arguments_.data(), arguments_.size()}, {integers_.data(), integers_.size()},
        {tensors_.data(), tensors_.size()},     {tensor_pointers_.data(), tensor_pointers_.size()}};
    for (size_t id = 1; id <= PlannedCount(program, name); ++id) {
      planned_.push_back(Memory(PlannedBytes(program, name, id)));
      if (planned_.back().data == nullptr)
        return Status(Code::kResourceExhausted, "the program plans more memory than there is");
    }
    CORTEX_M_RETURN_IF_ERROR(method.Init(program, name, kernels, buffers, {planned_.data(), planned_.size()}));
    for (size_t i = 0; i < method.input_count(); ++i) {
      if (NeedsMemory(method.input(i))) CORTEX_M_RETURN_IF_ERROR(method.SetInputMemory(i, MemoryFor(method.input(i))));
    }
    for (size_t i = 0; i < method.output_count(); ++i) {
      if (NeedsMemory(method.output(i)))
        CORTEX_M_RETURN_IF_ERROR(method.SetOutputMemory(i, MemoryFor(method.output(i))));
    }
    return Status();
  }

  static bool NeedsMemory(const Value& value) { return value.tag == Tag::kTensor && value.as_tensor.data == nullptr; }

  Span<uint8_t> MemoryFor(const Value& value) { return Memory(ByteSize(value.as_tensor)); }

  // Null if that is more than the file may ask for.
  Span<uint8_t> Memory(size_t size) {
    if (size > most_bytes_ - used_bytes_) return {};
    used_bytes_ += size;
    memories_.push_back(std::make_unique<AlignedBytes>(std::string(size, '\x5a')));
    return memories_.back()->span();
  }

  AlignedBytes bytes_;
  size_t most_bytes_;
  size_t used_bytes_ = 0;
  std::vector<KernelFunction> kernels_;
  std::vector<Slot> slots_;
  std::vector<Value> arguments_;
  std::vector<int64_t> integers_;
  std::vector<Tensor> tensors_;
  std::vector<const Tensor*> tensor_pointers_;
  std::vector<std::unique_ptr<AlignedBytes>> memories_;
  std::vector<Span<uint8_t>> planned_;
};

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_LOADED_METHOD_H_
