#include "cortex_m/host/program.h"

#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "cortex_m/runner/kernels.h"
#include "cortex_m/runtime/loaded_method.h"
#include "cortex_m/runtime/program_json.h"

using cortex_m::Code;
using cortex_m::LoadedMethod;
using cortex_m::Method;
using cortex_m::Status;
using cortex_m::Tag;
using cortex_m::Value;

struct cortex_m_host_program {
  LoadedMethod loaded;
  std::string json;
};

namespace {

// More than a Cortex-M with its external memory has; a damaged file that asks for gigabytes is refused.
constexpr size_t kMostBytes = size_t{512} << 20;

void Tell(const std::string& sentence, char* error, size_t error_size) {
  if (error_size == 0) return;
  const size_t length = sentence.size() < error_size ? sentence.size() : error_size - 1;
  std::memcpy(error, sentence.data(), length);
  error[length] = '\0';
}

// memcpy that takes a null pointer with no bytes: a tensor without elements may have none.
void Copy(void* to, const void* from, size_t size) {
  if (size > 0) std::memcpy(to, from, size);
}

size_t NumberSize(Tag tag) { return tag == Tag::kBool ? sizeof(bool) : tag == Tag::kNone ? 0 : sizeof(int64_t); }

// A number that the exporter saw is a constant for it: the program computes with that one, whatever the caller says.
bool SameNumber(const Value& input, const uint8_t* number) {
  switch (input.tag) {
    case Tag::kBool:
      return input.as_bool == (*number != 0);
    case Tag::kInt:
      return std::memcmp(&input.as_int, number, sizeof input.as_int) == 0;
    case Tag::kDouble:
      return std::memcmp(&input.as_double, number, sizeof input.as_double) == 0;
    default:
      return true;
  }
}

Status ReadInput(const Method& method, size_t index, const uint8_t* values, size_t run) {
  const Value input = method.input(index);
  if (input.tag == Tag::kTensor) {
    const size_t size = ByteSize(input.as_tensor);
    Copy(input.as_tensor.data, values + run * size, size);
  } else if (!SameNumber(input, values + run * NumberSize(input.tag))) {
    return Status(Code::kInvalidArgument, "the program was exported for another number", "input",
                  static_cast<int32_t>(index));
  }
  return Status();
}

void WriteOutput(const Method& method, size_t index, uint8_t* values, size_t run) {
  const Value output = method.output(index);
  if (output.tag == Tag::kTensor) {
    const size_t size = ByteSize(output.as_tensor);
    Copy(values + run * size, output.as_tensor.data, size);
    return;
  }
  const size_t size = NumberSize(output.tag);
  if (output.tag == Tag::kBool) {
    values[run] = output.as_bool ? 1 : 0;
  } else if (output.tag == Tag::kDouble) {
    Copy(values + run * size, &output.as_double, size);
  } else {
    Copy(values + run * size, &output.as_int, size);
  }
}

// Inputs are written anew for each run: the planner may have put other tensors in their place.
Status RunOnce(Method& method, size_t run, const uint8_t* const* inputs, uint8_t* const* outputs) {
  for (size_t i = 0; i < method.input_count(); ++i) CORTEX_M_RETURN_IF_ERROR(ReadInput(method, i, inputs[i], run));
  CORTEX_M_RETURN_IF_ERROR(method.Execute());
  for (size_t i = 0; i < method.output_count(); ++i) WriteOutput(method, i, outputs[i], run);
  return Status();
}

struct Trace {
  const Method& method;
  cortex_m_host_written written;
  void* context;

  static void Notify(void* context, int32_t instruction, cortex_m::Phase phase) {
    const Trace& trace = *static_cast<const Trace*>(context);
    if (phase == cortex_m::Phase::kBegin) return;
    for (size_t i = 0; i < trace.method.call_output_count(instruction); ++i) {
      const Value output = trace.method.call_output(instruction, i);
      if (output.tag != Tag::kTensor) continue;
      trace.written(trace.context, instruction, output.as_tensor.as<uint8_t>(), ByteSize(output.as_tensor));
    }
  }
};

}  // namespace

cortex_m_host_program* cortex_m_host_open(const uint8_t* bytes, size_t size, const char* method, char* error,
                                          size_t error_size) {
  try {
    const std::string file(reinterpret_cast<const char*>(bytes), size);
    std::unique_ptr<cortex_m_host_program> program(
        new cortex_m_host_program{{file, cortex_m::LinkedKernels(), method, kMostBytes}, ""});
    if (const Status& status = program->loaded.status; !status.ok()) {
      Tell(ToSentence(status), error, error_size);
      return nullptr;
    }
    program->json = ProgramJson(program->loaded.program);
    return program.release();
  } catch (const std::exception& failure) {  // no memory
    Tell(failure.what(), error, error_size);
    return nullptr;
  }
}

void cortex_m_host_close(cortex_m_host_program* program) { delete program; }

const char* cortex_m_host_json(const cortex_m_host_program* program) { return program->json.c_str(); }

size_t cortex_m_host_run(cortex_m_host_program* program, size_t count, const uint8_t* const* inputs,
                         uint8_t* const* outputs, char* error, size_t error_size) {
  for (size_t run = 0; run < count; ++run) {
    if (const Status status = RunOnce(program->loaded.method, run, inputs, outputs); !status.ok()) {
      Tell(cortex_m::ToSentence(status), error, error_size);
      return run;
    }
  }
  return count;
}

void cortex_m_host_reset(cortex_m_host_program* program) { program->loaded.method.Reset(program->loaded.program); }

size_t cortex_m_host_trace(cortex_m_host_program* program, const uint8_t* const* inputs, uint8_t* const* outputs,
                           cortex_m_host_written written, void* context, char* error, size_t error_size) {
  Method& method = program->loaded.method;
  Trace trace = {method, written, context};
  method.set_observer({Trace::Notify, &trace});
  const size_t done = cortex_m_host_run(program, 1, inputs, outputs, error, error_size);
  method.set_observer({});
  return done;
}

const char* cortex_m_host_kernel(size_t index) {
  const cortex_m::KernelTable kernels = cortex_m::LinkedKernels();
  return index < kernels.size ? kernels[index].name : nullptr;
}
