// Two float operators, so that the runners can be tested without the operators of the product.
#include "cortex_m/runner/kernels.h"

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

constexpr Kernel kKernels[] = {
    {"aten::add.out", Boxed<AddOut>},
    {"aten::sub.out", Boxed<SubOut>},
    {"aten::mul.out", Boxed<MulOut>},
};

}  // namespace

KernelTable LinkedKernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace cortex_m
