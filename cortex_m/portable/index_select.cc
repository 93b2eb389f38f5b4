// Whole slices picked by an index tensor: index_select, embedding.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/index_read.h"
#include "cortex_m/portable/slice.h"

namespace cortex_m {

using namespace portable;

Status aten::index_select_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  CORTEX_M_RETURN_IF_ERROR(CheckIndex(index));
  if (index.rank > 1) return Refuse("the index must have at most one dimension");
  if (!NormalizeDim(dim, self.rank)) return Refuse(kDimOutOfRange);
  const int64_t count = static_cast<int64_t>(ElementCount(index));
  const int64_t size = self.rank == 0 ? 1 : self.sizes[dim];
  ptrdiff_t picked;
  if (self.rank == 0) {
    if (out.rank != 0 || count != 1) return Refuse("a tensor without dimensions takes one index");
    if (!ReadIndex(index, 0, size, picked)) return Refuse(kIndexOutOfRange);
    CopySameSizes(out, self);
    return Status();
  }
  const Slice whole{static_cast<int>(dim), 0, 1, count};
  if (!HasSliceSizes(out, self, whole, false)) return Refuse(kWrongOutSizes);
  int32_t self_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  StridesOf(self, self_strides);
  StridesOf(out, out_strides);
  Loops loops(2);
  for (int i = 0; i < out.rank; ++i) {
    const int d = out.dim_order[i];
    if (d != dim) loops.Add(out.sizes[d], {out_strides[d], self_strides[d]});
  }
  if (loops.empty()) return Status();
  const size_t element_size = ElementSize(self.dtype);
  for (int64_t i = 0; i < count; ++i) {
    if (!ReadIndex(index, static_cast<ptrdiff_t>(i), size, picked)) return Refuse(kIndexOutOfRange);
    const ptrdiff_t from = picked * self_strides[dim];
    const ptrdiff_t to = static_cast<ptrdiff_t>(i) * out_strides[dim];
    CopyStrided(loops, At(out.data, to, element_size), At(self.data, from, element_size), element_size);
  }
  return Status();
}

// out[i..., :] = weight[indices[i...], :]. padding_idx and the gradient's options have no effect on the result.
Status aten::embedding_out(KernelContext&, const Tensor& weight, const Tensor& indices, int64_t, bool, bool,
                           Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(weight, out));
  CORTEX_M_RETURN_IF_ERROR(CheckIndex(indices));
  if (weight.rank != 2) return Refuse("the weight of an embedding must have two dimensions");
  if (out.rank != indices.rank + 1 || !HasSizes(indices, out.sizes, indices.rank) ||
      out.sizes[indices.rank] != weight.sizes[1]) {
    return Refuse(kWrongOutSizes);
  }
  int32_t weight_strides[kMaxRank];
  int32_t index_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  StridesOf(weight, weight_strides);
  StridesOf(indices, index_strides);
  StridesOf(out, out_strides);
  Loops rows(2);
  for (int i = 0; i < indices.rank; ++i) rows.Add(indices.sizes[i], {out_strides[i], index_strides[i]});
  Loops row(2);
  row.Add(weight.sizes[1], {out_strides[indices.rank], weight_strides[1]});
  if (rows.empty() || row.empty()) return Status();
  const size_t element_size = ElementSize(weight.dtype);
  for (Walk walk(rows); !walk.done(); walk.Next()) {
    for (int32_t i = 0; i < rows.inner_size(); ++i) {
      const ptrdiff_t to = walk.offset(0) + static_cast<ptrdiff_t>(i) * rows.inner_stride(0);
      const ptrdiff_t at = walk.offset(1) + static_cast<ptrdiff_t>(i) * rows.inner_stride(1);
      ptrdiff_t picked;
      if (!ReadIndex(indices, at, weight.sizes[0], picked)) return Refuse(kIndexOutOfRange);
      const ptrdiff_t from = picked * weight_strides[0];
      CopyStrided(row, At(out.data, to, element_size), At(weight.data, from, element_size), element_size);
    }
  }
  return Status();
}

}  // namespace cortex_m
