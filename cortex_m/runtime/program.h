// A .pte file in memory, checked before anything of it is used.
//
//   alignas(16) extern const uint8_t model_pte[];
//   Program program;
//   Status status = Program::Load({model_pte, model_pte_size}, program);
//   for (size_t i = 0; i < program.method_count(); ++i) puts(program.method_name(i));
//
// The format is executorch's: a flatbuffer of program.fbs (file identifier ET12), an optional extended header behind the
// identifier, and data segments behind the flatbuffer. Load() trusts no byte of it: after Load() has returned ok, no index, size
// or offset that the executor follows leads out of the file or out of a planned buffer. What is valid but not done here
// (delegates, dynamic shapes, data outside the file) is refused as kUnsupported, with the value or instruction concerned.
//
// A Program owns nothing: the bytes must outlive it, and are never written to.
#ifndef CORTEX_M_RUNTIME_PROGRAM_H_
#define CORTEX_M_RUNTIME_PROGRAM_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/runtime/status.h"
#include "cortex_m/runtime/target.h"
#include "cortex_m/runtime/tensor.h"

namespace executorch_flatbuffer {
struct ExecutionPlan;
struct Program;
}  // namespace executorch_flatbuffer

namespace cortex_m {

// Of the file in memory, of planned buffers, and of each planned or constant tensor in them. It is what executorch's exporter
// gives by default, and what a kernel may count on that casts its scratch bytes to words.
constexpr size_t kDataAlignment = 16;
// The format has 64-bit sizes; a file, a planned buffer or a tensor that does not stay below this is refused on every machine,
// so that the host's verdict is the device's.
constexpr uint64_t kMaxBytes = uint64_t{1} << 31;
// A call with more arguments, or a method with more values that change (see method.h), is refused.
constexpr size_t kMaxArguments = 255;
constexpr size_t kMaxSlots = 1024;

class Program {
 public:
  Program() = default;

  // Verifies `bytes`, the whole file, aligned to kDataAlignment; refuses a program for other cores. On failure `program` stays
  // empty.
  static Status Load(Span<const uint8_t> bytes, Program& program);

  // For bytes that Load() accepted when the image was built and that cannot change since: checks no more than the header, and
  // the linker leaves the verifier out.
  static Status LoadVerifiedAtBuild(Span<const uint8_t> bytes, Program& program);

  // What the program was exported for.
  const Target& target() const { return target_; }

  size_t method_count() const;
  // Null if there is no such method.
  const char* method_name(size_t index) const;

  Span<const uint8_t> bytes() const { return bytes_; }
  // The first part of the file: all but the data segments.
  size_t flatbuffer_size() const { return flatbuffer_size_; }

  // For the runtime itself.
  const executorch_flatbuffer::Program* flatbuffer() const { return flatbuffer_; }
  // The plan called `name`, or the first one for null. Null if there is none.
  const executorch_flatbuffer::ExecutionPlan* FindPlan(const char* name) const;
  // Where segment `segment` begins, and how many bytes it has; for indices that Load() accepted.
  Span<const uint8_t> Segment(size_t segment) const;
  // Initial state of the mutable tensor whose data_buffer_idx is `buffer`.
  const uint8_t* InitialState(size_t mutable_segment, size_t buffer) const;

 private:
  // Reads the header: size of the flatbuffer, begin of the segments.
  Status Open(Span<const uint8_t> bytes);
  // Reads the target of a sealed file, and asks whether it is this core.
  Status OpenTarget(Span<const uint8_t> bytes);

  friend Status VerifyProgram(const Program& program);

  Span<const uint8_t> bytes_;
  const executorch_flatbuffer::Program* flatbuffer_ = nullptr;
  size_t flatbuffer_size_ = 0;
  size_t segments_begin_ = 0;
  Target target_;
};

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_PROGRAM_H_
