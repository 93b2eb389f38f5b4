// A library of a model with state: what runs leave behind, and what reset brings back.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "state_net.h"

namespace {

std::vector<char> Read(const std::string& name) {
  std::ifstream file("cortex_m/test/state/net.vectors/" + name, std::ios::binary);
  return std::vector<char>((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

// Of a run on the example inputs.
std::vector<std::vector<char>> RunOnExamples() {
  const std::vector<char> input = Read("input_0.bin");
  EXPECT_EQ(input.size(), STATE_NET_INPUT_0_BYTES);
  std::memcpy(state_net::input(), input.data(), input.size());
  EXPECT_TRUE(state_net::Run()) << state_net::error();
  const size_t sizes[] = {STATE_NET_OUTPUT_0_BYTES, STATE_NET_OUTPUT_1_BYTES, STATE_NET_OUTPUT_2_BYTES};
  std::vector<std::vector<char>> outputs;
  for (size_t i = 0; i < 3; ++i) {
    const char* data = static_cast<const char*>(state_net_output(i));
    outputs.emplace_back(data, data + sizes[i]);
  }
  return outputs;
}

std::vector<std::vector<char>> Expected(const std::string& kind) {
  return {Read(kind + "_0.bin"), Read(kind + "_1.bin"), Read(kind + "_2.bin")};
}

TEST(Library, ResetBeforeInitIsRefused) {
  EXPECT_FALSE(state_net_reset());
  EXPECT_STREQ(state_net_error(), "state_net_init() was not called, or failed");
}

TEST(Library, StateGoesOnUntilReset) {
  const auto first = Expected("expected");
  const auto second = Expected("expected_again");
  ASSERT_NE(first, second);
  ASSERT_TRUE(state_net::Init()) << state_net::error();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(RunOnExamples(), first);
    EXPECT_EQ(RunOnExamples(), second);
    ASSERT_TRUE(state_net::Reset());
    EXPECT_STREQ(state_net_error(), "");
  }
  EXPECT_EQ(RunOnExamples(), first);
}

}  // namespace
