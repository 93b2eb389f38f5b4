// A method with memory of exactly the size it asks for, each piece on the heap by itself: a sanitizer sees the first byte
// that is touched outside.
#ifndef CORTEX_M_RUNTIME_TESTING_LOADED_METHOD_H_
#define CORTEX_M_RUNTIME_TESTING_LOADED_METHOD_H_

#include <memory>
#include <string>
#include <vector>

#include "cortex_m/runtime/method.h"
#include "cortex_m/runtime/program_file.h"

namespace cortex_m {

class LoadedMethod {
 public:
  // What a test's heap allows a hostile file to ask for.
  static constexpr size_t kMostPlannedBytes = size_t{1} << 24;

  // Load, Measure and Init; memory for unplanned inputs and outputs is given too. `load_status` of Load; `status` of all.
  LoadedMethod(const std::string& file, KernelTable kernels, const char* name = nullptr) : bytes_(file) {
    load_status = status = Program::Load(bytes_.bytes(), program);
    if (status.ok()) status = Init(kernels, name);
  }

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
    const MethodBuffers buffers = {{kernels_.data(), kernels_.size()},     {slots_.data(), slots_.size()},
                                   {arguments_.data(), arguments_.size()}, {integers_.data(), integers_.size()},
                                   {tensors_.data(), tensors_.size()},     {tensor_pointers_.data(), tensor_pointers_.size()}};
    size_t total = 0;
    for (size_t id = 1; id <= PlannedCount(program, name); ++id) {
      const size_t size = PlannedBytes(program, name, id);
      total += size;
      if (total > kMostPlannedBytes) return Status(Code::kResourceExhausted, "more planned memory than this test gives");
      memories_.push_back(std::make_unique<AlignedBytes>(std::string(size, '\x5a')));
      planned_.push_back(memories_.back()->span());
    }
    CORTEX_M_RETURN_IF_ERROR(method.Init(program, name, kernels, buffers, {planned_.data(), planned_.size()}));
    for (size_t i = 0; i < method.input_count(); ++i) {
      if (NeedsMemory(method.input(i))) CORTEX_M_RETURN_IF_ERROR(method.SetInputMemory(i, Memory(method.input(i))));
    }
    for (size_t i = 0; i < method.output_count(); ++i) {
      if (NeedsMemory(method.output(i))) CORTEX_M_RETURN_IF_ERROR(method.SetOutputMemory(i, Memory(method.output(i))));
    }
    return Status();
  }

  static bool NeedsMemory(const Value& value) { return value.tag == Tag::kTensor && value.as_tensor.data == nullptr; }

  Span<uint8_t> Memory(const Value& value) {
    const size_t size = ByteSize(value.as_tensor);
    if (size > kMostPlannedBytes) return {};
    memories_.push_back(std::make_unique<AlignedBytes>(std::string(size, '\x5a')));
    return memories_.back()->span();
  }

  AlignedBytes bytes_;
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

#endif  // CORTEX_M_RUNTIME_TESTING_LOADED_METHOD_H_
