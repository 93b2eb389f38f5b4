// A method of a program, ready to run: kernels found, planned memory bound. No heap; all RAM is handed in.
//
//   static MethodStorage<kForwardSizes> storage;            // kForwardSizes: program_info prints it at build time
//   alignas(16) static uint8_t arena[kForwardArenaBytes];
//   static const Span<uint8_t> planned[] = {{arena, sizeof(arena)}};
//
//   Method method;
//   Status status = method.Init(program, "forward", kernels, storage.buffers(), {planned, 1});
//   memcpy(method.input(0).as_tensor.data, image, image_size);
//   if (status = method.Execute(); !status.ok()) ...
//   const Tensor& scores = method.output(0).as_tensor;
//
// Arguments are read from the program at each call, so that RAM holds only: one function pointer for each operator, a slot for
// each value that changes beside tensors' data (plan.h), and room for the arguments of the largest call.
#ifndef CORTEX_M_RUNTIME_METHOD_H_
#define CORTEX_M_RUNTIME_METHOD_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/runtime/kernel.h"
#include "cortex_m/runtime/method_buffers.h"
#include "cortex_m/runtime/program.h"
#include "cortex_m/runtime/status.h"
#include "cortex_m/runtime/tensor.h"

namespace executorch_flatbuffer {
struct EValue;
struct Instruction;
struct IntList;
struct KernelCall;
enum class KernelTypes : uint8_t;
struct OptionalTensorList;
struct Tensor;
struct TensorList;
}  // namespace executorch_flatbuffer

namespace cortex_m {

// What the executor is doing now, for a fault handler or a watchdog: the instruction, -1 between instructions, and the operator
// it calls, null if it calls none. One for the image: the device runs one method at a time.
struct Running {
  volatile int32_t instruction = -1;
  const char* volatile operator_name = nullptr;
};
extern Running g_running;

enum class Phase : uint8_t { kBegin, kEnd };

// Called before and after each instruction: to count ticks, to look at tensors.
struct Observer {
  void (*notify)(void* context, int32_t instruction, Phase phase) = nullptr;
  void* context = nullptr;
};

class Method {
 public:
  // A program with a loop can run forever; Execute() ends with a Status after so many instructions.
  static constexpr uint32_t kInstructionLimit = uint32_t{1} << 24;

  Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;

  // name: the method, or null for the first one. planned[i]: memory of id i + 1, aligned to kDataAlignment, at least
  // PlannedBytes() long. All that is handed in, and the program's bytes, must outlive the method. Copies the initial state of mutable tensors.
  // Errors: kNotFound names the method, or the operator without a kernel and its first instruction; kResourceExhausted has the
  // memory id as index; kUnsupported and kInvalidProgram cannot happen for a program that Load() accepted.
  Status Init(const Program& program, const char* name, KernelTable kernels, const MethodBuffers& buffers,
              Span<const Span<uint8_t>> planned);

  // The same for a program that was verified at build, and buffers of the sizes that Measure() said there: not measured again.
  Status InitMeasured(const Program& program, const char* name, KernelTable kernels, const MethodBuffers& buffers,
                      Span<const Span<uint8_t>> planned);

  size_t input_count() const;
  size_t output_count() const;
  // A tensor, with null data while it has no memory, or a number. Index must be below the count. An output number has its value
  // after Execute().
  Value input(size_t index) const;
  Value output(size_t index) const;

  // Memory for an input or output tensor that the exporter did not plan: aligned to its element, at least its size.
  Status SetInputMemory(size_t index, Span<uint8_t> memory);
  Status SetOutputMemory(size_t index, Span<uint8_t> memory);
  // For an input that is a number, of the same tag.
  Status SetInput(size_t index, const Value& number);

  Status Execute(uint32_t instruction_limit = kInstructionLimit);

  // The same by single steps: Begin(); while (!done()) Step();
  void Begin();
  bool done() const;
  Status Step();
  // The instruction that Step() will run.
  int32_t next_instruction() const { return static_cast<int32_t>(next_); }
  size_t instruction_count() const;
  // Name without overload; null if the instruction is no kernel call.
  const char* operator_name(int32_t instruction) const;
  // What a kernel call writes: tensors, those of a list one by one, or numbers. 0 for an instruction that is none. They hold until
  // a later instruction reuses their memory.
  size_t call_output_count(int32_t instruction) const;
  Value call_output(int32_t instruction, size_t index) const;

  // Tensors that keep their contents from run to run, the buffers that the model changes, hold again what the program, which is
  // that of Init(), has for them. Those for which it has nothing stay as they are.
  void Reset(const Program& program);

  void set_observer(const Observer& observer) { observer_ = observer; }

 private:
  const executorch_flatbuffer::KernelCall* CallAt(int32_t instruction) const;
  // The list of the call's outs; null if they are arguments of their own.
  const executorch_flatbuffer::TensorList* OutListOf(const executorch_flatbuffer::KernelCall& call) const;
  Status FindKernels(KernelTable kernels);
  Status BindMemory(Span<const Span<uint8_t>> planned);
  void FindConstants(const Program& program);
  void FillSlots();

  Slot* FindSlot(int32_t value) const;
  Tensor TensorOf(const executorch_flatbuffer::Tensor& stored, int32_t value) const;
  // The value itself, whatever a move made of it.
  Tensor OwnTensor(int32_t value) const;
  // What the value stands for now, if that is a number or a tensor; kNone for a list or string.
  Value Read(int32_t value) const;
  Value ReadSlot(const Slot& slot) const;
  void ReadInto(const executorch_flatbuffer::EValue& stored, executorch_flatbuffer::KernelTypes type, int32_t value,
                Value& read) const;
  Status SetMemory(int32_t value, Span<uint8_t> memory);

  // Room in buffers_ that the call at hand has used for the items of its lists.
  struct Used {
    size_t integers = 0;
    size_t tensors = 0;
    size_t tensor_pointers = 0;
  };
  Status ReadTensor(int32_t value, Tensor& tensor) const;
  Status ReadInts(const executorch_flatbuffer::IntList& list, Used& used, Value& argument) const;
  Status ReadTensors(const executorch_flatbuffer::TensorList& list, Used& used, Value& argument) const;
  Status ReadOptionalTensors(const executorch_flatbuffer::OptionalTensorList& list, Used& used, Value& argument) const;
  Status ReadList(const executorch_flatbuffer::EValue& stored, executorch_flatbuffer::KernelTypes type, Used& used,
                  Value& argument) const;
  // The first `count` of them, into buffers_.arguments.
  Status ReadArguments(const executorch_flatbuffer::KernelCall& call, size_t count) const;

  Status Run(const executorch_flatbuffer::Instruction& instruction);
  Status Call(const executorch_flatbuffer::KernelCall& call);
  void Move(int32_t from, int32_t to);
  Status IsTrue(int32_t condition, bool& truth) const;

  const executorch_flatbuffer::ExecutionPlan* plan_ = nullptr;
  // Constant `buffer` lies at constants_ + constant_offsets_[buffer]; both null for a program without.
  const uint8_t* constants_ = nullptr;
  const uint64_t* constant_offsets_ = nullptr;
  MethodBuffers buffers_;
  Span<const Span<uint8_t>> planned_;
  Observer observer_;
  uint32_t next_ = 0;
};

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_METHOD_H_
