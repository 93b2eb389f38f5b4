#include "cortex_m/ops/broadcast_test_util.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {
namespace {

using Function = decltype(minimum_out);

Status Call(Function* function, const Tensor& a, const Tensor& b, const Tensor& out) {
  KernelContext context;
  return function(context, a, b, out);
}

TEST(MinimumMaximum, AnyShapesThatBroadcastInAnyDimOrder) {
  for (const Operands& operands : BroadcastCases()) {
    ExpectElementwise<int8_t>(
        operands, [](Tensor& a, Tensor& b, Tensor& out) { return Call(minimum_out, a, b, out); },
        [](int8_t a, int8_t b) { return a < b ? a : b; });
    ExpectElementwise<int8_t>(
        operands, [](Tensor& a, Tensor& b, Tensor& out) { return Call(maximum_out, a, b, out); },
        [](int8_t a, int8_t b) { return a < b ? b : a; });
  }
}

TEST(MinimumMaximum, Refusals) {
  TestTensor<int8_t> a({2, 3}, std::vector<int8_t>(6, 1)), other({2, 2}), out({2, 3});
  TestTensor<int32_t> wide({2, 3});
  for (Function* function : {minimum_out, maximum_out}) {
    ExpectRefused(Call(function, *wide, *a, *out), "must be int8");
    ExpectRefused(Call(function, *a, *wide, *out), "must be int8");
    ExpectRefused(Call(function, *a, *a, *wide), "must be int8");
    ExpectRefused(Call(function, *a, *other, *out), "do not broadcast");
  }
  EXPECT_TRUE(out.untouched());
}

}  // namespace
}  // namespace cortex_m::ops
