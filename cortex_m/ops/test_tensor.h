// Tensors for the tests of operators: sizes, dim order and data in one object, the data between guard bytes.
//
//   TestTensor<int8_t> x({1, 3, 4, 5}, kNhwcOrder, values);   // values in memory order
//   x.at({0, c, h, w})                                        // by logical index
#ifndef CORTEX_M_OPS_TEST_TENSOR_H_
#define CORTEX_M_OPS_TEST_TENSOR_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "cortex_m/nn/test_util.h"
#include "cortex_m/runtime/kernel.h"

namespace cortex_m::ops {

using Sizes = std::vector<int32_t>;
using Order = std::vector<uint8_t>;
const Order kNhwcOrder = {0, 2, 3, 1};

template <typename T>
constexpr ScalarType kScalarTypeOf = ScalarType::kByte;
template <>
inline constexpr ScalarType kScalarTypeOf<int8_t> = ScalarType::kChar;
template <>
inline constexpr ScalarType kScalarTypeOf<int16_t> = ScalarType::kShort;
template <>
inline constexpr ScalarType kScalarTypeOf<int32_t> = ScalarType::kInt;
template <>
inline constexpr ScalarType kScalarTypeOf<float> = ScalarType::kFloat;

inline Order LogicalOrder(size_t rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), uint8_t{0});
  return order;
}

template <typename T>
class TestTensor {
 public:
  TestTensor(Sizes sizes, Order order, const std::vector<T>& memory)
      : sizes_(std::move(sizes)), order_(std::move(order)), count_(Count()), buffer_(count_ * sizeof(T)) {
    tensor_.data = count_ == 0 ? nullptr : buffer_.data();
    tensor_.sizes = sizes_.data();
    tensor_.dim_order = order_.data();
    tensor_.rank = static_cast<uint8_t>(sizes_.size());
    tensor_.dtype = kScalarTypeOf<T>;
    if (!memory.empty()) {
      EXPECT_EQ(memory.size(), count_);
      std::memcpy(buffer_.data(), memory.data(), count_ * sizeof(T));
    }
  }
  TestTensor(Sizes sizes, const std::vector<T>& memory = {}) : TestTensor(sizes, LogicalOrder(sizes.size()), memory) {}
  TestTensor(Sizes sizes, Order order) : TestTensor(std::move(sizes), std::move(order), std::vector<T>{}) {}
  TestTensor(const TestTensor&) = delete;

  Tensor& operator*() { return tensor_; }
  Tensor* operator->() { return &tensor_; }

  std::vector<T> memory() {
    std::vector<T> values(count_);
    if (count_ != 0) std::memcpy(values.data(), buffer_.data(), count_ * sizeof(T));
    return values;
  }
  size_t Place(const std::vector<int>& index) const {
    size_t place = 0;
    for (uint8_t dim : order_) place = place * static_cast<size_t>(sizes_[dim]) + static_cast<size_t>(index[dim]);
    return place;
  }
  T at(const std::vector<int>& index) {
    T value;
    std::memcpy(&value, buffer_.data() + Place(index) * sizeof(T), sizeof(T));
    return value;
  }
  bool intact() const { return buffer_.intact(); }
  bool untouched() const { return buffer_.untouched(); }

 private:
  size_t Count() const {
    size_t count = 1;
    for (int32_t size : sizes_) count *= static_cast<size_t>(size);
    return count;
  }

  Sizes sizes_;
  Order order_;
  size_t count_;
  cortex_m_nn_test::Guarded buffer_;
  Tensor tensor_;
};

// Each index of a tensor of these sizes, last dimension fastest.
inline std::vector<std::vector<int>> Indices(const Sizes& sizes) {
  std::vector<std::vector<int>> all = {{}};
  for (int32_t size : sizes) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& index : all) {
      for (int i = 0; i < size; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// An int[] argument.
class Ints {
 public:
  Ints(std::initializer_list<int64_t> values) : values_(values) {}
  Ints(std::vector<int64_t> values) : values_(std::move(values)) {}
  operator IntList() const { return {values_.data(), values_.size()}; }

 private:
  std::vector<int64_t> values_;
};

inline void ExpectRefused(const Status& status, const std::string& reason) {
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find(reason), std::string::npos)
      << "said \"" << status.message() << "\", not \"" << reason << "\"";
}

inline void ExpectOk(const Status& status) { EXPECT_TRUE(status.ok()) << status.message(); }

}  // namespace cortex_m::ops

#endif  // CORTEX_M_OPS_TEST_TENSOR_H_
