// The same elements in logical order under other sizes: view, reshape, squeeze, unsqueeze.

#include <cstring>

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {
namespace {

using namespace portable;

// Steps through the elements of a tensor in logical order.
class Cursor {
 public:
  explicit Cursor(const Tensor& tensor) : tensor_(tensor) { StridesOf(tensor, strides_); }
  ptrdiff_t offset() const { return offset_; }
  void Next() {
    for (int dim = tensor_.rank - 1; dim >= 0; --dim) {
      offset_ += strides_[dim];
      if (++index_[dim] < tensor_.sizes[dim]) return;
      offset_ -= static_cast<ptrdiff_t>(index_[dim]) * strides_[dim];
      index_[dim] = 0;
    }
  }

 private:
  const Tensor& tensor_;
  ptrdiff_t offset_ = 0;
  int32_t strides_[kMaxRank];
  int32_t index_[kMaxRank] = {};
};

Status CopyInLogicalOrder(const Tensor& self, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  const size_t count = ElementCount(self);
  if (count != ElementCount(out)) return Refuse("the out tensor has another number of elements than the input");
  if (count == 0) return Status();
  if (SameSizes(self, out)) {
    CopySameSizes(out, self);
    return Status();
  }
  if (IsContiguous(self) && IsContiguous(out)) {
    std::memcpy(out.data, self.data, ByteSize(self));
    return Status();
  }
  const size_t element_size = ElementSize(self.dtype);
  Cursor from(self);
  Cursor to(out);
  for (size_t i = 0; i < count; ++i, from.Next(), to.Next()) {
    CopyElement(At(out.data, to.offset(), element_size), At(self.data, from.offset(), element_size), element_size);
  }
  return Status();
}

// `size` may leave one entry to be inferred, as -1.
Status View(const Tensor& self, IntList size, Tensor& out) {
  if (size.size != out.rank) return Refuse(kWrongOutSizes);
  int inferred = 0;
  for (size_t i = 0; i < size.size; ++i) {
    if (size[i] == -1) {
      ++inferred;
    } else if (size[i] != out.sizes[i]) {
      return Refuse(kWrongOutSizes);
    }
  }
  if (inferred > 1) return Refuse("only one of the sizes of a view can be -1");
  return CopyInLogicalOrder(self, out);
}

// out has self's sizes without those of the dimensions in `removed`.
Status Squeeze(const Tensor& self, uint32_t removed, Tensor& out) {
  int kept = 0;
  for (int dim = 0; dim < self.rank; ++dim) {
    if ((removed >> dim & 1) != 0 && self.sizes[dim] == 1) continue;
    if (kept >= out.rank || out.sizes[kept] != self.sizes[dim]) return Refuse(kWrongOutSizes);
    ++kept;
  }
  if (kept != out.rank) return Refuse(kWrongOutSizes);
  return CopyInLogicalOrder(self, out);
}

}  // namespace

Status aten::view_copy_out(KernelContext&, const Tensor& self, IntList size, Tensor& out) {
  return View(self, size, out);
}
Status aten::_unsafe_view_out(KernelContext&, const Tensor& self, IntList size, Tensor& out) {
  return View(self, size, out);
}

Status aten::unsqueeze_copy_out(KernelContext&, const Tensor& self, int64_t dim, Tensor& out) {
  if (!NormalizeDim(dim, self.rank + 1)) return Refuse(kDimOutOfRange);
  if (out.rank != self.rank + 1) return Refuse(kWrongOutSizes);
  for (int i = 0; i < out.rank; ++i) {
    const int32_t size = i == dim ? 1 : self.sizes[i < dim ? i : i - 1];
    if (out.sizes[i] != size) return Refuse(kWrongOutSizes);
  }
  return CopyInLogicalOrder(self, out);
}

Status aten::squeeze_copy_out(KernelContext&, const Tensor& self, Tensor& out) { return Squeeze(self, ~0u, out); }
Status aten::squeeze_copy_dim_out(KernelContext&, const Tensor& self, int64_t dim, Tensor& out) {
  if (!NormalizeDim(dim, self.rank)) return Refuse(kDimOutOfRange);
  return Squeeze(self, 1u << dim, out);
}
Status aten::squeeze_copy_dims_out(KernelContext&, const Tensor& self, IntList dim, Tensor& out) {
  uint32_t removed;
  CORTEX_M_RETURN_IF_ERROR(DimSet(dim, self.rank, removed));
  return Squeeze(self, removed, out);
}

}  // namespace cortex_m
