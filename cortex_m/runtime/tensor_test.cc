#include "cortex_m/runtime/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace cortex_m {
namespace {

struct Made {
  Made(std::vector<int32_t> s, std::vector<uint8_t> o, ScalarType dtype = ScalarType::kFloat)
      : sizes(std::move(s)), order(std::move(o)) {
    tensor.sizes = sizes.data();
    tensor.dim_order = order.data();
    tensor.rank = static_cast<uint8_t>(sizes.size());
    tensor.dtype = dtype;
  }
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  Tensor tensor;
};

// Strides from sizes and order by the definition: the innermost dimension has stride 1, each further one the product of
// those inside it.
std::vector<int64_t> Strides(const Tensor& tensor) {
  std::vector<int64_t> strides(tensor.rank);
  int64_t stride = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    strides[tensor.dim_order[i]] = stride;
    stride *= tensor.sizes[tensor.dim_order[i]];
  }
  return strides;
}

// Two tensors place each element alike if the strides of all dimensions larger than 1 agree.
bool PlacedAlike(const Tensor& a, const Tensor& b) {
  for (int i = 0; i < a.rank; ++i) {
    if (a.sizes[i] > 1 && Strides(a)[i] != Strides(b)[i]) return false;
  }
  return true;
}

TEST(Tensor, CountsElementsAndBytes) {
  EXPECT_EQ(ElementCount(Made({}, {}).tensor), 1u);
  EXPECT_EQ(ElementCount(Made({2, 3, 5}, {0, 1, 2}).tensor), 30u);
  EXPECT_EQ(ElementCount(Made({2, 0, 5}, {0, 1, 2}).tensor), 0u);
  const std::vector<std::pair<ScalarType, size_t>> sizes = {
      {ScalarType::kByte, 1},  {ScalarType::kChar, 1}, {ScalarType::kBool, 1},
      {ScalarType::kShort, 2}, {ScalarType::kHalf, 2}, {ScalarType::kInt, 4},
      {ScalarType::kFloat, 4}, {ScalarType::kLong, 8}, {ScalarType::kDouble, 8}};
  for (const auto& [dtype, size] : sizes) {
    EXPECT_EQ(ElementSize(dtype), size);
    EXPECT_EQ(ByteSize(Made({3, 7}, {0, 1}, dtype).tensor), 21 * size);
  }
  for (const int code : {-128, -1, 8, 9, 10, 12, 15, 27, 127})
    EXPECT_EQ(ElementSize(static_cast<ScalarType>(code)), 0u);
}

TEST(Tensor, ComparesSizes) {
  EXPECT_TRUE(SameSizes(Made({2, 3}, {0, 1}).tensor, Made({2, 3}, {1, 0}).tensor));
  EXPECT_FALSE(SameSizes(Made({2, 3}, {0, 1}).tensor, Made({3, 2}, {0, 1}).tensor));
  EXPECT_FALSE(SameSizes(Made({2, 3}, {0, 1}).tensor, Made({2, 3, 1}, {0, 1, 2}).tensor));
}

// Every order of every rank-4 shape with sizes 1, 2 and 3 against the definition by strides.
TEST(Tensor, LayoutsAreWhatStridesSay) {
  int contiguous = 0;
  int channels_last = 0;
  for (int code = 0; code < 81; ++code) {
    const std::vector<int32_t> sizes = {1 + code % 3, 1 + code / 3 % 3, 1 + code / 9 % 3, 1 + code / 27};
    const Made nchw(sizes, {0, 1, 2, 3});
    const Made nhwc(sizes, {0, 2, 3, 1});
    std::vector<uint8_t> order = {0, 1, 2, 3};
    do {
      const Made made(sizes, order);
      EXPECT_EQ(IsContiguous(made.tensor), PlacedAlike(made.tensor, nchw.tensor));
      EXPECT_EQ(IsChannelsLast(made.tensor), PlacedAlike(made.tensor, nhwc.tensor));
      EXPECT_EQ(SameLayout(made.tensor, nhwc.tensor), PlacedAlike(made.tensor, nhwc.tensor));
      contiguous += IsContiguous(made.tensor);
      channels_last += IsChannelsLast(made.tensor);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(contiguous, 81);
  EXPECT_LT(contiguous, 81 * 24);
  EXPECT_EQ(contiguous, channels_last);
}

TEST(Tensor, OtherRanks) {
  EXPECT_TRUE(IsContiguous(Made({}, {}).tensor));
  EXPECT_FALSE(IsChannelsLast(Made({2, 3, 4}, {0, 1, 2}).tensor));
  EXPECT_FALSE(IsChannelsLast(Made({2}, {0}).tensor));
  EXPECT_FALSE(IsChannelsLast(Made({}, {}).tensor));
  EXPECT_TRUE(IsContiguous(Made({2, 3, 4}, {0, 1, 2}).tensor));
  EXPECT_FALSE(IsContiguous(Made({2, 3, 4}, {0, 2, 1}).tensor));
  EXPECT_FALSE(SameLayout(Made({2, 3}, {0, 1}).tensor, Made({3, 2}, {0, 1}).tensor));
  // As exir serialises a [1, 1, 49, 10] input, and a pooled image.
  EXPECT_TRUE(IsContiguous(Made({1, 1, 49, 10}, {0, 2, 1, 3}).tensor));
  EXPECT_TRUE(IsChannelsLast(Made({1, 1, 49, 10}, {0, 2, 1, 3}).tensor));
  EXPECT_TRUE(IsContiguous(Made({1, 8, 1, 1}, {0, 2, 3, 1}).tensor));
}

}  // namespace
}  // namespace cortex_m
