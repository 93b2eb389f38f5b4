// Sealed files: every damage to one is refused.
#include "cortex_m/runtime/seal.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "cortex_m/runtime/loaded_method.h"
#include "cortex_m/runtime/program.h"
#include "cortex_m/runtime/testing/samples.h"

namespace cortex_m {
namespace {

// Bit by bit, as in the standard: not the table of seal.cc.
uint32_t Crc32(const std::string& bytes) {
  uint32_t crc = 0xffffffffu;
  for (const char byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const uint32_t in = static_cast<uint8_t>(byte) >> bit & 1;
      crc = crc >> 1 ^ (((crc ^ in) & 1) != 0 ? 0xedb88320u : 0);
    }
  }
  return ~crc;
}

std::string Bytes(uint32_t value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); }

// The record of a target, by the text of seal.h.
std::string Record(std::string name, uint8_t isa, uint8_t core_isa) {
  name.resize(16);
  return name + std::string{static_cast<char>(isa), static_cast<char>(core_isa), 0, 0};
}

std::string Sealed(const std::string& file, const std::string& record = Record("any", 255, 255)) {
  return file + record + "cm-seal2" + Bytes(Crc32(file + record));
}

Status Load(const std::string& file) {
  const AlignedBytes bytes(file);
  Program program;
  return Program::Load(bytes.bytes(), program);
}

TEST(Seal, ChecksumIsTheStandards) {
  // The check value that every catalogue of CRCs gives for CRC-32/ISO-HDLC.
  EXPECT_EQ(Crc32("123456789"), 0xcbf43926u);
}

TEST(Seal, SealedAndUnsealedProgramsLoad) {
  for (const uint32_t header : {24, 32}) {
    const std::string file = AddSample().maker.File(header);
    EXPECT_TRUE(Load(file).ok());
    EXPECT_TRUE(Load(Sealed(file)).ok());
  }
}

TEST(Seal, LoadedProgramEndsBeforeTheSeal) {
  const std::string file = AddSample().maker.File(32);
  const AlignedBytes bytes(Sealed(file));
  Program program;
  ASSERT_TRUE(Program::Load(bytes.bytes(), program).ok());
  EXPECT_EQ(program.bytes().size, file.size());
}

// A program without constants has no extended header, and then nothing says where it ends.
std::string WithoutHeader() {
  ProgramMaker maker;
  const std::string file = maker.File(0);
  EXPECT_TRUE(Load(file).ok());
  return file;
}

TEST(Seal, EveryFlippedBitOfAProgramWithoutHeaderIsRefused) {
  const std::string file = Sealed(WithoutHeader());
  ASSERT_TRUE(Load(file).ok());
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(Load(damaged).ok()) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(Seal, EveryFlippedBitIsRefused) {
  const std::string file = Sealed(AddSample().maker.File(32));
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(Load(damaged).ok()) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(Seal, EveryTruncationThatLeavesPartOfTheSealIsRefused) {
  const std::string file = Sealed(AddSample().maker.File(32));
  for (size_t cut = 1; cut < kSealBytes; ++cut) {
    EXPECT_FALSE(Load(file.substr(0, file.size() - cut)).ok()) << cut << " bytes fewer";
  }
}

TEST(Seal, FirstFormOfTheSealIsRefused) {
  const std::string file = AddSample().maker.File(32);
  const Status status = Load(file + "cm-seal1" + Bytes(Crc32(file)));
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_STREQ(status.message(), "the program was sealed by an older exporter, which named no target: export it again");
}

TEST(Seal, TargetIsReadFromTheSeal) {
  const std::string file = AddSample().maker.File(32);
  const AlignedBytes bytes(Sealed(file, Record("cortex-m55", 2, 0)));
  Program program;
  ASSERT_TRUE(Program::Load(bytes.bytes(), program).ok());
  EXPECT_STREQ(program.target().name, "cortex-m55");
  EXPECT_EQ(program.target().isa, 2);
  EXPECT_EQ(program.target().core_isa, 0);
  const AlignedBytes unsealed(file);
  ASSERT_TRUE(Program::Load(unsealed.bytes(), program).ok());
  EXPECT_EQ(program.target().name, nullptr);
  EXPECT_EQ(program.target().isa, kAnyIsa);
}

TEST(Seal, TargetThatNoExporterWritesIsRefused) {
  const std::string file = AddSample().maker.File(32);
  const std::string unknown[] = {
      Record("cortex-m55", 3, 0), Record("cortex-m55", 0, 3),   Record("cortex-m4", 0, 1),  // wider than its core
      Record("any", 255, 0),      Record("cortex-m55", 0, 255), Record("sixteen letters!", 0, 0),
  };
  for (const std::string& record : unknown) {
    EXPECT_STREQ(Load(Sealed(file, record)).message(),
                 "the program's seal names a target that this runtime does not know");
  }
}

TEST(Target, RunsOnItsInstructionSetAndOnThatOfItsCore) {
  for (uint8_t isa = 0; isa < 3; ++isa) {
    for (uint8_t core = 0; core <= isa; ++core) {
      for (uint8_t here = 0; here < 3; ++here) {
        const Status status = CheckTarget({"cortex-m55", isa, core}, here);
        EXPECT_EQ(status.ok(), here == isa || here == core) << int{isa} << " of " << int{core} << " on " << int{here};
        if (status.ok()) continue;
        EXPECT_EQ(status.code(), Code::kUnsupported);
        EXPECT_STREQ(status.subject(), "cortex-m55");
        const std::string words =
            std::string("exported for a core with ") + NameOfIsa(isa) + ", and this one has " + NameOfIsa(here);
        EXPECT_NE(std::string(status.message()).find(words), std::string::npos) << status.message();
      }
      EXPECT_TRUE(CheckTarget({"cortex-m55", isa, core}, kAnyIsa).ok());
    }
  }
  for (uint8_t here = 0; here < 3; ++here) EXPECT_TRUE(CheckTarget(Target(), here).ok());
  EXPECT_EQ(CompiledIsa(), kAnyIsa);  // the host
}

TEST(Seal, WhatIsBehindTheProgramAndNoSealIsRefused) {
  const Status status = Load(AddSample().maker.File(32) + std::string(16, '\0'));
  EXPECT_EQ(status.code(), Code::kInvalidProgram);
  EXPECT_STREQ(status.message(), "there are bytes behind the program that are no seal of it");
}

}  // namespace
}  // namespace cortex_m
