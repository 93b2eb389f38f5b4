#include "cortex_m/runtime/boxed.h"

namespace cortex_m::boxing {

Status Check(Span<Value> args, const Accepts* accepts, size_t count) {
  if (args.size != count) {
    return Status(Code::kInvalidArgument, "the call has another number of arguments than the kernel takes");
  }
  for (size_t i = 0; i < count; ++i) {
    const Value& value = args[i];
    if ((accepts[i] & Only(value.tag)) == 0) {
      return Status(Code::kInvalidArgument, "argument has another type than the kernel takes").OfArgument(i);
    }
    if ((accepts[i] & kWritable) != 0 && value.as_tensor.constant) {
      return Status(Code::kInvalidArgument, "the kernel writes to this argument, which is a constant").OfArgument(i);
    }
    if ((accepts[i] & kScalarTypeCode) != 0 && (value.as_int < 0 || value.as_int > INT8_MAX)) {
      return Status(Code::kInvalidArgument, "argument is not the code of a scalar type").OfArgument(i);
    }
  }
  return Status();
}

}  // namespace cortex_m::boxing
