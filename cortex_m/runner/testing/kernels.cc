// Operators for tests: the runners are tested without those of the product, and what finds a defect in a kernel is tested with
// kernels that have it.
#include "cortex_m/runner/kernels.h"

#include <cstring>

#include "cortex_m/runtime/boxed.h"

namespace cortex_m {
namespace {

// out = self + alpha * other, for equal shapes.
Status AddOut(KernelContext& context, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out) {
  if (!SameLayout(self, out) || !SameLayout(other, out)) return context.Fail("the tensors differ in shape or layout");
  if (out.dtype != ScalarType::kFloat) return context.Fail("only float is implemented");
  const size_t count = ElementCount(out);
  for (size_t i = 0; i < count; ++i) {
    out.mutable_as<float>()[i] = self.as<float>()[i] + static_cast<float>(alpha.ToDouble()) * other.as<float>()[i];
  }
  return Status();
}

// Always fails, as a kernel does that refuses its arguments.
Status SubOut(KernelContext& context, const Tensor&, const Tensor&, Scalar, Tensor&) {
  return context.Fail("sub is not wanted here");
}

// Runs an undefined instruction: what a defect in a kernel looks like.
Status MulOut(KernelContext&, const Tensor&, const Tensor&, Tensor&) { __builtin_trap(); }

// out[i] = input[i], and one byte at `offset` from the begin of out, wherever that is: a kernel with a wrong bound.
Status PokeOut(KernelContext&, const Tensor& input, int64_t offset, int64_t value, Tensor& out) {
  std::memcpy(out.data, input.data, ByteSize(out));
  out.mutable_as<uint8_t>()[offset] = static_cast<uint8_t>(value);
  return Status();
}

// out[i] = input[i + offset]: a kernel that reads beyond an end.
Status PeekOut(KernelContext&, const Tensor& input, int64_t offset, Tensor& out) {
  const size_t size = ByteSize(out);
  for (size_t i = 0; i < size; ++i)
    out.mutable_as<uint8_t>()[i] = input.as<uint8_t>()[static_cast<int64_t>(i) + offset];
  return Status();
}

constexpr Kernel kKernels[] = {
    {"aten::add.out", Boxed<AddOut>},   {"aten::sub.out", Boxed<SubOut>},   {"aten::mul.out", Boxed<MulOut>},
    {"test::poke.out", Boxed<PokeOut>}, {"test::peek.out", Boxed<PeekOut>},
};

}  // namespace

KernelTable LinkedKernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace cortex_m
