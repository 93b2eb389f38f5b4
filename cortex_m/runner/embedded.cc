// Runs the one model that is embedded in the image.
//
//   runner --input image.bin [--input ...] --output-prefix out [--repeat N] [--profile]
//
// Reads one file for each input, runs the model N times (once by default), writes output i to out-i.bin and prints what
// it measured, one "key: value" a line. Instruction counts do not include reading and writing files. A failure prints
// one sentence, "error: ...", and ends with status 1. --profile runs the model once more and prints what each of its
// instructions costs.
//
// The model's .pte is assembled into the image (model.S), and every buffer is an array of the size that model_config.h,
// generated at build time from the same .pte, says.
#include "cortex_m/runtime/embedded.h"

#include <cstdint>
#include <cstring>

#include "cortex_m/boards/platform.h"
#include "cortex_m/boards/print.h"
#include "cortex_m/runner/files.h"
#include "cortex_m/runner/kernels.h"
#include "cortex_m/runner/profile.h"
#include "cortex_m/runtime/method.h"
#include "cortex_m/runtime/method_buffers.h"
#include "cortex_m/runtime/program.h"
#include "model_config.h"

extern "C" {
extern const uint8_t cortex_m_model[];
extern const uint8_t cortex_m_model_end[];
}

namespace cortex_m {
namespace {

constexpr size_t kMaxInputs = 16;

// What a program of this model holds in RAM beside its arena.
struct State {
  Program program;
  Method method;
  MethodStorage<model::kSizes> storage;
};
State state;

struct Options {
  const char* inputs[kMaxInputs];
  size_t input_count = 0;
  const char* output_prefix = nullptr;
  uint32_t repeat = 1;
  bool profile = false;
};

bool ParseCount(const char* text, uint32_t& count) {
  count = 0;
  for (; *text >= '0' && *text <= '9' && count < 100'000'000; ++text) {
    count = count * 10 + static_cast<uint32_t>(*text - '0');
  }
  return *text == '\0' && count > 0;
}

bool ParseOptions(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const char* name = argv[i];
    if (std::strcmp(name, "--profile") == 0) {
      options.profile = true;
      continue;
    }
    if (i + 1 == argc) {
      PrintError("unknown option, or an option without its value:", name);
      return false;
    }
    const char* value = argv[++i];
    if (std::strcmp(name, "--input") == 0) {
      if (options.input_count == kMaxInputs) {
        PrintError("more than 16 inputs, from", value);
        return false;
      }
      options.inputs[options.input_count++] = value;
    } else if (std::strcmp(name, "--output-prefix") == 0) {
      options.output_prefix = value;
    } else if (std::strcmp(name, "--repeat") == 0) {
      if (!ParseCount(value, options.repeat)) {
        PrintError("--repeat needs a number from 1 to 100000000, not", value);
        return false;
      }
    } else {
      PrintError("unknown option", name);
      return false;
    }
  }
  if (options.output_prefix == nullptr) {
    print_text("error: --output-prefix is missing: where the outputs are written\n");
    return false;
  }
  return true;
}

bool Load(uint64_t& instructions) {
  const uint64_t begin = platform_instructions();
  const EmbeddedModel embedded = {{cortex_m_model, static_cast<size_t>(cortex_m_model_end - cortex_m_model)},
                                  model::kMethod,
                                  LinkedKernels(),
                                  model::Planned(),
                                  model::kVerifiedAtBuild,
                                  model::Unplanned()};
  // The build has verified it (//cortex_m/rules:runner.bzl: verify_at), and it is as safe in flash as the code beside it.
  Status status = model::kVerifiedAtBuild ? Program::LoadVerifiedAtBuild(embedded.program, state.program)
                                          : Program::Load(embedded.program, state.program);
  if (status.ok()) status = Start(embedded, state.program, state.storage.buffers(), state.method);
  instructions = platform_instructions() - begin;
  if (!status.ok()) PrintError(status);
  return status.ok();
}

// Inputs are read again for each run: the planner may have put other tensors in their place.
bool Run(const Options& options, uint64_t& instructions) {
  for (uint32_t i = 0; i < options.repeat; ++i) {
    if (!ReadInputs(state.method, options.inputs, options.input_count)) return false;
    const uint64_t begin = platform_instructions();
    const Status status = state.method.Execute();
    instructions = platform_instructions() - begin;
    if (!status.ok()) {
      PrintError(status);
      return false;
    }
  }
  return WriteOutputs(state.method, options.output_prefix);
}

bool RunProfiled(const Options& options) {
  state.method.Reset(state.program);
  if (!ReadInputs(state.method, options.inputs, options.input_count)) return false;
  const Status status = PrintProfile(state.method);
  if (!status.ok()) PrintError(status);
  return status.ok();
}

int Main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, options)) return 1;
  uint64_t load_instructions = 0;
  if (!Load(load_instructions)) return 1;
  uint64_t run_instructions = 0;
  if (!Run(options, run_instructions)) return 1;

  print_text("board: ");
  print_text(platform_name());
  print_text("\nmethod: ");
  print_text(model::kMethod);
  print_text("\n");
  // The host counts nothing and has no stack of its own.
  if (platform_stack_size() != 0) {
    PrintValue("load instructions", load_instructions);
    PrintValue("inference instructions", run_instructions);
    PrintValue("stack used", platform_stack_used());
    PrintValue("stack size", platform_stack_size());
  }
  PrintValue("arena", model::kArenaBytes);
  PrintValue("method state", sizeof state);
  PrintValue("program", static_cast<uint64_t>(cortex_m_model_end - cortex_m_model));
  PrintValue("outputs", state.method.output_count());
  return !options.profile || RunProfiled(options) ? 0 : 1;
}

}  // namespace
}  // namespace cortex_m

int main(int argc, char** argv) { return cortex_m::Main(argc, argv); }
