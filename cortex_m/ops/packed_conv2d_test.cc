#include "cortex_m/nn/additional.h"
#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

using cortex_m_nn_test::Clamp;
using cortex_m_nn_test::Random;
using cortex_m_nn_test::Requantize;

// 3x3, padding 1, of a 4x5 image: 3 channels to 4.
constexpr int kHeight = 4, kWidth = 5, kIn = 3, kOut = 4, kDepth = 27;
constexpr int32_t kPairBytes = 2 * 32 + 24;

struct Call {
  std::vector<int8_t> weights = Random(3).Bytes(kOut * kDepth);
  std::vector<int32_t> bias = {100, -2000, 0, 31000};
  std::vector<int32_t> multipliers = {1 << 30, 1518500250, 1431655765, 2000000000};
  std::vector<int32_t> shifts = {-9, -9, -9, -10};
  int64_t packing = CORTEX_M_NN_PACKING_PAIRS_OF_16, channels = kOut;
  int32_t input_offset = 9;
  int32_t packed_bytes = 2 * kPairBytes, scratch_bytes = 4 * (32 + 16);
  bool aligned = true;

  TestTensor<int8_t> input{{1, kHeight, kWidth, kIn}, Random(4).Bytes(kHeight * kWidth * kIn)};
  TestTensor<int8_t> out{{1, kHeight, kWidth, kOut}};

  Status Run() {
    cortex_m_nn_packed_conv_args args = {};
    args.input_channels = kIn;
    args.output_channels = kOut;
    args.rows.kernel = args.columns.kernel = 3;
    args.input_offset = input_offset;
    EXPECT_EQ(cortex_m_nn_packed_conv_bytes(&args), 2 * kPairBytes);
    EXPECT_EQ(cortex_m_nn_packed_conv_scratch_bytes(&args), 4 * (32 + 16));
    std::vector<int8_t> bytes(2 * kPairBytes);
    cortex_m_nn_pack_conv(&args, weights.data(), bias.data(), multipliers.data(), shifts.data(), bytes.data());
    bytes.resize(packed_bytes + 1);
    alignas(16) int8_t memory[512];
    std::memcpy(memory + !aligned, bytes.data(), packed_bytes);
    TestTensor<int8_t> packed({packed_bytes});
    packed->data = memory + !aligned;
    TestTensor<int8_t> scratch({scratch_bytes});
    KernelContext context;
    return packed_conv2d_nhwc_out(context, *input, *packed, packing, channels, Ints({3, 3}), Ints({1, 1}), Ints({1, 1}),
                                  Ints({1, 1}), input_offset, -5, -128, 127, *scratch, *out);
  }
};

// The plain formula of docs/numerics.md, with padding that adds nothing.
int8_t Expected(Call& call, int y, int x, int c) {
  int64_t sum = call.bias[c];
  for (int ky = 0; ky < 3; ++ky) {
    for (int kx = 0; kx < 3; ++kx) {
      const int row = y + ky - 1, column = x + kx - 1;
      if (row < 0 || row >= kHeight || column < 0 || column >= kWidth) continue;
      for (int i = 0; i < kIn; ++i) {
        sum += int64_t{call.input.at({0, row, column, i}) + call.input_offset} *
               call.weights[c * kDepth + (ky * 3 + kx) * kIn + i];
      }
    }
  }
  return static_cast<int8_t>(Clamp(Requantize(sum, call.multipliers[c], call.shifts[c]) - 5, -128, 127));
}

TEST(PackedConv2d, IsTheConvolutionOfTheWeightsThatWerePacked) {
  for (int32_t input_offset : {9, -127, 128, 0}) {
    Call call;
    call.input_offset = input_offset;
    ExpectOk(call.Run());
    for (const std::vector<int>& index : Indices({1, kHeight, kWidth, kOut})) {
      ASSERT_EQ(call.out.at(index), Expected(call, index[1], index[2], index[3]));
    }
    cortex_m_nn_test::ExpectMostlyInsideRange(call.out.memory());
    EXPECT_TRUE(call.out.intact());
  }
}

TEST(PackedConv2d, ParametersInThePackedBytesAreChecked) {
  for (int c = 0; c < kOut; ++c) {
    for (int32_t shift : {0, 1, -32}) {
      Call call;
      call.shifts[c] = shift;
      ExpectRefused(call.Run(), "a shift is outside -31..-1");
      EXPECT_TRUE(call.out.untouched());
    }
    for (int32_t multiplier : {0, -1, INT32_MIN}) {
      Call call;
      call.multipliers[c] = multiplier;
      ExpectRefused(call.Run(), "a multiplier is not positive");
    }
  }
}

TEST(PackedConv2d, Refusals) {
  const auto refused = [](void (*change)(Call&), const char* reason) {
    Call call;
    change(call);
    ExpectRefused(call.Run(), reason);
    EXPECT_TRUE(call.out.untouched());
  };
  for (int32_t bytes : {0, kPairBytes, 2 * kPairBytes - 1, 2 * kPairBytes + 1}) {
    Call call;
    call.packed_bytes = bytes;
    ExpectRefused(call.Run(), "no aligned bytes of the size");
  }
  refused([](Call& call) { call.aligned = false; }, "no aligned bytes");
  refused([](Call& call) { call.packing = 0; }, "reads another packing");
  refused([](Call& call) { call.packing = 2; }, "reads another packing");
  refused([](Call& call) { call.packing = int64_t{1} << 32 | 1; }, "reads another packing");
  refused([](Call& call) { call.channels = 2; }, "not output_channels");
  refused([](Call& call) { --call.scratch_bytes; }, "scratch is smaller");
}

// 3x3 with stride 2, padding 1, of a 5x5 image of 16 channels.
struct DepthwiseCall {
  std::vector<int8_t> weights = Random(5).Bytes(9 * 16);
  std::vector<int32_t> bias = std::vector<int32_t>(16, 700), multipliers = std::vector<int32_t>(16, 1 << 30);
  std::vector<int32_t> shifts = std::vector<int32_t>(16, -7);
  int64_t packing = CORTEX_M_NN_PACKING_TAPS_OF_16;
  int32_t scratch_bytes = 16;
  int64_t kernel = 3;

  TestTensor<int8_t> input{{1, 5, 5, 16}, Random(6).Bytes(5 * 5 * 16)};
  TestTensor<int8_t> out{{1, 3, 3, 16}};

  Status Run() {
    cortex_m_nn_packed_conv_args args = {};
    args.output_channels = 16;
    args.input_offset = 3;
    alignas(16) int8_t memory[9 * 16 + 3 * 64];
    cortex_m_nn_pack_depthwise_conv(&args, weights.data(), bias.data(), multipliers.data(), shifts.data(), memory);
    TestTensor<int8_t> packed({static_cast<int32_t>(sizeof memory)});
    packed->data = memory;
    TestTensor<int8_t> scratch({scratch_bytes});
    KernelContext context;
    return packed_depthwise_conv2d_nhwc_out(context, *input, *packed, packing, 16, Ints({kernel, kernel}), Ints({2, 2}),
                                            Ints({1, 1}), Ints({1, 1}), 3, -5, -128, 127, *scratch, *out);
  }
};

TEST(PackedDepthwiseConv2d, IsTheConvolutionOfTheWeightsThatWerePacked) {
  DepthwiseCall call;
  for (int8_t& weight : call.weights) weight = static_cast<int8_t>(weight == -128 ? -127 : weight);
  for (int c = 0; c < 16; ++c) {
    call.bias[c] = 1000 * c - 8000;
    call.multipliers[c] += c << 25;
    call.shifts[c] -= c % 3;
  }
  ExpectOk(call.Run());
  for (const std::vector<int>& index : Indices({1, 3, 3, 16})) {
    const int c = index[3];
    int64_t sum = call.bias[c];
    for (int tap = 0; tap < 9; ++tap) {
      const int row = 2 * index[1] + tap / 3 - 1, column = 2 * index[2] + tap % 3 - 1;
      if (row < 0 || row >= 5 || column < 0 || column >= 5) continue;
      sum += int64_t{call.input.at({0, row, column, c}) + 3} * call.weights[tap * 16 + c];
    }
    ASSERT_EQ(call.out.at(index), Clamp(Requantize(sum, call.multipliers[c], call.shifts[c]) - 5, -128, 127));
  }
  cortex_m_nn_test::ExpectMostlyInsideRange(call.out.memory());
  EXPECT_TRUE(call.out.intact());
}

TEST(PackedDepthwiseConv2d, Refusals) {
  const auto refused = [](const char* reason, auto change) {
    DepthwiseCall call;
    for (int8_t& weight : call.weights) weight = static_cast<int8_t>(weight / 2);
    change(call);
    ExpectRefused(call.Run(), reason);
    EXPECT_TRUE(call.out.untouched());
  };
  for (int i = 0; i < 9 * 16; ++i) {
    refused("a tap is -128", [i](DepthwiseCall& call) { call.weights[i] = -128; });
  }
  for (int c = 0; c < 16; ++c) {
    refused("a shift is outside", [c](DepthwiseCall& call) { call.shifts[c] = 0; });
    refused("a shift is outside", [c](DepthwiseCall& call) { call.shifts[c] = -32; });
    refused("a multiplier is not positive", [c](DepthwiseCall& call) { call.multipliers[c] = 0; });
  }
  refused("reads another packing", [](DepthwiseCall& call) { call.packing = CORTEX_M_NN_PACKING_PAIRS_OF_16; });
  refused("another size", [](DepthwiseCall& call) { call.kernel = 1; });
  refused("scratch is smaller", [](DepthwiseCall& call) { --call.scratch_bytes; });
}

}  // namespace
}  // namespace cortex_m::ops
