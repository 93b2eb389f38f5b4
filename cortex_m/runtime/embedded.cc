#include "cortex_m/runtime/embedded.h"

namespace cortex_m {
namespace {

bool NeedsMemory(const Value& value) { return value.tag == Tag::kTensor && value.as_tensor.data == nullptr; }

}  // namespace

Status BindUnplanned(Method& method, Pool& pool) {
  for (size_t i = 0; i < method.input_count(); ++i) {
    const Value input = method.input(i);
    if (NeedsMemory(input)) CORTEX_M_RETURN_IF_ERROR(method.SetInputMemory(i, pool.Take(ByteSize(input.as_tensor))));
  }
  for (size_t i = 0; i < method.output_count(); ++i) {
    const Value output = method.output(i);
    if (NeedsMemory(output)) CORTEX_M_RETURN_IF_ERROR(method.SetOutputMemory(i, pool.Take(ByteSize(output.as_tensor))));
  }
  return Status();
}

}  // namespace cortex_m
