// Single elements picked along a dimension by an index tensor: gather reads them, scatter and scatter_add write them.

#include <cstring>

#include "cortex_m/portable/convert.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/index_read.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {
namespace {

using namespace portable;

// One visit of (offset in the indexed tensor, offset in the tensor that runs along with the index) for each index, in
// logical order of the index, so that the last of several writes to an element is PyTorch's last. Ends at an index that is out of
// range.
template <typename Visit>
Status ForEachIndex(const Tensor& indexed, const Tensor& along, const Tensor& index, int64_t dim, Visit visit) {
  int32_t indexed_strides[kMaxRank];
  int32_t along_strides[kMaxRank];
  int32_t index_strides[kMaxRank];
  StridesOf(indexed, indexed_strides);
  StridesOf(along, along_strides);
  StridesOf(index, index_strides);
  Loops loops(3);
  for (int i = 0; i < index.rank; ++i) {
    loops.Add(index.sizes[i], {i == dim || i >= indexed.rank ? 0 : indexed_strides[i],
                               i < along.rank ? along_strides[i] : 0, index_strides[i]});
  }
  const ptrdiff_t step = indexed.rank == 0 ? 0 : indexed_strides[dim];
  const int32_t size = indexed.rank == 0 ? 1 : indexed.sizes[dim];
  for (Walk walk(loops); !walk.done(); walk.Next()) {
    for (int32_t i = 0; i < loops.inner_size(); ++i) {
      const auto at = [&](int operand) {
        return walk.offset(operand) + static_cast<ptrdiff_t>(i) * loops.inner_stride(operand);
      };
      ptrdiff_t picked;
      if (!ReadIndex(index, at(2), size, picked)) return Refuse(kIndexOutOfRange);
      visit(at(0) + picked * step, at(1));
    }
  }
  return Status();
}

// The index has indexed's rank, and is nowhere larger than `indexed` but along dim.
Status CheckIndexed(const Tensor& indexed, const Tensor& index, int64_t& dim) {
  CORTEX_M_RETURN_IF_ERROR(CheckIndex(index));
  if (!NormalizeDim(dim, indexed.rank)) return Refuse(kDimOutOfRange);
  if (ElementCount(index) == 0) return Status();
  if (index.rank != indexed.rank && !(indexed.rank <= 1 && index.rank <= 1)) {
    return Refuse("index and tensor differ in rank");
  }
  for (int i = 0; i < index.rank && i < indexed.rank; ++i) {
    if (i != dim && index.sizes[i] > indexed.sizes[i]) return Refuse("the index is larger than the tensor");
  }
  return Status();
}

// Everything that is checked before a scatter writes; then out = self.
Status StartScatter(const Tensor& self, int64_t& dim, const Tensor& index, const Tensor* src, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  CORTEX_M_RETURN_IF_ERROR(CheckIndexed(self, index, dim));
  CORTEX_M_RETURN_IF_ERROR(CheckIndexRange(index, self.rank == 0 ? 1 : self.sizes[dim], false));
  if (src != nullptr && ElementCount(index) != 0) {
    CORTEX_M_RETURN_IF_ERROR(CheckMovable(*src));
    if (src->dtype != self.dtype) return Refuse("src has another element type than self");
    if (src->rank != index.rank) return Refuse("index and src differ in rank");
    for (int i = 0; i < index.rank; ++i) {
      if (index.sizes[i] > src->sizes[i]) return Refuse("the index is larger than src");
    }
  }
  CopySameSizes(out, self);
  return Status();
}

template <typename Lane>
Status ScatterAdd(const Tensor& out, const Tensor& src, const Tensor& index, int64_t dim) {
  return ForEachIndex(out, src, index, dim, [&](ptrdiff_t to, ptrdiff_t from) {
    Lane sum;
    Lane addend;
    Load(out.dtype, out.data, to, 1, 1, &sum);
    Load(src.dtype, src.data, from, 1, 1, &addend);
    // Unsigned, where an overflow wraps around.
    if constexpr (kLaneType<Lane> == ScalarType::kLong) {
      sum = static_cast<Lane>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(addend));
    } else {
      sum += addend;
    }
    Store(&sum, 1, out.dtype, out.data, to, 1);
  });
}

}  // namespace

Status aten::gather_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, bool, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  CORTEX_M_RETURN_IF_ERROR(CheckIndexed(self, index, dim));
  if (!SameSizes(index, out)) return Refuse(kWrongOutSizes);
  const size_t element_size = ElementSize(self.dtype);
  return ForEachIndex(self, out, index, dim, [&](ptrdiff_t from, ptrdiff_t to) {
    CopyElement(At(out.data, to, element_size), At(self.data, from, element_size), element_size);
  });
}

Status aten::scatter_src_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                             Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(StartScatter(self, dim, index, &src, out));
  const size_t element_size = ElementSize(self.dtype);
  return ForEachIndex(out, src, index, dim, [&](ptrdiff_t to, ptrdiff_t from) {
    CopyElement(At(out.data, to, element_size), At(src.data, from, element_size), element_size);
  });
}

Status aten::scatter_value_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, Scalar value,
                               Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(Check(self));
  uint64_t element;
  if (!ScalarToElement(value, self.dtype, element)) return Refuse("value is out of range of the element type");
  CORTEX_M_RETURN_IF_ERROR(StartScatter(self, dim, index, nullptr, out));
  const size_t element_size = ElementSize(self.dtype);
  return ForEachIndex(out, index, index, dim, [&](ptrdiff_t to, ptrdiff_t) {
    CopyElement(At(out.data, to, element_size), &element, element_size);
  });
}

Status aten::scatter_add_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                             Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(Check(self));
  CORTEX_M_RETURN_IF_ERROR(StartScatter(self, dim, index, &src, out));
  return IsFloat(out.dtype) ? ScatterAdd<float>(out, src, index, dim) : ScatterAdd<int64_t>(out, src, index, dim);
}

}  // namespace cortex_m
