#include "cortex_m/portable/reduce.h"

namespace cortex_m::portable {

Status Reduction::Init(const Tensor& self, uint32_t reduced, bool keepdim, const Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(Check(self));
  CORTEX_M_RETURN_IF_ERROR(Check(out));
  self_ = &self;
  int32_t self_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  StridesOf(self, self_strides);
  StridesOf(out, out_strides);
  count_ = 1;
  int at = 0;
  for (int dim = 0; dim < self.rank; ++dim) {
    const bool is_reduced = (reduced >> dim & 1) != 0;
    if (is_reduced) {
      count_ *= static_cast<size_t>(self.sizes[dim]);
      reduced_.Add(self.sizes[dim], {self_strides[dim]});
      if (!keepdim) continue;
    }
    const int32_t size = is_reduced ? 1 : self.sizes[dim];
    if (at >= out.rank || out.sizes[at] != size) return Refuse(kWrongOutSizes);
    if (!is_reduced) kept_.Add(size, {out_strides[at], self_strides[dim]});
    ++at;
  }
  if (at != out.rank) return Refuse(kWrongOutSizes);
  return Status();
}

}  // namespace cortex_m::portable
