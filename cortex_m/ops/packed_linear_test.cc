#include "cortex_m/nn/additional.h"
#include "cortex_m/ops/operators.h"
#include "cortex_m/ops/test_tensor.h"

namespace cortex_m::ops {
namespace {

using cortex_m_nn_test::Clamp;
using cortex_m_nn_test::Random;
using cortex_m_nn_test::Requantize;

constexpr int kRows = 3, kDepth = 10, kOut = 8;
constexpr int32_t kBytes = 2 * (3 * 16 + 48);

struct Call {
  std::vector<int8_t> weights = Random(3).Bytes(kOut * kDepth);
  std::vector<int32_t> bias = {100, -2000, 0, 3100, -5, 900, -700, 12};
  std::vector<int32_t> multipliers = std::vector<int32_t>(kOut, 1518500250);
  std::vector<int32_t> shifts = std::vector<int32_t>(kOut, -9);
  int64_t packing = CORTEX_M_NN_PACKING_FOURS_OF_PAIRS, channels = kOut;
  int32_t packed_bytes = kBytes, scratch_bytes = 2 * 12;

  TestTensor<int8_t> input{{kRows, kDepth}, Random(4).Bytes(kRows * kDepth)};
  TestTensor<int8_t> out{{kRows, kOut}};

  Call() {
    for (int8_t& weight : weights) weight = static_cast<int8_t>(weight == -128 ? -127 : weight);
  }

  bool Pack(int8_t* memory) {
    cortex_m_nn_packed_linear_args args = {};
    args.depth = kDepth;
    args.channels = kOut;
    EXPECT_EQ(cortex_m_nn_packed_linear_bytes(&args), kBytes);
    EXPECT_EQ(cortex_m_nn_packed_linear_scratch_bytes(&args), 2 * 12);
    return cortex_m_nn_pack_linear(&args, weights.data(), bias.data(), multipliers.data(), shifts.data(), memory);
  }

  Status Run() {
    alignas(16) int8_t memory[kBytes];
    EXPECT_TRUE(Pack(memory));
    TestTensor<int8_t> packed({packed_bytes});
    packed->data = memory;
    TestTensor<int8_t> scratch({scratch_bytes});
    KernelContext context;
    return packed_linear_out(context, *input, *packed, packing, channels, -5, -128, 127, *scratch, *out);
  }
};

TEST(PackedLinear, IsTheLayerOfTheWeightsThatWerePacked) {
  Call call;
  ExpectOk(call.Run());
  for (int row = 0; row < kRows; ++row) {
    for (int c = 0; c < kOut; ++c) {
      int64_t sum = call.bias[c];
      for (int k = 0; k < kDepth; ++k) sum += int64_t{call.input.at({row, k})} * call.weights[c * kDepth + k];
      ASSERT_EQ(call.out.at({row, c}), Clamp(Requantize(sum, call.multipliers[c], call.shifts[c]) - 5, -128, 127));
    }
  }
  cortex_m_nn_test::ExpectMostlyInsideRange(call.out.memory());
  EXPECT_TRUE(call.out.intact());
}

TEST(PackedLinear, WeightsThatDoNotFitAreNotPacked) {
  Call call;
  int8_t memory[kBytes];
  call.weights[0] = -128;  // 256 * -128 - 1 is below an int16
  call.weights[kDepth] = -1;
  EXPECT_FALSE(call.Pack(memory));
  call.weights[kDepth] = 0;
  EXPECT_TRUE(call.Pack(memory));

  constexpr int32_t kDeep = 517;  // 516 * 127 is below 2^16, 517 * 127 is not
  for (int32_t depth : {kDeep - 1, kDeep}) {
    for (int first : {0, 1}) {
      cortex_m_nn_packed_linear_args args = {};
      args.depth = depth;
      args.channels = 4;
      std::vector<int8_t> weights(4 * depth, 0), packed(cortex_m_nn_packed_linear_bytes(&args));
      std::fill_n(weights.begin() + first * depth, depth, int8_t{-127});
      const std::vector<int32_t> ones(4, 1), shifts(4, -1);
      EXPECT_EQ(cortex_m_nn_pack_linear(&args, weights.data(), nullptr, ones.data(), shifts.data(), packed.data()),
                depth < kDeep || first == 1);
    }
  }
}

TEST(PackedLinear, Refusals) {
  const auto refused = [](const char* reason, auto change) {
    Call call;
    change(call);
    ExpectRefused(call.Run(), reason);
    EXPECT_TRUE(call.out.untouched());
  };
  for (int c = 0; c < kOut; ++c) {
    refused("a shift is outside", [c](Call& call) { call.shifts[c] = 0; });
    refused("a shift is outside", [c](Call& call) { call.shifts[c] = -32; });
    refused("a multiplier is not positive", [c](Call& call) { call.multipliers[c] = 0; });
  }
  refused("reads another packing", [](Call& call) { call.packing = CORTEX_M_NN_PACKING_PAIRS_OF_16; });
  refused("reads another packing", [](Call& call) { call.packing = 0; });
  refused("is not output_channels", [](Call& call) { call.channels = 4; });
  refused("no aligned bytes", [](Call& call) { --call.packed_bytes; });
  refused("scratch is smaller", [](Call& call) { --call.scratch_bytes; });
}

}  // namespace
}  // namespace cortex_m::ops
