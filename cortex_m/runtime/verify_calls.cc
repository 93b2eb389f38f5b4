#include "cortex_m/runtime/verify_calls.h"

#include "cortex_m/runtime/operator_records.h"
#include "cortex_m/runtime/plan.h"
#include "cortex_m/runtime/tensor.h"

namespace cortex_m {
namespace {

Status Malformed(const char* message) { return Status(Code::kInvalidProgram, message); }
Status Unsupported(const char* message) { return Status(Code::kUnsupported, message); }

// Tensors move through so many values at most: branches within branches.
constexpr int kMaxMoves = 8;

uint32_t Fingerprint(const flatbuffers::String* text, uint32_t value) {
  for (uint32_t i = 0; i < SizeOf(text); ++i) {
    value = (value ^ static_cast<uint8_t>(text->Get(i))) * 0x01000193u;
  }
  return value;
}

// Null for an operator that writes what its name tells.
const OperatorRecord* FindRecord(const fbs::Operator& op) {
  uint32_t name = Fingerprint(op.name(), 0x811c9dc5u);
  if (SizeOf(op.overload()) > 0) name = Fingerprint(op.overload(), (name ^ '.') * 0x01000193u);
  size_t low = 0;
  size_t high = sizeof(kOperatorRecords) / sizeof(kOperatorRecords[0]);
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (kOperatorRecords[middle].name == name) return &kOperatorRecords[middle];
    if (kOperatorRecords[middle].name < name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return nullptr;
}

bool HasBit(uint32_t set, size_t position) { return position < 32 && (set >> position & 1) != 0; }

// Where a tensor's bytes are: in a planned memory, or (0) in what the caller gives to the tensor that is value `begin`.
struct Place {
  uint32_t memory;
  uint64_t begin;
  uint64_t end;
};

Place PlaceOf(const fbs::Tensor& tensor, int32_t value) {
  uint64_t bytes = ElementSize(static_cast<ScalarType>(tensor.scalar_type()));
  for (uint32_t i = 0; i < SizeOf(tensor.sizes()); ++i) bytes *= static_cast<uint32_t>(tensor.sizes()->Get(i));
  if (const fbs::AllocationDetails* place = tensor.allocation_info()) {
    return {place->memory_id(), place->memory_offset_low(), place->memory_offset_low() + bytes};
  }
  const uint64_t begin = static_cast<uint32_t>(value);
  return {0, begin, begin + (bytes > 0 ? 1u : 0u)};
}

bool IsConstant(const fbs::Tensor& tensor) {
  return tensor.data_buffer_idx() > 0 && tensor.allocation_info() == nullptr;
}

template <typename Vector>
bool SameItems(const Vector* a, const Vector* b) {
  if (SizeOf(a) != SizeOf(b)) return false;
  for (uint32_t i = 0; i < SizeOf(a); ++i) {
    if (a->Get(i) != b->Get(i)) return false;
  }
  return true;
}

// Each element of the one lies where the other has it.
bool SameElements(const fbs::Tensor& a, const Place& in_a, const fbs::Tensor& b, const Place& in_b) {
  return in_a.begin == in_b.begin && in_a.end == in_b.end && a.scalar_type() == b.scalar_type() &&
         SameItems(a.sizes(), b.sizes()) && SameItems(a.dim_order(), b.dim_order());
}

// A value on the way from a tensor to where moves bring it; `before` is the next one on that way.
struct Way {
  int32_t value;
  int length;
  const Way* before;
  bool Has(int32_t other) const {
    for (const Way* way = this; way != nullptr; way = way->before) {
      if (way->value == other) return true;
    }
    return false;
  }
};

class CallVerifier {
 public:
  CallVerifier(const fbs::ExecutionPlan& plan, Budget& comparisons) : plan_(plan), comparisons_(comparisons) {
    const auto* instructions = InstructionsOf(plan);
    for (uint32_t i = 0; i < SizeOf(instructions); ++i) {
      const fbs::MoveCall* move = instructions->Get(i)->instr_args_as_MoveCall();
      moves_ |= move != nullptr && ValueAt(plan, move->move_from()).val_type() == fbs::KernelTypes::Tensor;
    }
  }

  Status Verify(const fbs::KernelCall& call) {
    const CallShape shape = ShapeOf(plan_, call);
    if (shape.arguments == 0) return Status();
    const fbs::Operator& op = *plan_.operators()->Get(static_cast<uint32_t>(call.op_index()));
    const size_t length = SizeOf(op.name());
    const bool changes_first = length > 0 && op.name()->Get(static_cast<uint32_t>(length - 1)) == '_';
    if (changes_first ? shape.first_out != 0 : shape.first_out + shape.outs != shape.arguments) {
      return Malformed("a call returns something else than what its operator writes").OfArgument(shape.first_out);
    }
    const OperatorRecord* record = FindRecord(op);
    const uint32_t written = record == nullptr ? 0 : record->written;
    in_place_ = record == nullptr ? 0 : record->in_place;
    for (size_t i = 0; i < shape.arguments; ++i) {
      const bool is_result = i >= shape.first_out && i < shape.first_out + shape.outs;
      if (!is_result && !HasBit(written, i)) continue;
      if (Status status = VerifyWritten(call, shape, i, is_result); !status.ok()) return status.OfArgument(i);
    }
    return Status();
  }

 private:
  // Calls visit(value) for each tensor or number that the argument is or lists.
  template <typename Visit>
  Status ForEachItem(const fbs::KernelCall& call, size_t argument, Visit visit) const {
    const int32_t value = call.args()->Get(static_cast<uint32_t>(argument));
    const fbs::EValue& stored = ValueAt(plan_, value);
    if (stored.val_type() <= fbs::KernelTypes::Tensor) return visit(value);
    if (const fbs::TensorList* list = stored.val_as_TensorList()) {
      for (uint32_t i = 0; i < SizeOf(list->items()); ++i) CORTEX_M_RETURN_IF_ERROR(visit(list->items()->Get(i)));
    } else if (const fbs::OptionalTensorList* optional = stored.val_as_OptionalTensorList()) {
      for (uint32_t i = 0; i < SizeOf(optional->items()); ++i) {
        if (optional->items()->Get(i) >= 0) CORTEX_M_RETURN_IF_ERROR(visit(optional->items()->Get(i)));
      }
    }
    return Status();
  }

  // Calls visit(value, tensor) for each tensor that the value can stand for when the method runs: its own, and what moves
  // bring.
  template <typename Visit>
  Status ForEachTensor(const Way& way, Visit visit) {
    if (const fbs::Tensor* tensor = ValueAt(plan_, way.value).val_as_Tensor()) {
      CORTEX_M_RETURN_IF_ERROR(visit(way.value, *tensor));
    }
    if (!moves_) return Status();
    const auto* instructions = InstructionsOf(plan_);
    if (!comparisons_.Take(SizeOf(instructions))) return TooMany();
    for (uint32_t i = 0; i < SizeOf(instructions); ++i) {
      const fbs::MoveCall* move = instructions->Get(i)->instr_args_as_MoveCall();
      if (move == nullptr || move->move_to() != way.value || way.Has(move->move_from())) continue;
      if (way.length == kMaxMoves) return Unsupported("an argument is moved through more than 8 values");
      CORTEX_M_RETURN_IF_ERROR(ForEachTensor({move->move_from(), way.length + 1, &way}, visit));
    }
    return Status();
  }

  Status VerifyWritten(const fbs::KernelCall& call, const CallShape& shape, size_t argument, bool is_result) {
    size_t item = 0;
    return ForEachItem(call, argument, [&](int32_t value) {
      const size_t own = item++;
      return ForEachTensor({value, 0, nullptr}, [&](int32_t at, const fbs::Tensor& tensor) {
        if (IsConstant(tensor)) return Malformed("a call writes to a constant");
        const Place place = PlaceOf(tensor, at);
        if (place.begin == place.end) return Status();
        for (size_t other = 0; other < shape.arguments; ++other) {
          const bool in_place = is_result && HasBit(in_place_, other);
          CORTEX_M_RETURN_IF_ERROR(Compare(call, other, other == argument ? own : SIZE_MAX, tensor, place, in_place));
        }
        return Status();
      });
    });
  }

  // No tensor of the argument, but for its item `except`, lies where `written` lies.
  Status Compare(const fbs::KernelCall& call, size_t argument, size_t except, const fbs::Tensor& written,
                 const Place& place, bool in_place) {
    size_t item = 0;
    return ForEachItem(call, argument, [&](int32_t value) {
      if (!comparisons_.Take(1)) return TooMany();
      if (item++ == except) return Status();
      return ForEachTensor({value, 0, nullptr}, [&](int32_t at, const fbs::Tensor& tensor) {
        if (IsConstant(tensor)) return Status();
        const Place there = PlaceOf(tensor, at);
        const bool apart = there.memory != place.memory || there.end <= place.begin || place.end <= there.begin;
        if (apart || (in_place && SameElements(written, place, tensor, there))) return Status();
        return Malformed("a call writes this argument over another one, which its operator cannot do");
      });
    });
  }

  static Status TooMany() { return Unsupported("calls have too many arguments to compare them all"); }

  const fbs::ExecutionPlan& plan_;
  Budget& comparisons_;
  uint32_t in_place_ = 0;
  bool moves_ = false;  // tensors are moved
};

}  // namespace

Status VerifyCalls(const fbs::ExecutionPlan& plan, Budget& comparisons) {
  CallVerifier verifier(plan, comparisons);
  const auto* instructions = InstructionsOf(plan);
  for (uint32_t i = 0; i < SizeOf(instructions); ++i) {
    const fbs::KernelCall* call = instructions->Get(i)->instr_args_as_KernelCall();
    if (call == nullptr) continue;
    if (Status status = verifier.Verify(*call); !status.ok()) return status.At("instruction", static_cast<int32_t>(i));
  }
  return Status();
}

}  // namespace cortex_m
