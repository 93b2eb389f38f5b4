#include "cortex_m/runtime/testing/program_maker.h"

#include <cstring>

namespace cortex_m {
namespace {

constexpr size_t kSegmentAlignment = 128;
constexpr size_t kHeader = 32;

void PadTo(std::string& bytes, size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

template <typename T>
void Write(std::string& bytes, size_t at, T number) {
  std::memcpy(&bytes[at], &number, sizeof(T));
}

fbs::TensorT Strided(ScalarType dtype, const std::vector<int32_t>& sizes) {
  fbs::TensorT tensor;
  tensor.scalar_type = static_cast<fbs::ScalarType>(dtype);
  tensor.sizes = sizes;
  for (size_t i = 0; i < sizes.size(); ++i) tensor.dim_order.push_back(static_cast<uint8_t>(i));
  return tensor;
}

}  // namespace

ProgramMaker::ProgramMaker(int64_t planned_bytes) {
  auto plan = std::make_unique<fbs::ExecutionPlanT>();
  plan->name = "forward";
  plan->non_const_buffer_sizes = {0, planned_bytes};
  plan->chains.push_back(std::make_unique<fbs::ChainT>());
  program.execution_plan.push_back(std::move(plan));
}

int ProgramMaker::Int(int64_t number) {
  fbs::IntT value;
  value.int_val = number;
  return Add(std::move(value));
}

int ProgramMaker::Bool(bool truth) {
  fbs::BoolT value;
  value.bool_val = truth;
  return Add(std::move(value));
}

int ProgramMaker::Double(double number) {
  fbs::DoubleT value;
  value.double_val = number;
  return Add(std::move(value));
}

int ProgramMaker::String(const std::string& text) {
  fbs::StringT value;
  value.string_val = text;
  return Add(std::move(value));
}

int ProgramMaker::IntList(const std::vector<int64_t>& values) {
  fbs::IntListT list;
  list.items = values;
  return Add(std::move(list));
}

int ProgramMaker::BoolList(const std::vector<bool>& items) {
  fbs::BoolListT list;
  list.items.assign(items.begin(), items.end());
  return Add(std::move(list));
}

int ProgramMaker::DoubleList(const std::vector<double>& items) {
  fbs::DoubleListT list;
  list.items = items;
  return Add(std::move(list));
}

int ProgramMaker::TensorList(const std::vector<int32_t>& values) {
  fbs::TensorListT list;
  list.items = values;
  return Add(std::move(list));
}

int ProgramMaker::OptionalTensorList(const std::vector<int32_t>& values) {
  fbs::OptionalTensorListT list;
  list.items = values;
  return Add(std::move(list));
}

int ProgramMaker::Unplanned(ScalarType dtype, const std::vector<int32_t>& sizes) { return Add(Strided(dtype, sizes)); }

int ProgramMaker::Planned(ScalarType dtype, const std::vector<int32_t>& sizes, uint32_t offset, uint32_t memory_id) {
  fbs::TensorT tensor = Strided(dtype, sizes);
  tensor.allocation_info = std::make_unique<fbs::AllocationDetailsT>();
  tensor.allocation_info->memory_id = memory_id;
  tensor.allocation_info->memory_offset_low = offset;
  return Add(std::move(tensor));
}

uint32_t ProgramMaker::Append(std::string& segment, std::unique_ptr<fbs::SubsegmentOffsetsT>& table,
                              const std::string& data) {
  if (table == nullptr) {
    table = std::make_unique<fbs::SubsegmentOffsetsT>();
    table->offsets = {0};  // index 0 means "no data"
  }
  PadTo(segment, 16);
  table->offsets.push_back(segment.size());
  segment += data;
  return static_cast<uint32_t>(table->offsets.size() - 1);
}

int ProgramMaker::Constant(ScalarType dtype, const std::vector<int32_t>& sizes, const std::string& data) {
  fbs::TensorT tensor = Strided(dtype, sizes);
  tensor.data_buffer_idx = Append(constants_, program.constant_segment, data);
  return Add(std::move(tensor));
}

int ProgramMaker::State(ScalarType dtype, const std::vector<int32_t>& sizes, uint32_t offset, const std::string& data) {
  const int value = Planned(dtype, sizes, offset);
  if (program.mutable_data_segments.empty()) program.mutable_data_segments.emplace_back();
  tensor(value).data_buffer_idx = Append(state_, program.mutable_data_segments[0], data);
  return value;
}

int ProgramMaker::Operator(const std::string& name, const std::string& overload) {
  auto op = std::make_unique<fbs::OperatorT>();
  op->name = name;
  op->overload = overload;
  plan().operators.push_back(std::move(op));
  return static_cast<int>(plan().operators.size()) - 1;
}

void ProgramMaker::Call(int op, const std::vector<int32_t>& args) {
  fbs::KernelCallT call;
  call.op_index = op;
  call.args = args;
  AddInstruction(std::move(call));
}

void ProgramMaker::Move(int from, int to) {
  fbs::MoveCallT move;
  move.move_from = from;
  move.move_to = to;
  AddInstruction(std::move(move));
}

void ProgramMaker::JumpFalse(int condition, int destination) {
  fbs::JumpFalseCallT jump;
  jump.cond_value_index = condition;
  jump.destination_instruction = destination;
  AddInstruction(std::move(jump));
}

void ProgramMaker::Free(int value) {
  fbs::FreeCallT free;
  free.value_index = value;
  AddInstruction(std::move(free));
}

std::string ProgramMaker::File(uint32_t header_length) {
  // A test that has filled `segments` by itself wants them as they are.
  const bool own_segments = program.segments.empty();
  if (own_segments) segments.clear();
  if (own_segments) {
    const auto place = [&](const std::string& data, fbs::SubsegmentOffsetsT* table) {
      if (table == nullptr) return;
      PadTo(segments, kSegmentAlignment);
      table->segment_index = static_cast<uint32_t>(program.segments.size());
      auto segment = std::make_unique<fbs::DataSegmentT>();
      segment->offset = segments.size();
      segment->size = data.size();
      program.segments.push_back(std::move(segment));
      segments += data;
    };
    place(constants_, program.constant_segment.get());
    place(state_, program.mutable_data_segments.empty() ? nullptr : program.mutable_data_segments[0].get());
  }

  flatbuffers::FlatBufferBuilder builder;
  fbs::FinishProgramBuffer(builder, fbs::Program::Pack(builder, &program));
  if (own_segments) program.segments.clear();
  std::string file(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  if (header_length == 0) return file + segments;

  file.insert(8, kHeader, '\0');
  Write(file, 0, flatbuffers::ReadScalar<uint32_t>(file.data()) + static_cast<uint32_t>(kHeader));
  std::memcpy(&file[8], "eh00", 4);
  Write(file, 12, header_length);
  Write(file, 16, static_cast<uint64_t>(file.size()));
  if (segments.empty()) return file;
  std::string padded = file;
  PadTo(padded, kSegmentAlignment);
  Write(padded, 24, static_cast<uint64_t>(padded.size()));
  if (header_length >= 32) Write(padded, 32, static_cast<uint64_t>(segments.size()));
  return padded + segments;
}

}  // namespace cortex_m
