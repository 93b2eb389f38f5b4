// Operators for the runtime's own tests.
#ifndef CORTEX_M_RUNTIME_TESTING_KERNELS_H_
#define CORTEX_M_RUNTIME_TESTING_KERNELS_H_

#include <cstring>

#include "cortex_m/runtime/boxed.h"
#include "cortex_m/runtime/kernel.h"

namespace cortex_m::testing {

// out = self + other; float, all of one shape.
inline Status add_out(KernelContext& context, const Tensor& self, const Tensor& other, const Tensor& out) {
  if (self.dtype != ScalarType::kFloat || other.dtype != ScalarType::kFloat || out.dtype != ScalarType::kFloat) {
    return context.Fail("add needs float tensors");
  }
  if (!SameSizes(self, other) || !SameSizes(self, out)) return context.Fail("add needs tensors of one shape");
  for (size_t i = 0; i < ElementCount(out); ++i) {
    out.mutable_as<float>()[i] = self.as<float>()[i] + other.as<float>()[i];
  }
  return Status();
}

inline Status add_(KernelContext& context, Tensor& self, const Tensor& other) {
  return add_out(context, self, other, self);
}

inline Status copy_out(KernelContext& context, const Tensor& self, const Tensor& out) {
  if (ByteSize(self) != ByteSize(out)) return context.Fail("copy needs tensors of one size");
  if (ByteSize(out) > 0) std::memmove(out.data, self.data, ByteSize(out));
  return Status();
}

// Numbers, as executorch's prim operators return them: into the last value.
inline Status add_scalar(KernelContext& context, Span<Value> args) {
  if (args.size != 3 || args[0].tag != Tag::kInt || args[1].tag != Tag::kInt)
    return context.Fail("add.Scalar needs ints");
  args[2] =
      Value::Int(static_cast<int64_t>(static_cast<uint64_t>(args[0].as_int) + static_cast<uint64_t>(args[1].as_int)));
  return Status();
}

inline Status lt_scalar(KernelContext& context, Span<Value> args) {
  if (args.size != 3 || args[0].tag != Tag::kInt || args[1].tag != Tag::kInt)
    return context.Fail("lt.Scalar needs ints");
  args[2] = Value::Bool(args[0].as_int < args[1].as_int);
  return Status();
}

// Reads every byte that its arguments offer, and writes every byte of its last one if that is a tensor or a list of them.
// A sanitizer tells whether all of it may be touched.
inline unsigned Sum(const Tensor& tensor) {
  unsigned sum = 0;
  for (int i = 0; i < tensor.rank; ++i) sum += static_cast<unsigned>(tensor.sizes[i]) + tensor.dim_order[i];
  for (size_t i = 0; i < ByteSize(tensor); ++i) sum += tensor.as<uint8_t>()[i];
  return sum;
}

inline Status touch(KernelContext&, Span<Value> args) {
  volatile unsigned sum = 0;
  for (const Value& value : args) {
    switch (value.tag) {
      case Tag::kNone:
        break;
      case Tag::kInt:
        sum = sum + static_cast<unsigned>(value.as_int);
        break;
      case Tag::kBool:
        sum = sum + value.as_bool;
        break;
      case Tag::kDouble:
        sum = sum + (value.as_double > 0);
        break;
      case Tag::kTensor:
        sum = sum + Sum(value.as_tensor);
        break;
      case Tag::kString:
        for (const char c : value.as_string) sum = sum + static_cast<unsigned char>(c);
        break;
      case Tag::kIntList:
        for (const int64_t item : value.as_int_list) sum = sum + static_cast<unsigned>(item);
        break;
      case Tag::kBoolList:
        for (const bool item : value.as_bool_list) sum = sum + item;
        break;
      case Tag::kDoubleList:
        for (const double item : value.as_double_list) sum = sum + (item > 0);
        break;
      case Tag::kTensorList:
        for (const Tensor& item : value.as_tensor_list) sum = sum + Sum(item);
        break;
      case Tag::kOptionalTensorList:
        for (const Tensor* item : value.as_optional_tensor_list) sum = sum + (item == nullptr ? 1 : Sum(*item));
        break;
    }
  }
  if (args.size == 0) return Status();
  const Value& out = args[args.size - 1];
  const Span<const Tensor> outs = out.tag == Tag::kTensor       ? Span<const Tensor>{&out.as_tensor, 1}
                                  : out.tag == Tag::kTensorList ? out.as_tensor_list
                                                                : Span<const Tensor>{};
  for (const Tensor& tensor : outs) {
    if (ByteSize(tensor) > 0) std::memset(tensor.data, static_cast<int>(sum & 1), ByteSize(tensor));
  }
  return Status();
}

constexpr Kernel kKernels[] = {
    {"test::add.out", Boxed<add_out>}, {"test::add_", Boxed<add_>},    {"test::copy.out", Boxed<copy_out>},
    {"prim::add.Scalar", add_scalar},  {"prim::lt.Scalar", lt_scalar}, {"test::touch", touch},
};
constexpr KernelTable kTestKernels = {kKernels, sizeof(kKernels) / sizeof(kKernels[0])};

}  // namespace cortex_m::testing

#endif  // CORTEX_M_RUNTIME_TESTING_KERNELS_H_
