// One tensor into several along a dimension: split, split_with_sizes, unbind.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/slice.h"

namespace cortex_m {
namespace {

using namespace portable;

Status CheckSplit(const Tensor& self, int64_t& dim) {
  if (self.rank == 0) return Refuse("a tensor without dimensions cannot be split");
  return NormalizeDim(dim, self.rank) ? Status() : Refuse(kDimOutOfRange);
}

constexpr const char* kWrongCount = "the number of out tensors is not the number of parts";

}  // namespace

// All parts have split_size, but the last, which has the rest.
Status aten::split_copy_Tensor_out(KernelContext&, const Tensor& self, int64_t split_size, int64_t dim,
                                   Span<const Tensor> out) {
  CORTEX_M_RETURN_IF_ERROR(CheckSplit(self, dim));
  const int64_t size = self.sizes[dim];
  if (split_size < 0 || (split_size == 0 && size != 0)) return Refuse("split_size must be positive");
  const int64_t parts = size == 0 ? 1 : (size - 1) / split_size + 1;
  if (static_cast<int64_t>(out.size) != parts) return Refuse(kWrongCount);
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t begin = i * split_size;
    const int64_t length = size - begin < split_size ? size - begin : split_size;
    CORTEX_M_RETURN_IF_ERROR(
        CopySlice(self, {static_cast<int>(dim), begin, 1, length}, false, out[static_cast<size_t>(i)]));
  }
  return Status();
}

Status aten::split_with_sizes_copy_out(KernelContext&, const Tensor& self, IntList split_sizes, int64_t dim,
                                       Span<const Tensor> out) {
  CORTEX_M_RETURN_IF_ERROR(CheckSplit(self, dim));
  if (out.size != split_sizes.size) return Refuse(kWrongCount);
  int64_t begin = 0;
  for (int64_t length : split_sizes) {
    if (length < 0 || length > self.sizes[dim] - begin) {
      return Refuse("the split sizes do not add up to the size of the dimension");
    }
    begin += length;
  }
  if (begin != self.sizes[dim]) return Refuse("the split sizes do not add up to the size of the dimension");
  begin = 0;
  for (size_t i = 0; i < out.size; ++i) {
    CORTEX_M_RETURN_IF_ERROR(CopySlice(self, {static_cast<int>(dim), begin, 1, split_sizes[i]}, false, out[i]));
    begin += split_sizes[i];
  }
  return Status();
}

Status aten::unbind_copy_int_out(KernelContext&, const Tensor& self, int64_t dim, Span<const Tensor> out) {
  CORTEX_M_RETURN_IF_ERROR(CheckSplit(self, dim));
  if (static_cast<int64_t>(out.size) != self.sizes[dim]) return Refuse(kWrongCount);
  for (size_t i = 0; i < out.size; ++i) {
    CORTEX_M_RETURN_IF_ERROR(CopySlice(self, {static_cast<int>(dim), static_cast<int64_t>(i), 1, 1}, true, out[i]));
  }
  return Status();
}

}  // namespace cortex_m
