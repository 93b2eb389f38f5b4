// Each bit flipped, each byte replaced, each length: a program is refused, fails with a Status, or runs. Built with the
// address and undefined-behaviour sanitizers, so that an access outside what belongs to the program ends the test.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "cortex_m/runtime/testing/run_any.h"
#include "cortex_m/runtime/testing/samples.h"

namespace cortex_m {
namespace {

class Fuzz : public ::testing::TestWithParam<std::string> {
 protected:
  void Run(const std::string& file) {
    ++counts_[static_cast<size_t>(RunAny(file, {"test::touch", "test::add.out", "test::add_", "test::copy.out",
                                                "prim::add.Scalar", "prim::lt.Scalar"}))];
  }
  int refused() const { return counts_[0]; }
  int completed() const { return counts_[3]; }
  int all() const { return counts_[0] + counts_[1] + counts_[2] + counts_[3]; }

 private:
  std::array<int, 4> counts_{};
};

TEST_P(Fuzz, TheSampleItselfRuns) {
  Run(GetParam());
  EXPECT_EQ(refused(), 0);
}

TEST_P(Fuzz, EachBitFlipped) {
  for (size_t i = 0; i < GetParam().size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string file = GetParam();
      file[i] = static_cast<char>(file[i] ^ (1 << bit));
      Run(file);
    }
  }
  // Both happen: flips in data and padding do no harm, flips in offsets are found.
  EXPECT_GT(completed(), all() / 20);
  EXPECT_GT(refused(), all() / 20);
}

TEST_P(Fuzz, EachByteReplaced) {
  for (size_t i = 0; i < GetParam().size(); ++i) {
    for (const int byte : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::string file = GetParam();
      file[i] = static_cast<char>(byte);
      Run(file);
    }
  }
}

// Aligned words, where the format has its offsets, indices and sizes.
TEST_P(Fuzz, EachWordReplaced) {
  for (size_t i = 0; i + 4 <= GetParam().size(); i += 4) {
    for (const uint32_t word : {0u, 1u, 4u, 0x7fffffffu, 0x80000000u, 0xfffffffcu, 0xffffffffu}) {
      std::string file = GetParam();
      std::memcpy(&file[i], &word, sizeof(word));
      Run(file);
    }
  }
}

TEST_P(Fuzz, EachLength) {
  for (size_t size = 0; size < GetParam().size(); ++size) Run(GetParam().substr(0, size));
  EXPECT_GT(refused(), 0);
}

std::string NameOf(const ::testing::TestParamInfo<std::string>& info) {
  const char* const names[] = {"Add", "Loop", "EveryKind"};
  return names[info.index];
}

INSTANTIATE_TEST_SUITE_P(Samples, Fuzz,
                         ::testing::Values(AddSample().maker.File(32), LoopSample().maker.File(24),
                                           EveryKindSample().maker.File(32)),
                         NameOf);

}  // namespace
}  // namespace cortex_m
