// A view of a tensor: where its data is, and how it lies there. Owns nothing; shape and order point into the program.
//
//   for (int i = 0; i < tensor.rank; ++i) elements *= tensor.sizes[i];
//   if (!IsContiguous(tensor)) ...
#ifndef CORTEX_M_RUNTIME_TENSOR_H_
#define CORTEX_M_RUNTIME_TENSOR_H_

#include <cstddef>
#include <cstdint>

namespace cortex_m {

// Values are those of executorch's scalar_type.fbs, and so those in the file.
enum class ScalarType : int8_t {
  kByte = 0,
  kChar = 1,
  kShort = 2,
  kInt = 3,
  kLong = 4,
  kHalf = 5,
  kFloat = 6,
  kDouble = 7,
  kBool = 11,
};

// A view of `size` consecutive values of T.
template <typename T>
struct Span {
  T* data = nullptr;
  size_t size = 0;
  T& operator[](size_t i) const { return data[i]; }
  T* begin() const { return data; }
  T* end() const { return data + size; }
};

using IntList = Span<const int64_t>;

struct Tensor {
  void* data = nullptr;                // null only for a tensor without elements
  const int32_t* sizes = nullptr;      // [rank], logical order (NCHW for an image)
  const uint8_t* dim_order = nullptr;  // [rank], dimensions from outermost to innermost in memory
  uint8_t rank = 0;
  ScalarType dtype = ScalarType::kFloat;
  bool constant = false;  // its data is part of the program: perhaps in flash, never to be written

  template <typename T>
  T* mutable_as() const {
    return static_cast<T*>(data);
  }
  template <typename T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};

constexpr int kMaxRank = 16;  // as executorch's kTensorDimensionLimit

// Bytes of one element; 0 for a type this runtime does not know.
size_t ElementSize(ScalarType dtype);
// Product of the sizes; 1 for rank 0.
size_t ElementCount(const Tensor& tensor);
size_t ByteSize(const Tensor& tensor);
bool SameSizes(const Tensor& a, const Tensor& b);
// True if the memory order is the logical order. Dimensions of size 1 may stand anywhere: they do not move an element.
bool IsContiguous(const Tensor& tensor);
// True if rank is 4 and memory is N, H, W, C; sizes of 1 as above, so a 1x1 image or a single channel is both.
bool IsChannelsLast(const Tensor& tensor);
// Both store the same logical element at the same place.
bool SameLayout(const Tensor& a, const Tensor& b);

}  // namespace cortex_m

#endif  // CORTEX_M_RUNTIME_TENSOR_H_
