// A library of a model with int8 inputs and outputs, used as a firmware uses it: before init, after it, and again.
#include "int8_net.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

template <typename T>
std::vector<T> Read(const std::string& name) {
  std::ifstream file("cortex_m/test/int8_io/net.vectors/" + name, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

using Input = int8_net::Input<0>;
using Output = int8_net::Output<0>;

TEST(Library, SaysWhatIsMissingBeforeInit) {
  EXPECT_EQ(int8_net_input(0), nullptr);
  EXPECT_EQ(int8_net_output(0), nullptr);
  EXPECT_STREQ(int8_net_error(), "");
  EXPECT_FALSE(int8_net_run());
  EXPECT_STREQ(int8_net_error(), "int8_net_init() was not called, or failed");
  EXPECT_EQ(int8_net_error_subject(), nullptr);
  EXPECT_EQ(int8_net_error_index(), -1);
}

TEST(Library, GivesThePredictedBytesEachTime) {
  const std::vector<int8_t> input = Read<int8_t>("input_0.bin");
  const std::vector<int8_t> expected = Read<int8_t>("expected_0.bin");
  ASSERT_EQ(input.size(), Input::kSize);
  ASSERT_EQ(expected.size(), Output::kSize);
  for (int start = 0; start < 2; ++start) {
    ASSERT_TRUE(int8_net::Init()) << int8_net::error();
    EXPECT_EQ(int8_net_input(1), nullptr);
    for (int run = 0; run < 2; ++run) {
      std::memcpy(int8_net::input(), input.data(), Input::kBytes);
      ASSERT_TRUE(int8_net::Run()) << int8_net::error();
      EXPECT_EQ(std::memcmp(int8_net::output(), expected.data(), Output::kBytes), 0);
      EXPECT_STREQ(int8_net::error(), "");
    }
  }
}

// Scale and zero point make of the bytes what the float network gives.
TEST(Library, TellsWhatTheBytesStandFor) {
  const std::vector<int8_t> expected = Read<int8_t>("expected_0.bin");
  const std::vector<float> real = Read<float>("float_0.bin");
  ASSERT_EQ(real.size(), expected.size());
  for (size_t i = 0; i < real.size(); ++i) {
    EXPECT_NEAR((expected[i] - Output::kZeroPoint) * Output::kScale, real[i], 4 * Output::kScale);
  }
  EXPECT_EQ(Input::kScale, INT8_NET_INPUT_0_SCALE);
  EXPECT_EQ(Output::kZeroPoint, INT8_NET_OUTPUT_0_ZERO_POINT);
}

}  // namespace
