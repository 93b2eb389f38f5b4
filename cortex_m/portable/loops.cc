#include "cortex_m/portable/loops.h"

namespace cortex_m::portable {

void StridesOf(const Tensor& tensor, int32_t* strides) {
  int32_t stride = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    const int dim = tensor.dim_order[i];
    strides[dim] = stride;
    stride *= tensor.sizes[dim];
  }
}

void Loops::Add(int32_t size, const int32_t* strides) {
  if (size == 0) empty_ = true;
  if (size <= 1 || empty_) return;
  if (count_ > 0) {
    bool continues = true;
    for (int i = 0; i < operands_; ++i) {
      continues &= stride_[count_ - 1][i] == size * strides[i];
    }
    if (continues) {
      --count_;
      size *= size_[count_];
    }
  }
  size_[count_] = size;
  for (int i = 0; i < operands_; ++i) stride_[count_][i] = strides[i];
  ++count_;
}

Loops Loops::Swapped() const {
  Loops swapped = *this;
  for (int i = 0; i < count_; ++i) {
    swapped.stride_[i][0] = stride_[i][1];
    swapped.stride_[i][1] = stride_[i][0];
  }
  return swapped;
}

void Walk::Next() {
  for (int loop = loops_.count_ - 2; loop >= 0; --loop) {
    const int32_t* strides = loops_.stride_[loop];
    if (++turn_[loop] < loops_.size_[loop]) {
      for (int i = 0; i < loops_.operands_; ++i) offset_[i] += strides[i];
      return;
    }
    turn_[loop] = 0;
    const ptrdiff_t back = loops_.size_[loop] - 1;
    for (int i = 0; i < loops_.operands_; ++i) offset_[i] -= back * strides[i];
  }
  done_ = true;
}

}  // namespace cortex_m::portable
