#include "cortex_m/runner/trace.h"

#include <cstring>

#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"
#include "cortex_m/runner/files.h"

namespace cortex_m {
namespace {

constexpr size_t kPathLimit = 1024;

struct Trace {
  const Method& method;
  PlatformFile file;
  bool written = true;

  static void Notify(void* context, int32_t instruction, Phase phase) {
    Trace& trace = *static_cast<Trace*>(context);
    if (phase == Phase::kBegin) return;
    for (size_t i = 0; i < trace.method.call_output_count(instruction); ++i) {
      const Value output = trace.method.call_output(instruction, i);
      if (output.tag != Tag::kTensor) continue;
      const size_t bytes = ByteSize(output.as_tensor);
      trace.written = trace.written && platform_write_file(trace.file, output.as_tensor.data, bytes);
      print_text("trace ");
      print_decimal(instruction);
      print_text(" ");
      print_decimal(static_cast<int64_t>(bytes));
      print_text("\n");
    }
  }
};

}  // namespace

bool WriteTrace(Method& method, const char* prefix) {
  static char path[kPathLimit];
  const size_t length = std::strlen(prefix);
  if (length + sizeof "-trace.bin" > kPathLimit) {
    PrintError("the output prefix is too long:", prefix);
    return false;
  }
  std::memcpy(path, prefix, length);
  std::memcpy(path + length, "-trace.bin", sizeof "-trace.bin");
  const PlatformFile file = platform_open(path, kPlatformWrite);
  if (file < 0) {
    PrintError("cannot create the file", path);
    return false;
  }
  Trace trace{method, file};
  method.set_observer({Trace::Notify, &trace});
  const Status status = method.Execute();
  method.set_observer({});
  if (!platform_close(file) || !trace.written) {
    PrintError("cannot write", path);
    return false;
  }
  if (!status.ok()) PrintError(status);
  return status.ok();
}

}  // namespace cortex_m
