#include "cortex_m/ops/checks.h"
#include "cortex_m/ops/operators.h"

namespace cortex_m::ops {

namespace {

// True if the dimensions larger than 1 lie in memory as `order` says, outermost first.
bool LiesInOrder(const Tensor& tensor, const uint8_t* order) {
  Tensor view = tensor;
  view.dim_order = order;
  return SameLayout(tensor, view);
}

// The last `rank` of four sizes in memory order, ones before them.
cmsis_nn_dims InMemoryOrder(const Tensor& tensor, const uint8_t* order) {
  int32_t sizes[4] = {1, 1, 1, 1};
  for (int i = 0; i < tensor.rank; ++i) sizes[4 - tensor.rank + i] = tensor.sizes[order[i]];
  return {sizes[0], sizes[1], sizes[2], sizes[3]};
}

bool Fits(int32_t input, int32_t pre, int32_t post, int32_t output) { return int64_t{input} + pre + post == output; }

// Whether the pads, one for each dimension in the order given, turn the one tensor into the other.
bool OrderFits(const Tensor& input, const Tensor& out, const uint8_t* order, const cmsis_nn_dims& pre,
               const cmsis_nn_dims& post) {
  if (!LiesInOrder(input, order) || !LiesInOrder(out, order)) return false;
  const cmsis_nn_dims in = InMemoryOrder(input, order);
  const cmsis_nn_dims result = InMemoryOrder(out, order);
  return Fits(in.n, pre.n, post.n, result.n) && Fits(in.h, pre.h, post.h, result.h) &&
         Fits(in.w, pre.w, post.w, result.w) && Fits(in.c, pre.c, post.c, result.c);
}

bool ReadPads(IntList list, int rank, cmsis_nn_dims* pads) {
  if (list.size != 4) return false;
  int32_t values[4];
  for (int i = 0; i < 4; ++i) {
    if (!Narrow(list[i], 0, INT32_MAX, &values[i])) return false;
    if (i < 4 - rank && values[i] != 0) return false;
  }
  *pads = {values[0], values[1], values[2], values[3]};
  return true;
}

}  // namespace

Status pad_out(KernelContext& context, const Tensor& input, IntList pre_pad, IntList post_pad, int64_t pad_value,
               const Tensor& out) {
  if (input.dtype != ScalarType::kChar || out.dtype != ScalarType::kChar) {
    return context.Fail("pad: input and output must be int8");
  }
  if (input.rank < 1 || input.rank > 4 || out.rank != input.rank) {
    return context.Fail("pad: input and output must have one rank of 1..4");
  }
  if (ElementCount(input) == 0 || ElementCount(out) > INT32_MAX) {
    return context.Fail("pad: the input is empty, or the output has more than 2^31 - 1 elements");
  }
  cmsis_nn_dims pre, post;
  if (!ReadPads(pre_pad, input.rank, &pre) || !ReadPads(post_pad, input.rank, &post)) {
    return context.Fail("pad: pre_pad and post_pad must have four values that are not negative, and 0 beyond the rank");
  }
  int32_t value;
  if (!Narrow(pad_value, -128, 127, &value)) return context.Fail("pad: pad_value is outside -128..127");

  // The pads are in memory order. With sizes of 1 a tensor lies in more than one order at once, and an exporter may have
  // meant another than the one it wrote down: the one that gives the output's sizes counts.
  static constexpr uint8_t kNhwc[4] = {0, 2, 3, 1};
  const uint8_t* orders[3] = {input.dim_order, out.dim_order, input.rank == 4 ? kNhwc : input.dim_order};
  for (const uint8_t* order : orders) {
    if (!OrderFits(input, out, order, pre, post)) continue;
    const cmsis_nn_dims in = InMemoryOrder(input, order);
    if (arm_pad_s8(input.as<int8_t>(), out.mutable_as<int8_t>(), static_cast<int8_t>(value), &in, &pre, &post) !=
        ARM_CMSIS_NN_SUCCESS) {
      return context.Fail("pad: the kernel library refused the arguments");
    }
    return Status();
  }
  return context.Fail("pad: the output has another size or dim order than input and pads give");
}

}  // namespace cortex_m::ops
