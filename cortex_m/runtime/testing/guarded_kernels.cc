#include "cortex_m/runtime/testing/guarded_kernels.h"

#include <sanitizer/asan_interface.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace cortex_m {
namespace {

constexpr size_t kMostKernels = 512;

KernelTable g_kernels;
std::vector<Kernel> g_guarded;
std::vector<KernelCount> g_counts;
std::vector<Span<const uint8_t>> g_memories;

void Allow(const Tensor& tensor) {
  if (tensor.data != nullptr) __asan_unpoison_memory_region(tensor.data, ByteSize(tensor));
}

void AllowArgument(const Value& value) {
  if (value.tag == Tag::kTensor) Allow(value.as_tensor);
  if (value.tag == Tag::kTensorList) {
    for (const Tensor& tensor : value.as_tensor_list) Allow(tensor);
  }
  if (value.tag == Tag::kOptionalTensorList) {
    for (const Tensor* tensor : value.as_optional_tensor_list) {
      if (tensor != nullptr) Allow(*tensor);
    }
  }
}

Status Call(size_t index, KernelContext& context, Span<Value> args) {
  for (const Span<const uint8_t>& memory : g_memories) __asan_poison_memory_region(memory.data, memory.size);
  for (const Value& value : args) AllowArgument(value);
  const Status status = g_kernels[index].function(context, args);
  for (const Span<const uint8_t>& memory : g_memories) __asan_unpoison_memory_region(memory.data, memory.size);
  ++g_counts[index].calls;
  if (status.ok()) ++g_counts[index].ok;
  return status;
}

template <size_t kIndex>
Status GuardedCall(KernelContext& context, Span<Value> args) {
  return Call(kIndex, context, args);
}

template <size_t... kIndices>
KernelFunction FunctionOf(size_t index, std::index_sequence<kIndices...>) {
  static constexpr KernelFunction kFunctions[] = {GuardedCall<kIndices>...};
  return kFunctions[index];
}

}  // namespace

KernelTable Guarded(KernelTable kernels) {
  if (kernels.size > kMostKernels) {
    std::fprintf(stderr, "more than %zu kernels\n", kMostKernels);
    std::abort();
  }
  g_kernels = kernels;
  for (size_t i = 0; i < kernels.size; ++i) {
    g_guarded.push_back({kernels[i].name, FunctionOf(i, std::make_index_sequence<kMostKernels>())});
    g_counts.push_back({kernels[i].name, 0, 0});
  }
  return {g_guarded.data(), g_guarded.size()};
}

void GuardMemories(std::vector<Span<const uint8_t>> memories) { g_memories = std::move(memories); }

const std::vector<KernelCount>& KernelCounts() { return g_counts; }

}  // namespace cortex_m
