#include "cortex_m/runtime/testing/mutate.h"

#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "cortex_m/runtime/seal.h"
#include "cortex_m/runtime/testing/program_maker.h"

namespace cortex_m {
namespace {

uint64_t ReadU64(const std::string& file, size_t at) {
  uint64_t value;
  std::memcpy(&value, &file[at], sizeof(value));
  return value;
}

template <typename T>
void Swap(std::vector<T>& items, size_t a, size_t b) {
  if (!items.empty()) std::swap(items[a], items[b]);
}

// As cortex_m/seal.py writes it, for any core.
std::string Sealed(std::string file) {
  std::string target = "any";
  target.resize(16, '\0');
  file += target + "\xff\xff" + std::string(2, '\0');
  const uint32_t crc = Crc32({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
  file += "cm-seal2";
  return file.append(reinterpret_cast<const char*>(&crc), sizeof(crc));
}

constexpr int64_t kExtremeInts[] = {INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, int64_t{INT32_MAX} + 1, -1, 0};
constexpr double kExtremeDoubles[] = {
    std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 1e300, -1e300, 1e-300, 0, -1};
constexpr size_t kExtremes = sizeof(kExtremeInts) / sizeof(kExtremeInts[0]);
static_assert(kExtremes == sizeof(kExtremeDoubles) / sizeof(kExtremeDoubles[0]));

void Unpack(const std::string& file, ProgramMaker& maker) {
  fbs::GetProgram(file.data())->UnPackTo(&maker.program);
  // Without the extended header there are no segments.
  const size_t begin = file.compare(8, 4, "eh00") == 0 ? static_cast<size_t>(ReadU64(file, 24)) : 0;
  if (begin != 0) maker.segments = file.substr(begin);
}

}  // namespace

size_t Mutator::ExtremeCount(const std::string& file) {
  ProgramMaker maker;
  Unpack(file, maker);
  size_t numbers = 0;
  for (const auto& value : maker.plan().values) {
    numbers += value->val.AsInt() != nullptr || value->val.AsDouble() != nullptr;
  }
  return numbers * kExtremes;
}

std::string Mutator::Extreme(const std::string& file, size_t index) {
  ProgramMaker maker;
  Unpack(file, maker);
  size_t left = index / kExtremes;
  for (const auto& value : maker.plan().values) {
    fbs::IntT* number = value->val.AsInt();
    fbs::DoubleT* real = value->val.AsDouble();
    if ((number == nullptr && real == nullptr) || left-- > 0) continue;
    if (number != nullptr) number->int_val = kExtremeInts[index % kExtremes];
    if (real != nullptr) real->double_val = kExtremeDoubles[index % kExtremes];
    break;
  }
  return maker.File();
}

int64_t Mutator::Number(int64_t old) {
  static constexpr int64_t kEdges[] = {0,
                                       1,
                                       -1,
                                       2,
                                       3,
                                       4,
                                       16,
                                       127,
                                       128,
                                       -128,
                                       -129,
                                       255,
                                       256,
                                       32767,
                                       -32768,
                                       65536,
                                       INT32_MAX,
                                       INT32_MIN,
                                       int64_t{INT32_MAX} + 1,
                                       int64_t{1} << 33,
                                       INT64_MAX,
                                       INT64_MIN};
  switch (Below(5)) {
    case 0:
      return static_cast<int64_t>(static_cast<uint64_t>(old) + 1);
    case 1:
      return static_cast<int64_t>(static_cast<uint64_t>(old) - 1);
    case 2:
      return static_cast<int64_t>(0 - static_cast<uint64_t>(old));
    case 3:
      return kEdges[Below(sizeof(kEdges) / sizeof(kEdges[0]))];
    default:
      return static_cast<int64_t>(random_() >> Below(64));
  }
}

double Mutator::Real() {
  static constexpr double kEdges[] = {0.0,
                                      -0.0,
                                      1.0,
                                      -1.0,
                                      0.5,
                                      1e-40,
                                      1e30,
                                      -1e300,
                                      std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};
  return kEdges[Below(sizeof(kEdges) / sizeof(kEdges[0]))];
}

fbs::TensorT* Mutator::AnyTensor(fbs::ExecutionPlanT& plan) {
  for (int tries = 0; tries < 64 && !plan.values.empty(); ++tries) {
    if (fbs::TensorT* tensor = plan.values[Below(plan.values.size())]->val.AsTensor()) return tensor;
  }
  return nullptr;
}

void Mutator::ChangeInstruction(fbs::ExecutionPlanT& plan) {
  if (plan.chains.empty() || plan.chains[0]->instructions.empty()) return;
  auto& instructions = plan.chains[0]->instructions;
  fbs::InstructionT& instruction = *instructions[Below(instructions.size())];
  fbs::KernelCallT* call = instruction.instr_args.AsKernelCall();
  if (call == nullptr || call->args.empty()) return;
  const size_t at = Below(call->args.size());
  switch (Below(7)) {
    case 0:
    case 1:
      return Swap(call->args, at, Below(call->args.size()));
    case 2:
      call->args[at] = AnyValue(plan);
      return;
    case 3:  // an argument is the result
      call->args[at] = call->args.back();
      return;
    case 4:
      call->op_index = static_cast<int32_t>(Below(plan.operators.size()));
      return;
    case 5: {
      fbs::MoveCallT move;
      move.move_from = AnyValue(plan);
      move.move_to = call->args[at];
      auto moved = std::make_unique<fbs::InstructionT>();
      moved->instr_args.Set(std::move(move));
      instructions.insert(instructions.begin(), std::move(moved));
      return;
    }
    default: {
      fbs::JumpFalseCallT jump;
      jump.cond_value_index = AnyValue(plan);
      jump.destination_instruction = static_cast<int32_t>(Below(instructions.size() + 1));
      auto jumped = std::make_unique<fbs::InstructionT>();
      jumped->instr_args.Set(std::move(jump));
      instructions.insert(instructions.begin() + static_cast<ptrdiff_t>(Below(instructions.size())), std::move(jumped));
    }
  }
}

void Mutator::ChangeTensor(fbs::ExecutionPlanT& plan) {
  fbs::TensorT* tensor = AnyTensor(plan);
  const fbs::TensorT* other = AnyTensor(plan);
  if (tensor == nullptr || other == nullptr) return;
  const size_t dim = Below(tensor->sizes.size());
  switch (Below(8)) {
    case 0:
      if (tensor->allocation_info == nullptr) return;
      tensor->allocation_info->memory_offset_low += 16 * static_cast<uint32_t>(static_cast<int32_t>(Below(9)) - 4);
      return;
    case 1:
      if (tensor->allocation_info != nullptr && other->allocation_info != nullptr) {
        tensor->allocation_info->memory_offset_low = other->allocation_info->memory_offset_low;
      }
      return;
    case 2:
      if (!tensor->sizes.empty()) tensor->sizes[dim] = static_cast<int32_t>(Number(tensor->sizes[dim]) & 0xff);
      return;
    case 3:
      return Swap(tensor->sizes, dim, Below(tensor->sizes.size()));
    case 4:
      tensor->sizes = other->sizes;
      tensor->dim_order = other->dim_order;
      return;
    case 5: {
      static constexpr int8_t kTypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 11};
      tensor->scalar_type = static_cast<fbs::ScalarType>(kTypes[Below(sizeof(kTypes))]);
      return;
    }
    case 6:
      return Swap(tensor->dim_order, dim, Below(tensor->dim_order.size()));
    default:
      if (OneIn(2)) {
        tensor->data_buffer_idx = other->data_buffer_idx;
      } else {
        tensor->sizes.push_back(1);
        tensor->dim_order.push_back(static_cast<uint8_t>(tensor->dim_order.size()));
      }
  }
}

void Mutator::ChangeValue(fbs::ExecutionPlanT& plan) {
  fbs::EValueT& value = *plan.values[Below(plan.values.size())];
  if (fbs::IntT* number = value.val.AsInt()) number->int_val = Number(number->int_val);
  if (fbs::DoubleT* number = value.val.AsDouble()) number->double_val = Real();
  if (fbs::BoolT* truth = value.val.AsBool()) truth->bool_val = !truth->bool_val;
  if (fbs::DoubleListT* list = value.val.AsDoubleList(); list != nullptr && !list->items.empty()) {
    list->items[Below(list->items.size())] = Real();
  }
  const auto change = [&](auto& items) {
    if (items.empty() || OneIn(4)) {
      items.push_back(AnyValue(plan));
    } else if (OneIn(3)) {
      items.pop_back();
    } else {
      items[Below(items.size())] = AnyValue(plan);
    }
  };
  if (fbs::IntListT* list = value.val.AsIntList()) change(list->items);
  if (fbs::TensorListT* list = value.val.AsTensorList()) change(list->items);
  if (fbs::OptionalTensorListT* list = value.val.AsOptionalTensorList()) change(list->items);
}

void Mutator::ChangeBytes(std::string& bytes) {
  if (bytes.empty()) return;
  const size_t at = Below(bytes.size());
  if (OneIn(2) && (at | 7) < bytes.size()) {  // a word, of 4 or 8 bytes
    const int64_t word = Number(0);
    if (OneIn(2)) {
      std::memcpy(&bytes[at & ~size_t{7}], &word, 8);
    } else {
      std::memcpy(&bytes[at & ~size_t{3}], &word, 4);
    }
  } else {
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8)));
  }
}

void Mutator::Change(fbs::ProgramT& program, std::string& segments) {
  fbs::ExecutionPlanT& plan = *program.execution_plan[0];
  switch (Below(8)) {
    case 0:
    case 1:
      return ChangeInstruction(plan);
    case 2:
    case 3:
    case 4:
      return ChangeTensor(plan);
    case 5:
    case 6:
      if (!plan.values.empty()) ChangeValue(plan);
      return;
    default:
      ChangeBytes(segments);
  }
}

std::string Mutator::Mutated(const std::string& file) {
  ProgramMaker maker;
  Unpack(file, maker);
  // Room at the end, so that offsets and shapes can grow.
  auto& memories = maker.plan().non_const_buffer_sizes;
  if (memories.size() > 1 && OneIn(2)) memories[1] += 256;
  for (size_t changes = 1 + Below(4); changes > 0; --changes) Change(maker.program, maker.segments);
  std::string mutated = maker.File();
  if (OneIn(8)) ChangeBytes(mutated);
  if (OneIn(64)) mutated.resize(Below(mutated.size()));
  return OneIn(4) ? Sealed(std::move(mutated)) : mutated;
}

}  // namespace cortex_m
