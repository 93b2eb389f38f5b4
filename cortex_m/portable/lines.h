// Tensors seen as lines along one dimension: what softmax, cumsum, sort and topk go through.
#ifndef CORTEX_M_PORTABLE_LINES_H_
#define CORTEX_M_PORTABLE_LINES_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/loops.h"

namespace cortex_m::portable {

// Calls visit(offsets) for each line along `dim`: offsets[k] is where the line begins in tensors[k]. The tensors agree
// in rank and in all sizes but that of dim.
template <int kTensors, typename Visit>
void ForEachLine(const Tensor* const (&tensors)[kTensors], int64_t dim, Visit visit) {
  int32_t strides[kTensors][kMaxRank];
  for (int k = 0; k < kTensors; ++k) StridesOf(*tensors[k], strides[k]);
  Loops loops(kTensors);
  for (int i = 0; i < tensors[0]->rank; ++i) {
    if (i == dim) continue;
    int32_t along[kTensors];
    for (int k = 0; k < kTensors; ++k) along[k] = strides[k][i];
    loops.Add(tensors[0]->sizes[i], along);
  }
  for (Walk walk(loops); !walk.done(); walk.Next()) {
    for (int32_t i = 0; i < loops.inner_size(); ++i) {
      ptrdiff_t offsets[kTensors];
      for (int k = 0; k < kTensors; ++k) {
        offsets[k] = walk.offset(k) + static_cast<ptrdiff_t>(i) * loops.inner_stride(k);
      }
      visit(offsets);
    }
  }
}

// A tensor's size and stride along a dimension; a tensor without dimensions is a line of one element.
inline int32_t LineSize(const Tensor& tensor, int64_t dim) { return tensor.rank == 0 ? 1 : tensor.sizes[dim]; }
inline int32_t LineStride(const Tensor& tensor, int64_t dim) {
  if (tensor.rank == 0) return 1;
  int32_t strides[kMaxRank];
  StridesOf(tensor, strides);
  return strides[dim];
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_LINES_H_
