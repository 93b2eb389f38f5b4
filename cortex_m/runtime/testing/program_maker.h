// Makes .pte files for tests, valid ones and, through the public tables, any malformed one that flatbuffers can express.
//
//   ProgramMaker maker;
//   int x = maker.Planned(ScalarType::kFloat, {2, 3}, 0);
//   int y = maker.Planned(ScalarType::kFloat, {2, 3}, 32);
//   maker.Call(maker.Operator("test::copy", "out"), {x, y, y});
//   maker.plan().inputs = {x};
//   AlignedBytes bytes(maker.File());
//
// Layout of the file: as executorch's exir/_serialize/_program.py writes it (extended header behind the identifier, segments
// aligned to 128 bytes).
#ifndef CORTEX_M_RUNTIME_TESTING_PROGRAM_MAKER_H_
#define CORTEX_M_RUNTIME_TESTING_PROGRAM_MAKER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cortex_m/runtime/schema.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m {

class ProgramMaker {
 public:
  // One method "forward" with one planned memory of `planned_bytes`.
  explicit ProgramMaker(int64_t planned_bytes = 256);

  fbs::ExecutionPlanT& plan() { return *program.execution_plan[0]; }
  fbs::TensorT& tensor(int value) { return *plan().values[static_cast<size_t>(value)]->val.AsTensor(); }
  fbs::InstructionT& instruction(int index) { return *plan().chains[0]->instructions[static_cast<size_t>(index)]; }
  // Instructions made so far: the index of the next one.
  int instructions() { return static_cast<int>(plan().chains[0]->instructions.size()); }

  // Values; each returns its index.
  template <typename T>
  int Add(T value) {
    auto stored = std::make_unique<fbs::EValueT>();
    stored->val.Set(std::move(value));
    plan().values.push_back(std::move(stored));
    return static_cast<int>(plan().values.size()) - 1;
  }
  int Null() { return Add(fbs::NullT()); }
  int Int(int64_t number);
  int Bool(bool truth);
  int Double(double number);
  int String(const std::string& text);
  int IntList(const std::vector<int64_t>& values);
  int BoolList(const std::vector<bool>& items);
  int DoubleList(const std::vector<double>& items);
  int TensorList(const std::vector<int32_t>& values);
  int OptionalTensorList(const std::vector<int32_t>& values);
  // Contiguous tensors. Unplanned: no data, no place. State: planned, with initial bytes in the file.
  int Unplanned(ScalarType dtype, const std::vector<int32_t>& sizes);
  int Planned(ScalarType dtype, const std::vector<int32_t>& sizes, uint32_t offset, uint32_t memory_id = 1);
  int Constant(ScalarType dtype, const std::vector<int32_t>& sizes, const std::string& data);
  int State(ScalarType dtype, const std::vector<int32_t>& sizes, uint32_t offset, const std::string& data);

  int Operator(const std::string& name, const std::string& overload);
  // Instructions.
  void Call(int op, const std::vector<int32_t>& args);
  void Move(int from, int to);
  void JumpFalse(int condition, int destination);
  void Free(int value);
  template <typename T>
  void AddInstruction(T instruction) {
    auto stored = std::make_unique<fbs::InstructionT>();
    stored->instr_args.Set(std::move(instruction));
    plan().chains[0]->instructions.push_back(std::move(stored));
  }

  // The whole file. header_length: 24 or 32; 0 for none, as executorch does when no segment has bytes.
  std::string File(uint32_t header_length = 32);

  fbs::ProgramT program;
  std::string segments;  // the bytes of program.segments, if that is not empty

 private:
  static uint32_t Append(std::string& segment, std::unique_ptr<fbs::SubsegmentOffsetsT>& table,
                         const std::string& data);

  std::string constants_;
  std::string state_;
};

// The bytes of numbers as they lie in memory.
template <typename T>
std::string BytesOf(const std::vector<T>& numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
}

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_TESTING_PROGRAM_MAKER_H_
