// The portable kernels as a shared library for the tests in Python (kernel_library.py): arguments are pushed one by
// one, then the kernel is called by its name through the same table and unboxing as on the device.

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "cortex_m/runtime/kernel.h"

namespace cortex_m {

extern const KernelTable kPortableKernels;

namespace {

struct Call {
  std::vector<Value> values;
  // Storage that the values point into; a deque never moves what it holds.
  std::deque<std::vector<int32_t>> sizes;
  std::deque<std::vector<uint8_t>> orders;
  std::deque<std::vector<int64_t>> ints;
  std::deque<std::vector<double>> doubles;
  std::deque<std::string> strings;
  std::deque<std::vector<Tensor>> tensors;
  std::deque<std::vector<const Tensor*>> tensor_pointers;

  Value& Add(Tag tag) {
    values.emplace_back();
    values.back().tag = tag;
    return values.back();
  }
};

}  // namespace
}  // namespace cortex_m

using cortex_m::Call;
using cortex_m::Tag;
using cortex_m::Value;

extern "C" {

void* portable_new() { return new Call; }
void portable_delete(void* call) { delete static_cast<Call*>(call); }

void portable_add_none(void* call) { static_cast<Call*>(call)->Add(Tag::kNone); }
void portable_add_int(void* call, int64_t value) { static_cast<Call*>(call)->Add(Tag::kInt).as_int = value; }
void portable_add_bool(void* call, int value) { static_cast<Call*>(call)->Add(Tag::kBool).as_bool = value != 0; }
void portable_add_double(void* call, double value) { static_cast<Call*>(call)->Add(Tag::kDouble).as_double = value; }
void portable_add_string(void* call, const char* text) {
  Call& self = *static_cast<Call*>(call);
  self.strings.emplace_back(text);
  self.Add(Tag::kString).as_string = {self.strings.back().data(), self.strings.back().size()};
}
void portable_add_ints(void* call, const int64_t* values, size_t count) {
  Call& self = *static_cast<Call*>(call);
  self.ints.emplace_back(values, values + count);
  self.Add(Tag::kIntList).as_int_list = {self.ints.back().data(), count};
}
void portable_add_doubles(void* call, const double* values, size_t count) {
  Call& self = *static_cast<Call*>(call);
  self.doubles.emplace_back(values, values + count);
  self.Add(Tag::kDoubleList).as_double_list = {self.doubles.back().data(), count};
}
void portable_add_tensor(void* call, void* data, const int32_t* sizes, const uint8_t* dim_order, int rank, int dtype,
                         int constant) {
  Call& self = *static_cast<Call*>(call);
  self.sizes.emplace_back(sizes, sizes + rank);
  self.orders.emplace_back(dim_order, dim_order + rank);
  cortex_m::Tensor tensor;
  tensor.data = data;
  tensor.sizes = self.sizes.back().data();
  tensor.dim_order = self.orders.back().data();
  tensor.rank = static_cast<uint8_t>(rank);
  tensor.dtype = static_cast<cortex_m::ScalarType>(dtype);
  tensor.constant = constant != 0;
  self.Add(Tag::kTensor).as_tensor = tensor;
}
// The last `count` arguments, tensors or (if `optional`) None, become one list.
void portable_make_list(void* call, size_t count, int optional) {
  Call& self = *static_cast<Call*>(call);
  std::vector<cortex_m::Tensor> items;
  std::vector<bool> present;
  for (size_t i = self.values.size() - count; i < self.values.size(); ++i) {
    present.push_back(self.values[i].tag == Tag::kTensor);
    items.push_back(present.back() ? self.values[i].as_tensor : cortex_m::Tensor());
  }
  self.values.resize(self.values.size() - count);
  self.tensors.push_back(items);
  const std::vector<cortex_m::Tensor>& stored = self.tensors.back();
  if (optional == 0) {
    self.Add(Tag::kTensorList).as_tensor_list = {stored.data(), count};
    return;
  }
  std::vector<const cortex_m::Tensor*> pointers;
  for (size_t i = 0; i < count; ++i) pointers.push_back(present[i] ? &stored[i] : nullptr);
  self.tensor_pointers.push_back(pointers);
  self.Add(Tag::kOptionalTensorList).as_optional_tensor_list = {self.tensor_pointers.back().data(), count};
}

// The sentence of the kernel's Status, "" when it is ok, or null if there is no kernel of that name.
const char* portable_run(void* call, const char* name) {
  Call& self = *static_cast<Call*>(call);
  for (const cortex_m::Kernel& kernel : cortex_m::kPortableKernels) {
    if (std::strcmp(kernel.name, name) != 0) continue;
    cortex_m::KernelContext context;
    return kernel.function(context, {self.values.data(), self.values.size()}).message();
  }
  return nullptr;
}

size_t portable_count() { return cortex_m::kPortableKernels.size; }
const char* portable_name(size_t index) { return cortex_m::kPortableKernels[index].name; }

}  // extern "C"
