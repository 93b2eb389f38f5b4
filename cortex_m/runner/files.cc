#include "cortex_m/runner/files.h"

#include <cstring>

#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"

// For faults.c: what the executor was doing. Reads two words and nothing else.
extern "C" const char* cortex_m_fault_context(int* index) {
  *index = static_cast<int>(cortex_m::g_running.instruction);
  return cortex_m::g_running.operator_name;
}

namespace cortex_m {
namespace {

// One byte more than a path may have, the final zero.
constexpr size_t kPathLimit = 1024;

// A number as an input: where its bytes go.
void* NumberStorage(Value& value, size_t& bytes) {
  switch (value.tag) {
    case Tag::kInt:
      bytes = sizeof value.as_int;
      return &value.as_int;
    case Tag::kDouble:
      bytes = sizeof value.as_double;
      return &value.as_double;
    case Tag::kBool:
      bytes = sizeof value.as_bool;
      return &value.as_bool;
    default:
      bytes = 0;
      return nullptr;
  }
}

// Fills `memory` with the file at `path`, which must have exactly that size. `what` names the input for the message.
bool ReadExactly(const char* path, void* memory, size_t size, size_t input) {
  const PlatformFile file = platform_open(path, kPlatformRead);
  if (file < 0) {
    PrintError("there is no file", path);
    return false;
  }
  const int64_t length = platform_length(file);
  const bool matches = length >= 0 && static_cast<uint64_t>(length) == size;
  const bool whole = matches && platform_read(file, memory, size) == size;
  platform_close(file);
  if (!matches) {
    print_text("error: input ");
    print_decimal(static_cast<int64_t>(input));
    print_text(" has ");
    print_decimal(static_cast<int64_t>(size));
    print_text(" bytes, but the file ");
    print_text(path);
    print_text(" has ");
    print_decimal(length);
    print_text("\n");
    return false;
  }
  if (!whole) {
    PrintError("cannot read", path);
    return false;
  }
  return true;
}

bool ReadNumber(Method& method, size_t index, const char* path) {
  Value number = method.input(index);
  size_t bytes = 0;
  void* storage = NumberStorage(number, bytes);
  if (storage == nullptr) {
    PrintError("an input is neither a tensor nor a number, for", path);
    return false;
  }
  if (!ReadExactly(path, storage, bytes, index)) return false;
  if (number.tag == Tag::kBool) {
    uint8_t byte;
    std::memcpy(&byte, storage, 1);
    number.as_bool = byte != 0;
  }
  if (Status status = method.SetInput(index, number); !status.ok()) {
    PrintError(status);
    return false;
  }
  return true;
}

bool WriteOutput(const Value& output, const char* path) {
  Value number = output;
  size_t bytes = 0;
  const void* data = NumberStorage(number, bytes);
  if (output.tag == Tag::kTensor) {
    data = output.as_tensor.data;
    bytes = ByteSize(output.as_tensor);
  }
  const PlatformFile file = platform_open(path, kPlatformWrite);
  if (file < 0) {
    PrintError("cannot create the file", path);
    return false;
  }
  const bool written = platform_write_file(file, data, bytes);
  if (!platform_close(file) || !written) {
    PrintError("cannot write", path);
    return false;
  }
  return true;
}

// PREFIX-INDEX.bin
bool OutputPath(const char* prefix, size_t index, char (&path)[kPathLimit]) {
  const size_t length = std::strlen(prefix);
  if (length + sizeof "-999.bin" > kPathLimit || index > 999) {
    PrintError("the output prefix is too long, or there are more than 1000 outputs:", prefix);
    return false;
  }
  std::memcpy(path, prefix, length);
  char* next = path + length;
  *next++ = '-';
  if (index >= 100) *next++ = static_cast<char>('0' + index / 100);
  if (index >= 10) *next++ = static_cast<char>('0' + index / 10 % 10);
  *next++ = static_cast<char>('0' + index % 10);
  std::memcpy(next, ".bin", sizeof ".bin");
  return true;
}

}  // namespace

void PrintName(const char* name) {
  constexpr size_t kMaxLength = 100;
  char clean[kMaxLength];
  size_t length = 0;
  for (; length < kMaxLength && name[length] != '\0'; ++length) {
    clean[length] = name[length] >= ' ' && name[length] <= '~' ? name[length] : '?';
  }
  platform_write(clean, length);
}

void PrintError(const Status& status) {
  print_text("error: ");
  print_text(status.message());
  bool open = false;
  const auto part = [&open](const char* text) {
    print_text(open ? ", " : " (");
    PrintName(text);
    open = true;
  };
  // An operator's name is followed by its instruction; any other subject ("value") is what the index counts.
  const char* subject = status.subject();
  if (subject != nullptr) part(subject);
  if (status.index() >= 0) {
    if (subject == nullptr || std::strchr(subject, ':') != nullptr) part("instruction");
    print_text(" ");
    print_decimal(status.index());
  }
  if (status.argument() >= 0) {
    part("argument ");
    print_decimal(status.argument());
  }
  print_text(open ? ")\n" : "\n");
}

void PrintError(const char* message, const char* subject) {
  print_text("error: ");
  print_text(message);
  print_text(" ");
  print_text(subject);
  print_text("\n");
}

void PrintValue(const char* key, uint64_t value) {
  print_text(key);
  print_text(": ");
  print_decimal(static_cast<int64_t>(value));
  print_text("\n");
}

bool ReadFile(const char* path, Pool& pool, Span<uint8_t>& bytes) {
  const PlatformFile file = platform_open(path, kPlatformRead);
  if (file < 0) {
    PrintError("there is no file", path);
    return false;
  }
  const int64_t length = platform_length(file);
  bytes = length < 0 ? Span<uint8_t>() : pool.Take(static_cast<size_t>(length));
  const bool whole = bytes.data != nullptr && platform_read(file, bytes.data, bytes.size) == bytes.size;
  platform_close(file);
  if (length >= 0 && bytes.data == nullptr) {
    PrintError("the board's memory is too small for the file", path);
    return false;
  }
  if (!whole) {
    PrintError("cannot read", path);
    return false;
  }
  return true;
}

bool ReadInputs(Method& method, const char* const* paths, size_t count) {
  if (count != method.input_count()) {
    print_text("error: the method has ");
    print_decimal(static_cast<int64_t>(method.input_count()));
    print_text(" inputs, but ");
    print_decimal(static_cast<int64_t>(count));
    print_text(" files were given\n");
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const Value input = method.input(i);
    const bool read = input.tag == Tag::kTensor
                          ? ReadExactly(paths[i], input.as_tensor.data, ByteSize(input.as_tensor), i)
                          : ReadNumber(method, i, paths[i]);
    if (!read) return false;
  }
  return true;
}

bool WriteOutputs(const Method& method, const char* prefix) {
  static char path[kPathLimit];
  for (size_t i = 0; i < method.output_count(); ++i) {
    if (!OutputPath(prefix, i, path) || !WriteOutput(method.output(i), path)) return false;
  }
  return true;
}

}  // namespace cortex_m
