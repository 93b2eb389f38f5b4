#include "cortex_m/runtime/program.h"

#include <cstring>

#include "cortex_m/runtime/plan.h"
#include "cortex_m/runtime/schema.h"
#include "cortex_m/runtime/seal.h"
#include "cortex_m/runtime/verify.h"

namespace cortex_m {
namespace {

// Offsets from the begin of the file: the root's offset, the identifier, then the extended header if there is one.
constexpr size_t kIdentifierAt = 4;
constexpr size_t kHeaderAt = 8;
constexpr size_t kMinimumHeader = 24;  // magic, length, flatbuffer size, begin of the segments
constexpr size_t kHeader = 32;         // the same and the size of all segments together

Status Malformed(const char* message) { return Status(Code::kInvalidProgram, message); }

uint32_t ReadU32(const uint8_t* bytes) {
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

uint64_t ReadU64(const uint8_t* bytes) { return ReadU32(bytes) | static_cast<uint64_t>(ReadU32(bytes + 4)) << 32; }

}  // namespace

Status Program::Open(Span<const uint8_t> bytes) {
  if (bytes.data == nullptr || bytes.size < kHeaderAt) return Malformed("the file is too short for a program");
  if (bytes.size >= kMaxBytes) return Status(Code::kUnsupported, "the file has 2 GiB or more");
  if (reinterpret_cast<uintptr_t>(bytes.data) % kDataAlignment != 0) {
    return Status(Code::kInvalidArgument, "the program must be aligned to 16 bytes in memory");
  }
  if (std::memcmp(bytes.data + kIdentifierAt, "ET12", 4) != 0) {
    return Malformed("this is no .pte program (its identifier is not ET12)");
  }
  const bool sealed = HasSeal(bytes);
  if (sealed) bytes.size -= kSealBytes;
  bytes_ = bytes;
  flatbuffer_size_ = bytes.size;
  segments_begin_ = bytes.size;

  const uint8_t* header = bytes.data + kHeaderAt;
  if (bytes.size >= kHeaderAt + kMinimumHeader && std::memcmp(header, "eh00", 4) == 0) {
    const uint32_t length = ReadU32(header + 4);
    const uint64_t flatbuffer_size = ReadU64(header + 8);
    const uint64_t begin = ReadU64(header + 16);
    if (length < kMinimumHeader) return Malformed("the extended header is too short");
    if (flatbuffer_size > bytes.size) return Malformed("the file is truncated: its program does not fit in it");
    if (flatbuffer_size < kHeaderAt + uint64_t{length})
      return Malformed("the extended header says that the program has no bytes");
    flatbuffer_size_ = static_cast<size_t>(flatbuffer_size);
    if (begin != 0) {
      if (begin < flatbuffer_size) return Malformed("the data segments overlap the program");
      if (begin > bytes.size) return Malformed("the file is truncated: its data segments lie behind its end");
      if (begin % kDataAlignment != 0) return Malformed("the data segments are not aligned to 16 bytes");
      segments_begin_ = static_cast<size_t>(begin);
    }
    if (length >= kHeader) {
      const uint64_t segments = ReadU64(header + 24);
      if (segments > bytes.size - segments_begin_) {
        return Malformed("the file is truncated: its data segments do not fit in it");
      }
      // Else a damaged seal would make a sealed file an unsealed one.
      const size_t end = begin != 0 ? segments_begin_ + static_cast<size_t>(segments) : flatbuffer_size_;
      if (!sealed && end < bytes.size) return Malformed("there are bytes behind the program that are no seal of it");
    }
  }
  const uint32_t root = ReadU32(bytes.data);
  if (root < kHeaderAt || root >= flatbuffer_size_) return Malformed("the root of the program lies outside the file");
  flatbuffer_ = fbs::GetProgram(bytes.data);
  return Status();
}

Status Program::OpenTarget(Span<const uint8_t> bytes) {
  if (!HasSeal(bytes)) return Status();
  CORTEX_M_RETURN_IF_ERROR(ReadTarget(bytes, target_));
  return CheckTarget(target_, CompiledIsa());
}

Status Program::Load(Span<const uint8_t> bytes, Program& program) {
  program = Program();
  Program candidate;
  // First of all: in a file whose seal is right no other byte is damaged, and one with an old seal is told as that.
  if (HasSeal(bytes)) CORTEX_M_RETURN_IF_ERROR(VerifySeal(bytes));
  CORTEX_M_RETURN_IF_ERROR(candidate.Open(bytes));
  CORTEX_M_RETURN_IF_ERROR(candidate.OpenTarget(bytes));
  CORTEX_M_RETURN_IF_ERROR(VerifyProgram(candidate));
  program = candidate;
  return Status();
}

Status Program::LoadVerifiedAtBuild(Span<const uint8_t> bytes, Program& program) {
  program = Program();
  Program candidate;
  CORTEX_M_RETURN_IF_ERROR(candidate.Open(bytes));
  CORTEX_M_RETURN_IF_ERROR(candidate.OpenTarget(bytes));
  program = candidate;
  return Status();
}

size_t Program::method_count() const { return flatbuffer_ == nullptr ? 0 : SizeOf(flatbuffer_->execution_plan()); }

const char* Program::method_name(size_t index) const {
  return index < method_count() ? flatbuffer_->execution_plan()->Get(static_cast<uint32_t>(index))->name()->c_str()
                                : nullptr;
}

const fbs::ExecutionPlan* Program::FindPlan(const char* name) const {
  for (uint32_t i = 0; i < method_count(); ++i) {
    const fbs::ExecutionPlan* plan = flatbuffer_->execution_plan()->Get(i);
    if (name == nullptr || SameText(plan->name()->c_str(), name)) return plan;
  }
  return nullptr;
}

Span<const uint8_t> Program::Segment(size_t segment) const {
  const fbs::DataSegment* data = flatbuffer_->segments()->Get(static_cast<uint32_t>(segment));
  return {bytes_.data + segments_begin_ + static_cast<size_t>(data->offset()), static_cast<size_t>(data->size())};
}

const uint8_t* Program::InitialState(size_t mutable_segment, size_t buffer) const {
  const fbs::SubsegmentOffsets* state =
      flatbuffer_->mutable_data_segments()->Get(static_cast<uint32_t>(mutable_segment));
  return Segment(state->segment_index()).data +
         static_cast<size_t>(state->offsets()->Get(static_cast<uint32_t>(buffer)));
}

}  // namespace cortex_m
