// Sealed files: every damage to one is refused.
#include "cortex_m/runtime/seal.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "cortex_m/runtime/program.h"
#include "cortex_m/runtime/testing/loaded_method.h"
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

std::string Sealed(const std::string& file) {
  const uint32_t crc = Crc32(file);
  return file + "cm-seal1" + std::string(reinterpret_cast<const char*>(&crc), sizeof crc);
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

TEST(Seal, WhatIsBehindTheProgramAndNoSealIsRefused) {
  const Status status = Load(AddSample().maker.File(32) + std::string(16, '\0'));
  EXPECT_EQ(status.code(), Code::kInvalidProgram);
  EXPECT_STREQ(status.message(), "there are bytes behind the program that are no seal of it");
}

}  // namespace
}  // namespace cortex_m
