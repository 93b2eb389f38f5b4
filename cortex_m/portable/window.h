// Sliding windows over the last one or two dimensions: what convolution and pooling share.
#ifndef CORTEX_M_PORTABLE_WINDOW_H_
#define CORTEX_M_PORTABLE_WINDOW_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/loops.h"

namespace cortex_m::portable {

// An image batch [N, C, H, W] seen through strides; a missing batch or height counts as one.
struct Images {
  int32_t n, c, h, w;
  int32_t n_stride, c_stride, h_stride, w_stride;
  ptrdiff_t At(int32_t batch, int32_t channel, int32_t y, int32_t x) const {
    return static_cast<ptrdiff_t>(batch) * n_stride + static_cast<ptrdiff_t>(channel) * c_stride +
           static_cast<ptrdiff_t>(y) * h_stride + static_cast<ptrdiff_t>(x) * w_stride;
  }
};

// `spatial` dimensions (1 or 2), a channel, and perhaps a batch; false for another rank.
inline bool ImagesOf(const Tensor& tensor, int spatial, Images& images) {
  if (tensor.rank != spatial + 1 && tensor.rank != spatial + 2) return false;
  int32_t strides[kMaxRank];
  StridesOf(tensor, strides);
  int dim = tensor.rank;
  --dim;
  images.w = tensor.sizes[dim];
  images.w_stride = strides[dim];
  images.h = 1;
  images.h_stride = 0;
  if (spatial == 2) {
    --dim;
    images.h = tensor.sizes[dim];
    images.h_stride = strides[dim];
  }
  --dim;
  images.c = tensor.sizes[dim];
  images.c_stride = strides[dim];
  images.n = dim == 0 ? 1 : tensor.sizes[0];
  images.n_stride = dim == 0 ? 0 : strides[0];
  return true;
}

// One parameter of each spatial dimension; height first.
struct Pair {
  int32_t h, w;
};

// From a list with an entry for each spatial dimension, or one for all; `otherwise` for an empty list. False if an
// entry is below `least` or absurdly large.
inline bool PairOf(IntList list, int spatial, int64_t least, Pair otherwise, int32_t missing, Pair& pair) {
  if (list.size == 0) {
    pair = otherwise;
    return true;
  }
  if (list.size != 1 && list.size != static_cast<size_t>(spatial)) return false;
  for (int64_t value : list) {
    if (value < least || value > 1 << 20) return false;
  }
  const int32_t first = static_cast<int32_t>(list[0]);
  const int32_t last = static_cast<int32_t>(list[list.size - 1]);
  pair = spatial == 2 ? Pair{first, last} : Pair{missing, last};
  return true;
}

// Windows along one dimension, as PyTorch counts them: with ceil_mode the last may go beyond the padding, but must
// begin before it.
inline int64_t WindowCount(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                           bool ceil_mode) {
  const int64_t span = size + 2 * padding - dilation * (kernel - 1) - 1;
  if (span < 0 && !(ceil_mode && span + stride - 1 >= 0)) return 0;
  int64_t count = (span + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  if (ceil_mode && (count - 1) * stride >= size + padding) --count;
  return count;
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_WINDOW_H_
