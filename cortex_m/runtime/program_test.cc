// The file around the flatbuffer: identifier, extended header, segments, alignment.
#include "cortex_m/runtime/program.h"

#include <gtest/gtest.h>

#include <string>

#include "cortex_m/runtime/loaded_method.h"
#include "cortex_m/runtime/testing/kernels.h"
#include "cortex_m/runtime/testing/samples.h"

namespace cortex_m {
namespace {

// Places in the file (executorch's extended header).
constexpr size_t kIdentifier = 4;
constexpr size_t kMagic = 8;
constexpr size_t kLength = 12;
constexpr size_t kProgramSize = 16;
constexpr size_t kSegmentsBegin = 24;
constexpr size_t kSegmentsSize = 32;

Status Load(const std::string& file) {
  const AlignedBytes bytes(file);
  Program program;
  const Status status = Program::Load(bytes.bytes(), program);
  EXPECT_EQ(status.ok(), program.flatbuffer() != nullptr);
  return status;
}

template <typename T>
std::string With(std::string file, size_t at, T number) {
  std::memcpy(&file[at], &number, sizeof(T));
  return file;
}

uint64_t Get64(const std::string& file, size_t at) {
  uint64_t number;
  std::memcpy(&number, &file[at], sizeof(number));
  return number;
}

// Appends `bytes` zeros as the segments of a file that has none yet.
std::string WithSegments(std::string file, size_t bytes) {
  file.resize((file.size() + 15) / 16 * 16);
  file = With(file, kSegmentsBegin, uint64_t{file.size()});
  return With(file, kSegmentsSize, uint64_t{bytes}) + std::string(bytes, '\0');
}

void ExpectRefused(const std::string& file, Code code, const char* message) {
  const Status status = Load(file);
  EXPECT_EQ(status.code(), code);
  EXPECT_STREQ(status.message(), message);
}

void ExpectMalformed(const std::string& file, const char* message) {
  ExpectRefused(file, Code::kInvalidProgram, message);
}

TEST(Program, LoadsBothLengthsOfHeader) {
  EXPECT_TRUE(Load(AddSample().maker.File(32)).ok());
  EXPECT_TRUE(Load(AddSample().maker.File(24)).ok());
  // A later version may add fields behind: they are skipped.
  const std::string file = AddSample().maker.File(32);
  EXPECT_TRUE(Load(With(file, kLength, uint32_t{40})).ok());
}

TEST(Program, LoadsWithoutHeaderWhenThereAreNoSegments) {
  ProgramMaker maker;
  const int x = maker.Planned(ScalarType::kFloat, {2}, 0);
  maker.plan().inputs = {x};
  EXPECT_TRUE(Load(maker.File(0)).ok());
  // exir then keeps a segment without bytes, and the placeholder of the constants.
  maker.program.constant_segment = std::make_unique<fbs::SubsegmentOffsetsT>();
  maker.program.constant_segment->offsets = {0};
  EXPECT_TRUE(Load(maker.File(0)).ok());
  // Constants cannot be found without it.
  ExpectMalformed(With(AddSample().maker.File(), kMagic, uint32_t{0}), "a data segment lies outside the file");
}

TEST(Program, RefusesWhatIsNoProgram) {
  ExpectMalformed("", "the file is too short for a program");
  ExpectMalformed("1234ET1", "the file is too short for a program");
  ExpectMalformed(std::string(100, 'x'), "this is no .pte program (its identifier is not ET12)");
  const std::string file = AddSample().maker.File();
  ExpectMalformed(With(file, kIdentifier, uint32_t{0x33315445}),
                  "this is no .pte program (its identifier is not ET12)");
  for (const uint32_t root : {0u, 7u, 1u << 20, 0x80000000u, 0xffffffffu}) {
    ExpectMalformed(With(file, 0, root), "the root of the program lies outside the file");
  }
  ExpectMalformed(With(file, 0, uint32_t{41}), "the program is corrupt: its flatbuffer is not well-formed");
}

TEST(Program, RefusesAnUnalignedBuffer) {
  const std::string file = AddSample().maker.File();
  for (const size_t shift : {1, 4, 8}) {
    const AlignedBytes bytes(std::string(shift, '\0') + file);
    Program program;
    const Status status = Program::Load({bytes.bytes().data + shift, file.size()}, program);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_STREQ(status.message(), "the program must be aligned to 16 bytes in memory");
  }
}

TEST(Program, RefusesABadHeader) {
  const std::string file = AddSample().maker.File();
  ExpectMalformed(With(file, kLength, uint32_t{23}), "the extended header is too short");
  ExpectMalformed(With(file, kLength, uint32_t{0xffffffff}), "the extended header says that the program has no bytes");
  ExpectMalformed(With(file, kProgramSize, uint64_t{39}), "the extended header says that the program has no bytes");
  for (const uint64_t size : {uint64_t{file.size() + 1}, uint64_t{1} << 32, ~uint64_t{0}}) {
    ExpectMalformed(With(file, kProgramSize, size), "the file is truncated: its program does not fit in it");
    ExpectMalformed(With(file, kSegmentsSize, size), "the file is truncated: its data segments do not fit in it");
    ExpectMalformed(With(file, kSegmentsBegin, size), "the file is truncated: its data segments lie behind its end");
  }
  ExpectMalformed(With(file, kSegmentsBegin, uint64_t{48}), "the data segments overlap the program");
  ExpectMalformed(With(file, kSegmentsBegin, Get64(file, kSegmentsBegin) + 8),
                  "the data segments are not aligned to 16 bytes");
  // The program's bytes end where the header says, whatever follows them.
  ExpectMalformed(With(file, kProgramSize, Get64(file, kProgramSize) - 16),
                  "the program is corrupt: its flatbuffer is not well-formed");
}

TEST(Program, RefusesEachTruncation) {
  const std::string file = AddSample().maker.File();
  for (size_t size = 0; size < file.size(); ++size) EXPECT_FALSE(Load(file.substr(0, size)).ok()) << size;
  const std::string old = AddSample().maker.File(24);
  for (size_t size = 0; size < old.size(); ++size) EXPECT_FALSE(Load(old.substr(0, size)).ok()) << size;
}

// seal_test.cc has the files whose header says where they end.
TEST(Program, BytesBehindAProgramThatDoesNotSayWhereItEndsDoNotMatter) {
  EXPECT_TRUE(Load(AddSample().maker.File(24) + "trailing").ok());
}

TEST(Program, RefusesSegmentsOutsideTheFile) {
  for (const uint64_t offset : {uint64_t{16}, uint64_t{1} << 31, uint64_t{1} << 32, ~uint64_t{0}}) {
    AddSample sample;
    sample.maker.program.segments.push_back(std::make_unique<fbs::DataSegmentT>());
    sample.maker.program.segments[0]->offset = offset;
    sample.maker.program.segments[0]->size = 24;
    const Status status = Load(WithSegments(sample.maker.File(), 24));
    EXPECT_STREQ(status.message(), "a data segment lies outside the file");
    EXPECT_EQ(status.index(), 0);
    std::swap(sample.maker.program.segments[0]->offset, sample.maker.program.segments[0]->size);
    EXPECT_STREQ(Load(sample.maker.File()).message(), "a data segment lies outside the file");
  }
}

TEST(Program, RefusesConstantsInNoSegment) {
  AddSample sample;
  sample.maker.program.segments.push_back(std::make_unique<fbs::DataSegmentT>());
  sample.maker.program.constant_segment->segment_index = 1;
  ExpectMalformed(sample.maker.File(), "the constants are said to be in a segment that does not exist");

  EveryKindSample state;
  state.maker.program.segments.push_back(std::make_unique<fbs::DataSegmentT>());
  state.maker.program.mutable_data_segments[0]->segment_index = 7;
  ExpectMalformed(state.maker.File(), "the initial state is said to be in a segment that does not exist");
}

TEST(Program, RefusesUnalignedConstants) {
  AddSample sample;
  sample.maker.program.segments.push_back(std::make_unique<fbs::DataSegmentT>());
  sample.maker.program.segments[0]->offset = 8;
  ExpectMalformed(WithSegments(sample.maker.File(), 64), "the constants are not aligned to 16 bytes");
  AddSample inner;
  inner.maker.program.constant_segment->offsets[1] = 8;
  inner.maker.Constant(ScalarType::kFloat, {2}, BytesOf<float>({1, 2}));
  ExpectMalformed(inner.maker.File(), "a constant is not aligned to 16 bytes");
}

TEST(Program, RefusesAnotherVersionAndNoMethods) {
  AddSample sample;
  sample.maker.program.version = 1;
  ExpectRefused(sample.maker.File(), Code::kUnsupported, "the program has a schema version other than 0");
  AddSample none;
  none.maker.program.execution_plan.clear();
  ExpectMalformed(none.maker.File(), "the program has no method");
}

TEST(Program, RefusesOldInlineConstants) {
  AddSample sample;
  for (int i = 0; i < 2; ++i) {
    sample.maker.program.constant_buffer.push_back(std::make_unique<fbs::BufferT>());
    sample.maker.program.constant_buffer.back()->storage.resize(24);
  }
  sample.maker.program.constant_segment = nullptr;
  ExpectRefused(sample.maker.File(), Code::kUnsupported,
                "constants inside the flatbuffer (made before September 2024): export the program again");
}

TEST(Program, NothingIsLoadedAtFirst) {
  Program program;
  EXPECT_EQ(program.method_count(), 0u);
  EXPECT_EQ(program.method_name(0), nullptr);
  EXPECT_EQ(Program::LoadVerifiedAtBuild({nullptr, 0}, program).code(), Code::kInvalidProgram);
}

}  // namespace
}  // namespace cortex_m
