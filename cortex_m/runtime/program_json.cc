#include "cortex_m/runtime/program_json.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cortex_m/runtime/method_buffers.h"
#include "cortex_m/runtime/plan.h"
#include "cortex_m/runtime/schema.h"
#include "cortex_m/runtime/seal.h"

namespace cortex_m {
namespace {

std::string Quoted(const std::string& text) {
  static const char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      // Names are ASCII; other bytes of a hostile file are shown as if they were Latin-1, so that the JSON stays valid.
      quoted += "\\u00";
      quoted += kHex[byte >> 4];
      quoted += kHex[byte & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// The members of a JSON object, or the items of an array.
std::string Joined(const std::vector<std::string>& parts, char open, char close) {
  std::string joined(1, open);
  for (size_t i = 0; i < parts.size(); ++i) joined += (i == 0 ? "" : ", ") + parts[i];
  return joined + close;
}

std::string Member(const char* name, const std::string& json) { return Quoted(name) + ": " + json; }

std::string Object(const std::vector<std::pair<const char*, std::string>>& members) {
  std::vector<std::string> parts;
  for (const auto& [name, json] : members) parts.push_back(Member(name, json));
  return Joined(parts, '{', '}');
}

template <typename Vector>
std::string Numbers(const Vector* vector) {
  std::vector<std::string> parts;
  for (uint32_t i = 0; i < SizeOf(vector); ++i) parts.push_back(std::to_string(vector->Get(i)));
  return Joined(parts, '[', ']');
}

const char* NameOf(fbs::ScalarType type) {
  switch (static_cast<ScalarType>(type)) {
    case ScalarType::kByte:
      return "uint8";
    case ScalarType::kChar:
      return "int8";
    case ScalarType::kShort:
      return "int16";
    case ScalarType::kInt:
      return "int32";
    case ScalarType::kLong:
      return "int64";
    case ScalarType::kHalf:
      return "half";
    case ScalarType::kFloat:
      return "float";
    case ScalarType::kDouble:
      return "double";
    case ScalarType::kBool:
      return "bool";
  }
  return "unknown";
}

std::string FullName(const fbs::Operator& op) {
  return op.name()->str() + (SizeOf(op.overload()) == 0 ? "" : "." + op.overload()->str());
}

size_t BytesOf(const fbs::Tensor& tensor) {
  size_t bytes = ElementSize(static_cast<ScalarType>(tensor.scalar_type()));
  for (uint32_t i = 0; i < SizeOf(tensor.sizes()); ++i) bytes *= static_cast<size_t>(tensor.sizes()->Get(i));
  return bytes;
}

std::string EndJson(const fbs::ExecutionPlan& plan, int32_t index) {
  const fbs::EValue& value = ValueAt(plan, index);
  const fbs::Tensor* tensor = value.val_as_Tensor();
  if (tensor == nullptr) {
    const char* type = "none";
    if (value.val_type() == fbs::KernelTypes::Int) type = "int";
    if (value.val_type() == fbs::KernelTypes::Bool) type = "bool";
    if (value.val_type() == fbs::KernelTypes::Double) type = "double";
    return Object({{"value", std::to_string(index)}, {"type", Quoted(type)}});
  }
  const fbs::AllocationDetails* place = tensor->allocation_info();
  return Object({{"value", std::to_string(index)},
                 {"type", Quoted("tensor")},
                 {"dtype", Quoted(NameOf(tensor->scalar_type()))},
                 {"sizes", Numbers(tensor->sizes())},
                 {"dim_order", Numbers(tensor->dim_order())},
                 {"nbytes", std::to_string(BytesOf(*tensor))},
                 {"memory_id", std::to_string(place == nullptr ? 0 : place->memory_id())},
                 {"offset", std::to_string(place == nullptr ? 0 : place->memory_offset_low())}});
}

std::string EndsJson(const fbs::ExecutionPlan& plan, const flatbuffers::Vector<int32_t>* indices) {
  std::vector<std::string> parts;
  for (uint32_t i = 0; i < SizeOf(indices); ++i) parts.push_back(EndJson(plan, indices->Get(i)));
  return Joined(parts, '[', ']');
}

// "model.py:12" of the innermost frame, or empty.
std::string SourceOf(const fbs::ExecutionPlan& plan, uint32_t instruction) {
  const auto* traces = plan.chains()->Get(0)->stacktrace();
  if (instruction >= SizeOf(traces)) return "";
  const auto* frames = traces->Get(instruction)->items();
  if (SizeOf(frames) == 0) return "";
  const fbs::Frame& frame = *frames->Get(frames->size() - 1);
  if (frame.filename() == nullptr) return "";
  return frame.filename()->str() + ":" + std::to_string(frame.lineno());
}

const char* KindOf(const fbs::Instruction& instruction) {
  switch (instruction.instr_args_type()) {
    case fbs::InstructionArguments::KernelCall:
      return "kernel";
    case fbs::InstructionArguments::MoveCall:
      return "move";
    case fbs::InstructionArguments::JumpFalseCall:
      return "jump_false";
    default:
      return "free";
  }
}

std::string InstructionJson(const fbs::ExecutionPlan& plan, uint32_t index) {
  const fbs::Instruction& instruction = *InstructionsOf(plan)->Get(index);
  std::vector<std::pair<const char*, std::string>> members = {{"index", std::to_string(index)},
                                                              {"kind", Quoted(KindOf(instruction))}};
  if (const fbs::KernelCall* call = instruction.instr_args_as_KernelCall()) {
    const fbs::Operator& op = *plan.operators()->Get(static_cast<uint32_t>(call->op_index()));
    members.emplace_back("operator", Quoted(FullName(op)));
  }
  if (const std::string source = SourceOf(plan, index); !source.empty()) members.emplace_back("source", Quoted(source));
  return Object(members);
}

// Planned memory whose content lasts from one run to the next: tensors that the program initialises and changes.
size_t StateBytes(const fbs::ExecutionPlan& plan) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < SizeOf(plan.values()); ++i) {
    const fbs::Tensor* tensor = plan.values()->Get(i)->val_as_Tensor();
    if (tensor != nullptr && tensor->data_buffer_idx() != 0 && tensor->allocation_info() != nullptr)
      bytes += BytesOf(*tensor);
  }
  return bytes;
}

std::string SizesJson(const Program& program, const char* name) {
  MethodSizes sizes;
  if (!Measure(program, name, sizes).ok()) return "null";  // cannot be: the name comes from the program
  return Object({{"operators", std::to_string(sizes.operators)},
                 {"slots", std::to_string(sizes.slots)},
                 {"arguments", std::to_string(sizes.arguments)},
                 {"integers", std::to_string(sizes.integers)},
                 {"tensors", std::to_string(sizes.tensors)},
                 {"tensor_pointers", std::to_string(sizes.tensor_pointers)}});
}

std::string TargetJson(const Target& target) {
  if (target.name == nullptr) return "null";
  return Object({{"core", Quoted(target.name)}, {"instruction_set", Quoted(NameOfIsa(target.isa))}});
}

std::string MethodJson(const Program& program, const fbs::ExecutionPlan& plan) {
  const char* name = plan.name()->c_str();
  std::vector<std::string> instructions;
  std::set<std::string> operators;
  for (uint32_t i = 0; i < SizeOf(InstructionsOf(plan)); ++i) {
    instructions.push_back(InstructionJson(plan, i));
    const fbs::KernelCall* call = InstructionsOf(plan)->Get(i)->instr_args_as_KernelCall();
    if (call != nullptr)
      operators.insert(Quoted(FullName(*plan.operators()->Get(static_cast<uint32_t>(call->op_index())))));
  }
  std::vector<std::string> planned;
  for (size_t id = 1; id <= PlannedCount(program, name); ++id) {
    planned.push_back(std::to_string(PlannedBytes(program, name, id)));
  }
  return Object({{"name", Quoted(plan.name()->str())},
                 {"sizes", SizesJson(program, name)},
                 {"planned_bytes", Joined(planned, '[', ']')},
                 {"state_bytes", std::to_string(StateBytes(plan))},
                 {"operators", Joined({operators.begin(), operators.end()}, '[', ']')},
                 {"instructions", Joined(instructions, '[', ']')},
                 {"inputs", EndsJson(plan, plan.inputs())},
                 {"outputs", EndsJson(plan, plan.outputs())}});
}

}  // namespace

std::string ProgramJson(const Program& program) {
  const fbs::Program& root = *program.flatbuffer();
  size_t segments = 0;
  for (uint32_t i = 0; i < SizeOf(root.segments()); ++i) segments += program.Segment(i).size;
  const fbs::SubsegmentOffsets* constants = root.constant_segment();
  const size_t seal = program.target().name == nullptr ? 0 : kSealBytes;
  const bool has_constants = constants != nullptr && SizeOf(constants->offsets()) > 1;
  std::vector<std::string> methods;
  for (uint32_t i = 0; i < root.execution_plan()->size(); ++i) {
    methods.push_back(MethodJson(program, *root.execution_plan()->Get(i)));
  }
  return Object(
      {{"file_bytes", std::to_string(program.bytes().size + seal)},
       {"flatbuffer_bytes", std::to_string(program.flatbuffer_size())},
       {"segment_bytes", std::to_string(segments)},
       {"constant_bytes", std::to_string(has_constants ? program.Segment(constants->segment_index()).size : 0)},
       {"target", TargetJson(program.target())},
       {"methods", Joined(methods, '[', ']')}});
}

std::string ToSentence(const Status& status) {
  std::string sentence = status.message();
  std::string place = status.subject() == nullptr ? "" : status.subject();
  if (status.index() >= 0) place += (place.empty() ? "" : " ") + std::to_string(status.index());
  if (status.argument() >= 0)
    place += (place.empty() ? "argument " : ", argument ") + std::to_string(status.argument());
  return place.empty() ? sentence : sentence + " (" + place + ")";
}

}  // namespace cortex_m
