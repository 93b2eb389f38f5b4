// Runs mutated programs with the real kernels: `bazel run //cortex_m/runtime:fuzz -- --runs=100000`.
//
//   --runs=N      so many mutated programs, each from one of the corpus in turn
//   --extremes    first each number of the corpus at each end of its range, one at a time
//   --seed=N      of the mutations: the same seed and corpus give the same programs. 1 if it is not given
//   --seconds=N   ends after so long, whatever --runs says
//   --write=DIR   writes each program to DIR/N.pte, too: for runs on a core
//   FILE...       the corpus, in place of the repository's; without --runs they run as they are
//
// A program whose run comes to no orderly end is written to crash.pte, in the folder that bazel was started in. At the end: what became
// of the programs, and of each kernel's calls. With clang, -fsanitize=fuzzer and -DCORTEX_M_LIBFUZZER it is a target of libFuzzer, with
// the same mutations.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cortex_m/runner/kernels.h"
#include "cortex_m/runtime/loaded_method.h"
#include "cortex_m/runtime/program_json.h"
#include "cortex_m/runtime/testing/guarded_kernels.h"
#include "cortex_m/runtime/testing/mutate.h"

namespace cortex_m {
namespace {

// Of a program: enough for any kernel's branches, and so little that none runs long.
constexpr size_t kMostMemory = size_t{1} << 16;
constexpr int kMostSteps = 100;
constexpr unsigned kMostSeconds = 60;

enum class Outcome { kRefused, kNotInitialised, kRan };

constexpr const char* kCorpus = "cortex_m/runtime/testing/corpus";  // among the runfiles

const std::string* g_running_file = nullptr;
std::string g_crash = "crash.pte";

// Without the heap, which may be what is broken.
void WriteCrash() {
  if (g_running_file == nullptr) return;
  if (FILE* file = std::fopen(g_crash.c_str(), "wb")) {
    std::fwrite(g_running_file->data(), 1, g_running_file->size(), file);
    std::fclose(file);
    std::fprintf(stderr, "fuzz: the program is in %s\n", g_crash.c_str());
  }
}

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "fuzz: %s\n", what);
  WriteCrash();
  std::_Exit(1);
}

void OnAbort(int) {
  WriteCrash();
  std::_Exit(1);
}

void OnAlarm(int) { Fail("the program runs for longer than a minute"); }

void FillInputs(Method& method) {
  for (size_t i = 0; i < method.input_count(); ++i) {
    const Value input = method.input(i);
    if (input.tag == Tag::kTensor && input.as_tensor.data != nullptr) {
      std::memset(input.as_tensor.data, static_cast<int>(i), ByteSize(input.as_tensor));
    }
  }
}

Outcome Run(const std::string& file, KernelTable kernels) {
  g_running_file = &file;
  alarm(kMostSeconds);
  LoadedMethod loaded(file, kernels, nullptr, kMostMemory);
  if (!loaded.load_status.ok()) return Outcome::kRefused;
  ProgramJson(loaded.program);
  if (!loaded.status.ok()) return Outcome::kNotInitialised;
  std::vector<Span<const uint8_t>> memories;
  for (const Span<uint8_t>& memory : loaded.planned()) memories.push_back({memory.data, memory.size});
  for (uint32_t i = 0; i < SizeOf(loaded.program.flatbuffer()->segments()); ++i) {
    memories.push_back(loaded.program.Segment(i));
  }
  GuardMemories(std::move(memories));
  FillInputs(loaded.method);
  loaded.method.Begin();
  // A call that fails is no reason not to try the next one.
  for (int step = 0; step < kMostSteps && !loaded.method.done(); ++step) static_cast<void>(loaded.method.Step());
  GuardMemories({});
  const Span<const uint8_t> bytes = loaded.bytes();
  if (std::memcmp(bytes.data, file.data(), bytes.size) != 0) Fail("a kernel wrote into the program");
  return Outcome::kRan;
}

void PrintCounts() {
  uint64_t calls = 0;
  uint64_t ok = 0;
  size_t called = 0;
  std::printf("%-52s %12s %8s\n", "kernel", "calls", "ok");
  for (const KernelCount& count : KernelCounts()) {
    calls += count.calls;
    ok += count.ok;
    called += count.ok > 0;
    const double share =
        count.calls == 0 ? 0 : 100.0 * static_cast<double>(count.ok) / static_cast<double>(count.calls);
    std::printf("%-52s %12llu %6.1f %%\n", count.name, static_cast<unsigned long long>(count.calls), share);
  }
  std::printf("kernels that returned ok: %zu of %zu\n", called, KernelCounts().size());
  std::printf("kernel calls: %llu, ok: %.1f %%\n", static_cast<unsigned long long>(calls),
              calls == 0 ? 0 : 100.0 * static_cast<double>(ok) / static_cast<double>(calls));
}

}  // namespace
}  // namespace cortex_m

// What either sanitizer finds ends in SIGABRT.
extern "C" const char* __asan_default_options() { return "abort_on_error=1:allocator_may_return_null=1"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

#ifdef CORTEX_M_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const cortex_m::KernelTable kernels = cortex_m::Guarded(cortex_m::LinkedKernels());
  const std::string file(reinterpret_cast<const char*>(data), size);
  cortex_m::Run(file, kernels);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::string file(reinterpret_cast<const char*>(data), size);
  const cortex_m::AlignedBytes bytes(file);
  cortex_m::Program program;
  if (cortex_m::Program::Load(bytes.bytes(), program).ok()) file = cortex_m::Mutator(seed).Mutated(file);
  const size_t kept = std::min(file.size(), max_size);
  std::memcpy(data, file.data(), kept);
  return kept;
}

#else

int main(int argc, char** argv) {
  using cortex_m::Outcome;
  uint64_t runs = 0;
  bool extremes = false;
  uint64_t seed = 1;
  time_t seconds = 0;
  std::string write;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const std::string value = option.substr(option.find('=') + 1);
    if (option.rfind("--runs=", 0) == 0) {
      runs = std::strtoull(value.c_str(), nullptr, 10);
    } else if (option == "--extremes") {
      extremes = true;
    } else if (option.rfind("--seed=", 0) == 0) {
      seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (option.rfind("--seconds=", 0) == 0) {
      seconds = static_cast<time_t>(std::strtoll(value.c_str(), nullptr, 10));
    } else if (option.rfind("--write=", 0) == 0) {
      write = value;
    } else if (option.rfind("--", 0) == 0) {
      std::fprintf(stderr, "fuzz: unknown option %s\n", argv[i]);
      return 2;
    } else {
      names.push_back(option);
    }
  }
  if (names.empty() && std::filesystem::is_directory(cortex_m::kCorpus)) {
    for (const auto& entry : std::filesystem::directory_iterator(cortex_m::kCorpus)) names.push_back(entry.path());
    std::sort(names.begin(), names.end());
  }
  if (names.empty()) {
    std::fprintf(stderr, "fuzz: there is no program to start from: name some, or use `bazel run`\n");
    return 2;
  }
  std::vector<std::string> corpus(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (cortex_m::ReadFile(names[i].c_str(), corpus[i])) continue;
    std::fprintf(stderr, "fuzz: %s cannot be read\n", names[i].c_str());
    return 2;
  }
  if (const char* folder = std::getenv("BUILD_WORKING_DIRECTORY"))
    cortex_m::g_crash = std::string(folder) + "/crash.pte";
  std::signal(SIGALRM, cortex_m::OnAlarm);
  std::signal(SIGABRT, cortex_m::OnAbort);
  const cortex_m::KernelTable kernels = cortex_m::Guarded(cortex_m::LinkedKernels());
  uint64_t counts[3] = {};
  std::vector<std::string> loadable;
  for (size_t i = 0; i < corpus.size(); ++i) {
    const Outcome outcome = cortex_m::Run(corpus[i], kernels);
    ++counts[static_cast<size_t>(outcome)];
    if (runs == 0) std::printf("%s: %s\n", names[i].c_str(), outcome == Outcome::kRan ? "ran" : "refused");
    if (outcome != Outcome::kRefused) loadable.push_back(corpus[i]);
  }
  if ((extremes || runs > 0) && loadable.empty()) {
    std::fprintf(stderr, "fuzz: each program of the corpus is refused\n");
    return 2;
  }
  for (size_t i = 0; extremes && i < loadable.size(); ++i) {
    const size_t count = cortex_m::Mutator::ExtremeCount(loadable[i]);
    for (size_t index = 0; index < count; ++index) {
      ++counts[static_cast<size_t>(cortex_m::Run(cortex_m::Mutator::Extreme(loadable[i], index), kernels))];
    }
  }
  cortex_m::Mutator mutator(seed);
  const time_t end = std::time(nullptr) + seconds;
  for (uint64_t run = 0; run < runs && (seconds == 0 || std::time(nullptr) < end); ++run) {
    const std::string mutated = mutator.Mutated(loadable[run % loadable.size()]);
    if (!write.empty()) {
      std::ofstream(write + "/" + std::to_string(run) + ".pte", std::ios::binary) << mutated;
    }
    ++counts[static_cast<size_t>(cortex_m::Run(mutated, kernels))];
  }
  alarm(0);
  cortex_m::PrintCounts();
  std::printf("programs: %llu, refused: %llu, not initialised: %llu, ran: %llu\n",
              static_cast<unsigned long long>(counts[0] + counts[1] + counts[2]),
              static_cast<unsigned long long>(counts[0]), static_cast<unsigned long long>(counts[1]),
              static_cast<unsigned long long>(counts[2]));
  return 0;
}

#endif
