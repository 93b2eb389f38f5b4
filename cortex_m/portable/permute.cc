// Dimensions in another order: permute, transpose, t.

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {
namespace {

using namespace portable;

// Dimension i of out is dimension from[i] of self.
Status Permute(const Tensor& self, const int* from, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (out.rank != self.rank) return Refuse(kWrongOutSizes);
  int32_t self_strides[kMaxRank];
  int32_t strides[kMaxRank];
  StridesOf(self, self_strides);
  for (int i = 0; i < out.rank; ++i) {
    if (out.sizes[i] != self.sizes[from[i]]) return Refuse(kWrongOutSizes);
    strides[i] = self_strides[from[i]];
  }
  CopyInto(out, self.data, 0, strides);
  return Status();
}

Status Transpose(const Tensor& self, int64_t a, int64_t b, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self));
  int from[kMaxRank];
  for (int i = 0; i < self.rank; ++i) from[i] = i;
  if (self.rank > 0) {
    from[a] = static_cast<int>(b);
    from[b] = static_cast<int>(a);
  }
  return Permute(self, from, out);
}

}  // namespace

Status aten::permute_copy_out(KernelContext&, const Tensor& self, IntList dims, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self));
  if (dims.size != self.rank) return Refuse("dims does not have one entry a dimension");
  uint32_t seen;
  CORTEX_M_RETURN_IF_ERROR(DimSet(dims, self.rank, seen));
  int from[kMaxRank];
  for (size_t i = 0; i < dims.size; ++i) from[i] = static_cast<int>(dims[i] < 0 ? dims[i] + self.rank : dims[i]);
  return Permute(self, from, out);
}

Status aten::transpose_copy_int_out(KernelContext&, const Tensor& self, int64_t dim0, int64_t dim1, Tensor& out) {
  if (!NormalizeDim(dim0, self.rank) || !NormalizeDim(dim1, self.rank)) return Refuse(kDimOutOfRange);
  return Transpose(self, dim0, dim1, out);
}

Status aten::t_copy_out(KernelContext&, const Tensor& self, Tensor& out) {
  if (self.rank > 2) return Refuse("t takes at most two dimensions");
  return Transpose(self, 0, self.rank == 2 ? 1 : 0, out);
}

}  // namespace cortex_m
