// tril and triu: the last two dimensions below or above a diagonal, zeros elsewhere.

#include <cstring>

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {
namespace {

using namespace portable;

Status Triangle(const Tensor& self, int64_t diagonal, bool lower, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (self.rank < 2) return Refuse("a triangle needs two dimensions");
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  int32_t self_strides[kMaxRank];
  int32_t out_strides[kMaxRank];
  StridesOf(self, self_strides);
  StridesOf(out, out_strides);
  const int row_dim = self.rank - 2, column_dim = self.rank - 1;
  const int64_t columns = self.sizes[column_dim];
  static constexpr uint64_t kZero = 0;
  const size_t element_size = ElementSize(self.dtype);
  // Row by row, for all matrices at once: a run of columns is kept, or set to zero.
  const auto move = [&](int64_t row, int64_t begin, int64_t end, bool keep) {
    Loops loops(2);
    for (int i = 0; i < row_dim; ++i) loops.Add(self.sizes[i], {out_strides[i], keep ? self_strides[i] : 0});
    loops.Add(static_cast<int32_t>(end - begin), {out_strides[column_dim], keep ? self_strides[column_dim] : 0});
    if (loops.empty()) return;
    const ptrdiff_t to =
        static_cast<ptrdiff_t>(row) * out_strides[row_dim] + static_cast<ptrdiff_t>(begin) * out_strides[column_dim];
    const ptrdiff_t from =
        static_cast<ptrdiff_t>(row) * self_strides[row_dim] + static_cast<ptrdiff_t>(begin) * self_strides[column_dim];
    CopyStrided(loops, At(out.data, to, element_size), keep ? At(self.data, from, element_size) : &kZero, element_size);
  };
  if (diagonal > columns) diagonal = columns;
  if (diagonal < -int64_t{self.sizes[row_dim]}) diagonal = -int64_t{self.sizes[row_dim]};
  for (int64_t row = 0; row < self.sizes[row_dim]; ++row) {
    int64_t split = row + diagonal + (lower ? 1 : 0);
    split = split < 0 ? 0 : (split > columns ? columns : split);
    move(row, 0, split, lower);
    move(row, split, columns, !lower);
  }
  return Status();
}

}  // namespace

Status aten::tril_out(KernelContext&, const Tensor& self, int64_t diagonal, Tensor& out) {
  return Triangle(self, diagonal, true, out);
}
Status aten::triu_out(KernelContext&, const Tensor& self, int64_t diagonal, Tensor& out) {
  return Triangle(self, diagonal, false, out);
}

}  // namespace cortex_m
