#include "cortex_m/runtime/verify.h"

#include "cortex_m/runtime/tensor.h"

namespace cortex_m {
namespace {

Status Malformed(const char* message) { return Status(Code::kInvalidProgram, message); }
Status Unsupported(const char* message) { return Status(Code::kUnsupported, message); }
Status Unaligned() { return Malformed("a vector of 64-bit numbers is not aligned to 8 bytes"); }

// Program > ExecutionPlan > Chain > FrameList > Frame, or > EValue > Tensor > AllocationDetails: never deeper.
constexpr uint32_t kMaxDepth = 8;

// Pairs of a call's tensors that are compared: a call that cuts a tensor into a thousand parts has a million of them, and each part
// is more than a hundred bytes of the file.
constexpr size_t kComparisonsPerByte = 16;

// flatbuffers adds the offsets of a vector's tables to pointers without a look: where these have 32 bits, one of 2 GiB and more comes
// round to a place before it, where they have 64 it leaves the file. Here both refuse it.
template <typename Table>
bool PointsForward(const flatbuffers::Vector<flatbuffers::Offset<Table>>* tables) {
  for (uint32_t i = 0; i < SizeOf(tables); ++i) {
    const uint8_t* offset = tables->Data() + i * sizeof(flatbuffers::uoffset_t);
    if (flatbuffers::ReadScalar<flatbuffers::uoffset_t>(offset) >= kMaxBytes) return false;
  }
  return true;
}

bool PointsForward(const fbs::Program& root) {
  if (!PointsForward(root.execution_plan()) || !PointsForward(root.constant_buffer()) ||
      !PointsForward(root.backend_delegate_data()) || !PointsForward(root.segments()) ||
      !PointsForward(root.mutable_data_segments()) || !PointsForward(root.named_data())) {
    return false;
  }
  for (uint32_t i = 0; i < SizeOf(root.execution_plan()); ++i) {
    const fbs::ExecutionPlan& plan = *root.execution_plan()->Get(i);
    if (!PointsForward(plan.values()) || !PointsForward(plan.chains()) || !PointsForward(plan.operators()) ||
        !PointsForward(plan.delegates())) {
      return false;
    }
    for (uint32_t j = 0; j < SizeOf(plan.chains()); ++j) {
      const fbs::Chain& chain = *plan.chains()->Get(j);
      if (!PointsForward(chain.instructions()) || !PointsForward(chain.stacktrace())) return false;
    }
  }
  return true;
}

Status VerifySegments(const fbs::Program& program, size_t available) {
  for (uint32_t i = 0; i < SizeOf(program.segments()); ++i) {
    const fbs::DataSegment& segment = *program.segments()->Get(i);
    if (segment.offset() > available || segment.size() > available - segment.offset()) {
      return Status(Code::kInvalidProgram, "a data segment lies outside the file", "segments", static_cast<int32_t>(i));
    }
  }
  const fbs::SubsegmentOffsets* constants = program.constant_segment();
  if (constants != nullptr && !HasAlignedItems(constants->offsets())) return Unaligned();
  // A placeholder for "no data" stands alone in `offsets` when there are no constants.
  if (constants != nullptr && SizeOf(constants->offsets()) > 1) {
    if (constants->segment_index() >= SizeOf(program.segments())) {
      return Malformed("the constants are said to be in a segment that does not exist");
    }
    if (program.segments()->Get(constants->segment_index())->offset() % kDataAlignment != 0) {
      return Malformed("the constants are not aligned to 16 bytes");
    }
  }
  for (uint32_t i = 0; i < SizeOf(program.mutable_data_segments()); ++i) {
    const fbs::SubsegmentOffsets& state = *program.mutable_data_segments()->Get(i);
    if (!HasAlignedItems(state.offsets())) return Unaligned();
    if (state.segment_index() >= SizeOf(program.segments())) {
      return Malformed("the initial state is said to be in a segment that does not exist");
    }
  }
  return Status();
}

// The bytes of a tensor of this shape, or kMaxBytes if they are too many. Dimensions of 0 count as 1, so that no product of
// strides overflows either.
uint64_t BoundOfBytes(const fbs::Tensor& tensor, size_t element_size) {
  uint64_t bytes = element_size;
  for (uint32_t i = 0; i < SizeOf(tensor.sizes()); ++i) {
    const int32_t size = tensor.sizes()->Get(i);
    bytes *= size == 0 ? 1 : static_cast<uint32_t>(size);
    if (bytes >= kMaxBytes) return kMaxBytes;
  }
  return bytes;
}

Status VerifyShape(const fbs::Tensor& tensor) {
  const size_t rank = SizeOf(tensor.sizes());
  if (rank > kMaxRank) return Unsupported("a tensor has more than 16 dimensions");
  if (SizeOf(tensor.dim_order()) != rank) return Malformed("a tensor's dim order has another length than its shape");
  uint32_t seen = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    if (tensor.sizes()->Get(i) < 0) return Malformed("a tensor has a negative size");
    const uint8_t dimension = tensor.dim_order()->Get(i);
    if (dimension >= rank || (seen & 1u << dimension) != 0) {
      return Malformed("a tensor's dim order is no permutation of its dimensions");
    }
    seen |= 1u << dimension;
  }
  return Status();
}

// `bytes` at entry `buffer` of `table` must lie in the segment that the table names.
Status VerifyStored(const Program& program, const fbs::SubsegmentOffsets& table, uint32_t buffer, uint64_t bytes,
                    uint64_t* offset) {
  if (buffer >= SizeOf(table.offsets())) return Malformed("a tensor's data buffer does not exist");
  *offset = table.offsets()->Get(buffer);
  const uint64_t available = program.Segment(table.segment_index()).size;
  if (*offset > available || bytes > available - *offset) return Malformed("a tensor's data lies outside its segment");
  return Status();
}

Status VerifyConstant(const Program& program, const fbs::Tensor& tensor, uint64_t bytes) {
  const fbs::Program& root = *program.flatbuffer();
  const fbs::SubsegmentOffsets* constants = root.constant_segment();
  if (constants == nullptr || SizeOf(constants->offsets()) == 0) {
    return SizeOf(root.constant_buffer()) == 0
               ? Malformed("a tensor's data buffer does not exist")
               : Unsupported("constants inside the flatbuffer (made before September 2024): export the program again");
  }
  uint64_t offset = 0;
  CORTEX_M_RETURN_IF_ERROR(VerifyStored(program, *constants, tensor.data_buffer_idx(), bytes, &offset));
  if (offset % kDataAlignment != 0) return Malformed("a constant is not aligned to 16 bytes");
  return Status();
}

Status VerifyPlanned(const fbs::ExecutionPlan& plan, const fbs::AllocationDetails& place, uint64_t bytes) {
  // Entry 0 of the sizes is reserved, and so is memory 0.
  if (place.memory_id() == 0 || place.memory_id() >= SizeOf(plan.non_const_buffer_sizes())) {
    return Malformed("a tensor is planned into a memory that does not exist");
  }
  const uint64_t offset = static_cast<uint64_t>(place.memory_offset_high()) << 32 | place.memory_offset_low();
  const uint64_t available = static_cast<uint64_t>(plan.non_const_buffer_sizes()->Get(place.memory_id()));
  if (offset > available || bytes > available - offset) return Malformed("a tensor lies outside its planned memory");
  if (offset % kDataAlignment != 0) {
    return Unsupported("a tensor is planned at an offset that is no multiple of 16 bytes");
  }
  return Status();
}

Status VerifyInitialState(const Program& program, const fbs::Tensor& tensor, uint64_t bytes) {
  const uint64_t index =
      tensor.extra_tensor_info() == nullptr ? 0 : tensor.extra_tensor_info()->mutable_data_segments_idx();
  if (index >= SizeOf(program.flatbuffer()->mutable_data_segments())) {
    return Malformed("a tensor's initial state does not exist");
  }
  uint64_t offset = 0;
  return VerifyStored(program, *program.flatbuffer()->mutable_data_segments()->Get(static_cast<uint32_t>(index)),
                      tensor.data_buffer_idx(), bytes, &offset);
}

}  // namespace

Status VerifyTensor(const Program& program, const fbs::ExecutionPlan& plan, const fbs::Tensor& tensor) {
  if (tensor.shape_dynamism() != fbs::TensorShapeDynamism::STATIC) return Unsupported("a tensor has a dynamic shape");
  if (tensor.storage_offset() != 0) return Unsupported("a tensor has a storage offset");
  if (tensor.layout() != 0) return Unsupported("a tensor is not strided (its layout is not 0)");
  const size_t element_size = ElementSize(static_cast<ScalarType>(tensor.scalar_type()));
  if (element_size == 0) return Unsupported("a tensor has a scalar type that this runtime does not know");
  if (const fbs::ExtraTensorInfo* extra = tensor.extra_tensor_info()) {
    if (extra->location() != fbs::TensorDataLocation::SEGMENT)
      return Unsupported("a tensor's data is outside the file");
    if (extra->device_type() != fbs::DeviceType::CPU) return Unsupported("a tensor is on another device than the CPU");
  }
  CORTEX_M_RETURN_IF_ERROR(VerifyShape(tensor));
  const uint64_t bytes = BoundOfBytes(tensor, element_size);
  if (bytes >= kMaxBytes) return Malformed("a tensor has 2 GiB or more");

  // As in program.fbs: which of the two is there says what the tensor is.
  const bool stored = tensor.data_buffer_idx() > 0;
  const fbs::AllocationDetails* planned = tensor.allocation_info();
  const bool empty = [&] {
    for (uint32_t i = 0; i < SizeOf(tensor.sizes()); ++i) {
      if (tensor.sizes()->Get(i) == 0) return true;
    }
    return false;
  }();
  const uint64_t needed = empty ? 0 : bytes;
  if (planned != nullptr) {
    CORTEX_M_RETURN_IF_ERROR(VerifyPlanned(plan, *planned, needed));
    if (stored) return VerifyInitialState(program, tensor, needed);
    return Status();
  }
  if (stored) return VerifyConstant(program, tensor, needed);
  return Status();
}

Status VerifyProgram(const Program& program) {
  flatbuffers::Verifier::Options options;
  options.max_depth = kMaxDepth;
  // A table has at least the four bytes that point to its vtable.
  options.max_tables = static_cast<uint32_t>(program.flatbuffer_size_ / 4);
  flatbuffers::Verifier verifier(program.bytes_.data, program.flatbuffer_size_, options);
  if (!fbs::VerifyProgramBuffer(verifier) || !PointsForward(*program.flatbuffer())) {
    return Malformed("the program is corrupt: its flatbuffer is not well-formed");
  }

  const fbs::Program& root = *program.flatbuffer();
  if (root.version() != 0) return Unsupported("the program has a schema version other than 0");
  CORTEX_M_RETURN_IF_ERROR(VerifySegments(root, program.bytes_.size - program.segments_begin_));
  if (SizeOf(root.execution_plan()) == 0) return Malformed("the program has no method");
  Budget budget(program.flatbuffer_size_ / 4);
  Budget comparisons(kComparisonsPerByte * program.flatbuffer_size_);
  for (uint32_t i = 0; i < root.execution_plan()->size(); ++i) {
    const fbs::ExecutionPlan& plan = *root.execution_plan()->Get(i);
    if (plan.name() == nullptr) return Malformed("a method has no name");
    if (Status status = VerifyPlan(program, plan, budget, comparisons); !status.ok())
      return status.At(plan.name()->c_str(), -1);
  }
  return Status();
}

}  // namespace cortex_m
