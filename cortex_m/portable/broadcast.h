// Broadcasting: dimensions are matched from the last; a size of 1, or a missing dimension, is repeated.
#ifndef CORTEX_M_PORTABLE_BROADCAST_H_
#define CORTEX_M_PORTABLE_BROADCAST_H_

#include "cortex_m/portable/loops.h"

namespace cortex_m::portable {

// The strides of `tensor` along the `rank` dimensions of `sizes`, 0 where it is repeated; false if it cannot be.
template <typename Integer>
bool BroadcastStrides(const Tensor& tensor, const Integer* sizes, int rank, int32_t* strides) {
  if (tensor.rank > rank) return false;
  int32_t own[kMaxRank];
  StridesOf(tensor, own);
  const int missing = rank - tensor.rank;
  for (int i = 0; i < rank; ++i) {
    strides[i] = 0;
    if (i < missing) continue;
    const int32_t size = tensor.sizes[i - missing];
    if (size == sizes[i]) {
      strides[i] = own[i - missing];
    } else if (size != 1) {
      return false;
    }
  }
  return true;
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_BROADCAST_H_
