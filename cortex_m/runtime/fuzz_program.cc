// For long fuzzing of the loader and executor, by hand:
//
//   fuzz_program FILE.pte...                  each file as it is
//   fuzz_program --mutate N FILE.pte...       and N random mutations of each (the seed is the file's index: repeatable)
//
// Prints how many were refused, failed and ran. Build it with the sanitizers (//cortex_m/runtime:fuzz_program does); with clang
// and -DCORTEX_M_LIBFUZZER -fsanitize=fuzzer it is a libFuzzer target instead.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cortex_m/runtime/plan.h"
#include "cortex_m/runtime/program_file.h"
#include "cortex_m/runtime/testing/run_any.h"

namespace {

// The operators of a program that loads, so that its mutations find them.
std::set<std::string> OperatorsOf(const std::string& file) {
  std::set<std::string> names;
  const cortex_m::AlignedBytes bytes(file);
  cortex_m::Program program;
  if (!cortex_m::Program::Load(bytes.bytes(), program).ok()) return names;
  for (const auto* op : *program.FindPlan(nullptr)->operators()) {
    names.insert(op->name()->str() + (cortex_m::SizeOf(op->overload()) == 0 ? "" : "." + op->overload()->str()));
  }
  return names;
}

std::string Mutated(std::string file, std::mt19937& random) {
  for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
    const size_t at = random() % file.size();
    if (random() % 4 == 0 && at + 4 <= file.size()) {
      const uint32_t word = static_cast<uint32_t>(random()) >> random() % 32;
      std::memcpy(&file[at & ~size_t{3}], &word, sizeof(word));
    } else {
      file[at] = static_cast<char>(file[at] ^ (1 << random() % 8));
    }
  }
  if (random() % 16 == 0) file.resize(random() % file.size());
  return file;
}

}  // namespace

#if defined(CORTEX_M_LIBFUZZER)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  cortex_m::RunAny(file, {"test::touch"});
  return 0;
}

#else

int main(int argc, char** argv) {
  int first = 1;
  long mutations = 0;
  if (argc > 2 && std::strcmp(argv[1], "--mutate") == 0) {
    mutations = std::strtol(argv[2], nullptr, 10);
    first = 3;
  }
  if (first >= argc) {
    std::fprintf(stderr, "usage: fuzz_program [--mutate N] FILE.pte...\n");
    return 1;
  }
  for (int i = first; i < argc; ++i) {
    std::string file;
    if (!cortex_m::ReadFile(argv[i], file) || file.empty()) {
      std::fprintf(stderr, "fuzz_program: %s: cannot be read\n", argv[i]);
      return 1;
    }
    const std::set<std::string> operators = OperatorsOf(file);
    std::vector<const char*> names;
    for (const std::string& name : operators) names.push_back(name.c_str());
    std::mt19937 random(static_cast<unsigned>(i));
    long counts[4] = {};
    ++counts[static_cast<size_t>(cortex_m::RunAny(file, names))];
    for (long n = 0; n < mutations; ++n) ++counts[static_cast<size_t>(cortex_m::RunAny(Mutated(file, random), names))];
    std::printf("%s: %ld refused, %ld not initialised, %ld failed, %ld ran\n", argv[i], counts[0], counts[1], counts[2],
                counts[3]);
  }
  return 0;
}

#endif
