// Runs any program, read from the host: for tests of operators, of many models in one start, and of corrupted files.
//
//   runner --batch list.txt [--limit N | --profile | --trace]
//
// Each line of list.txt is PROGRAM INPUT... OUTPUT_PREFIX, separated by spaces: one inference of the program's first
// method, its outputs written to OUTPUT_PREFIX-i.bin. For each line one line is printed,
//
//   result 0: ok, load 12345, inference 67890, arena 20464, state 1864
//   result 1: error: the file is truncated
//
// and the status is 0, whatever the results; 1 if the list itself cannot be processed. All memory is the board's largest,
// divided anew for each line; "arena" and "state" are what the method took of it, "load" and "inference" instructions. With
// --profile each program runs once more, and what each of its instructions costs follows its line (profile.h); with --trace
// what each computes is written to OUTPUT_PREFIX-trace.bin (trace.h). With --limit a program ends with an error after N of its
// instructions, for those that loop.
#include <cstdint>
#include <cstring>
#include <new>

#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"
#include "cortex_m/runner/files.h"
#include "cortex_m/runner/kernels.h"
#include "cortex_m/runner/profile.h"
#include "cortex_m/runner/trace.h"
#include "cortex_m/runtime/embedded.h"
#include "cortex_m/runtime/method.h"
#include "cortex_m/runtime/method_buffers.h"
#include "cortex_m/runtime/pool.h"
#include "cortex_m/runtime/program.h"

namespace cortex_m {
namespace {

constexpr size_t kMaxWords = 64;

struct Words {
  const char* items[kMaxWords];
  size_t count = 0;
};

Status TooSmall(const char* what) {
  return Status(Code::kResourceExhausted, "the board's memory is too small for the method's", what);
}

// An array of default-constructed items from the pool; memory that the last program used is not as a static array's.
template <typename T>
Span<T> TakeArray(Pool& pool, size_t count) {
  const Span<uint8_t> bytes = pool.Take(count * sizeof(T));
  T* const items = reinterpret_cast<T*>(bytes.data);
  for (size_t i = 0; items != nullptr && i < count; ++i) {
    new (items + i) T();
  }
  return {items, count};
}

// Cuts the buffers that `program` needs from the pool.
Status TakeBuffers(const Program& program, const char* name, Pool& pool, MethodBuffers& buffers) {
  MethodSizes sizes;
  CORTEX_M_RETURN_IF_ERROR(Measure(program, name, sizes));
  buffers.kernels = TakeArray<KernelFunction>(pool, sizes.operators);
  buffers.slots = TakeArray<Slot>(pool, sizes.slots);
  buffers.arguments = TakeArray<Value>(pool, sizes.arguments);
  buffers.integers = TakeArray<int64_t>(pool, sizes.integers);
  buffers.tensors = TakeArray<Tensor>(pool, sizes.tensors);
  buffers.tensor_pointers = TakeArray<const Tensor*>(pool, sizes.tensor_pointers);
  const bool taken = buffers.kernels.data != nullptr && buffers.slots.data != nullptr &&
                     buffers.arguments.data != nullptr && buffers.integers.data != nullptr &&
                     buffers.tensors.data != nullptr && buffers.tensor_pointers.data != nullptr;
  return taken ? Status() : TooSmall("state");
}

Status TakeArenas(const Program& program, const char* name, Pool& pool, Span<Span<uint8_t>>& arenas) {
  arenas = TakeArray<Span<uint8_t>>(pool, PlannedCount(program, name));
  if (arenas.data == nullptr) return TooSmall("arenas");
  for (size_t i = 0; i < arenas.size; ++i) {
    arenas[i] = pool.Take(PlannedBytes(program, name, i + 1));
    if (arenas[i].data == nullptr) return TooSmall("arena");
  }
  return Status();
}

struct Measured {
  uint64_t load = 0;
  uint64_t inference = 0;
  size_t state = 0;
  size_t arena = 0;
};

bool Check(const Status& status) {
  if (!status.ok()) PrintError(status);
  return status.ok();
}

void PrintMeasured(const Measured& measured) {
  const auto number = [](const char* what, uint64_t value) {
    print_text(what);
    print_decimal(static_cast<int64_t>(value));
  };
  number("ok, load ", measured.load);
  number(", inference ", measured.inference);
  number(", arena ", measured.arena);
  number(", state ", measured.state);
  print_text("\n");
}

enum class Extra { kNone, kProfile, kTrace };  // what a second run is for

// words: program, inputs, output prefix. Prints the result.
void RunProgram(const Words& words, Pool& pool, Extra extra, uint32_t limit) {
  Measured measured;
  Span<uint8_t> bytes;
  if (!ReadFile(words.items[0], pool, bytes)) return;

  const uint64_t begin = platform_instructions();
  Program program;
  if (!Check(Program::Load({bytes.data, bytes.size}, program))) return;
  const char* name = program.method_name(0);
  const size_t before_state = pool.mark();
  MethodBuffers buffers;
  if (!Check(TakeBuffers(program, name, pool, buffers))) return;
  const size_t before_arena = pool.mark();
  Span<Span<uint8_t>> arenas;
  if (!Check(TakeArenas(program, name, pool, arenas))) return;
  measured.state = before_arena - before_state + sizeof(Program) + sizeof(Method);
  measured.arena = pool.mark() - before_arena;
  Method method;
  if (!Check(method.Init(program, name, LinkedKernels(), buffers, {arenas.data, arenas.size}))) return;
  measured.load = platform_instructions() - begin;

  if (!Check(BindUnplanned(method, pool))) return;
  if (!ReadInputs(method, words.items + 1, words.count - 2)) return;
  const uint64_t run = platform_instructions();
  const Status status = method.Execute(limit);
  measured.inference = platform_instructions() - run;
  if (!Check(status) || !WriteOutputs(method, words.items[words.count - 1])) return;
  PrintMeasured(measured);
  if (extra == Extra::kNone) return;
  method.Reset(program);  // the first inference again
  if (!ReadInputs(method, words.items + 1, words.count - 2)) return;
  if (extra == Extra::kProfile) Check(PrintProfile(method));
  if (extra == Extra::kTrace) WriteTrace(method, words.items[words.count - 1]);
}

// Cuts the line that begins at `text` into words, in place; returns what follows its end, a line break or a zero.
char* SplitLine(char* text, Words& words, bool& fits) {
  while (*text != '\n' && *text != '\0') {
    if (*text == ' ') {
      *text++ = '\0';
      continue;
    }
    fits = fits && words.count < kMaxWords;
    if (fits) words.items[words.count++] = text;
    while (*text != ' ' && *text != '\n' && *text != '\0') ++text;
  }
  *text = '\0';
  return text + 1;
}

bool RunBatch(const char* path, Extra extra, uint32_t limit) {
  const PlatformPool memory = platform_pool();
  Pool pool({memory.start, memory.size});
  Span<uint8_t> list;
  if (!ReadFile(path, pool, list)) return false;
  if (list.size == 0 || list[list.size - 1] != '\n') {
    PrintError("the list does not end with a line break:", path);
    return false;
  }
  char* line = reinterpret_cast<char*>(list.data);
  char* const end = line + list.size;
  const size_t mark = pool.mark();
  for (int64_t index = 0; line != end; ++index) {
    Words words;
    bool fits = true;
    line = SplitLine(line, words, fits);
    print_text("result ");
    print_decimal(index);
    print_text(": ");
    if (!fits || words.count < 2) {
      print_text("error: the line does not have a program, at most 62 inputs and an output prefix\n");
      return false;
    }
    pool.Rewind(mark);
    RunProgram(words, pool, extra, limit);
  }
  return true;
}

// A whole number from 1 to 999999999.
bool ParseLimit(const char* text, uint32_t& limit) {
  limit = 0;
  for (int digits = 0; *text >= '0' && *text <= '9' && digits < 9; ++digits, ++text) {
    limit = limit * 10 + static_cast<uint32_t>(*text - '0');
  }
  return *text == '\0' && limit > 0;
}

}  // namespace
}  // namespace cortex_m

int main(int argc, char** argv) {
  cortex_m::Extra extra = cortex_m::Extra::kNone;
  if (argc == 4 && std::strcmp(argv[3], "--profile") == 0) extra = cortex_m::Extra::kProfile;
  if (argc == 4 && std::strcmp(argv[3], "--trace") == 0) extra = cortex_m::Extra::kTrace;
  uint32_t limit = cortex_m::Method::kInstructionLimit;
  const bool limited = argc == 5 && std::strcmp(argv[3], "--limit") == 0 && cortex_m::ParseLimit(argv[4], limit);
  if ((argc != 3 && !limited && extra == cortex_m::Extra::kNone) || std::strcmp(argv[1], "--batch") != 0) {
    print_text("error: usage: runner --batch LIST [--limit N | --profile | --trace]\n");
    return 1;
  }
  if (!cortex_m::RunBatch(argv[2], extra, limit)) return 1;
  // The host counts nothing and has no stack of its own.
  if (platform_stack_size() != 0) cortex_m::PrintValue("stack used", platform_stack_used());
  return 0;
}
