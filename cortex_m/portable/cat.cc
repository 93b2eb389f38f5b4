// Several tensors into one: cat along a dimension that they have, stack along a new one.
//
// Inputs of different element types are converted to out's, which holds them all.

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/slice.h"
#include "cortex_m/portable/strided_convert.h"

namespace cortex_m {
namespace {

using namespace portable;

// out[slice] = part, converted. Sizes are known to agree.
Status Place(const Tensor& part, const Tensor& out, const Slice& slice, bool dropped) {
  if (part.dtype != out.dtype) {
    CORTEX_M_RETURN_IF_ERROR(CheckAll({&part, &out}));
    if (!CanCast(part.dtype, out.dtype)) return Refuse("the out tensor's type cannot hold the type of an input");
  }
  const SliceView view = ViewOf(out, slice, dropped);
  int32_t strides[kMaxRank];
  StridesOf(part, strides);
  Loops loops(2);
  for (int i = 0; i < part.rank; ++i) {
    const int dim = part.dim_order[i];
    loops.Add(part.sizes[dim], {view.strides[dim], strides[dim]});
  }
  ConvertStrided(loops, At(out.data, view.offset, ElementSize(out.dtype)), out.dtype, part.data, part.dtype);
  return Status();
}

// For the sake of old programs, cat passes over tensors of sizes [0] among tensors of any rank.
bool IsPassedOver(const Tensor& tensor) { return tensor.rank == 1 && tensor.sizes[0] == 0; }

}  // namespace

Status aten::cat_out(KernelContext&, Span<const Tensor> tensors, int64_t dim, Tensor& out) {
  if (tensors.size == 0) return Refuse("there is nothing to concatenate");
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(out));
  if (out.rank == 0) return Refuse("tensors without dimensions cannot be concatenated");
  if (!NormalizeDim(dim, out.rank)) return Refuse(kDimOutOfRange);
  int64_t length = 0;
  for (const Tensor& part : tensors) {
    CORTEX_M_RETURN_IF_ERROR(CheckMovable(part));
    if (IsPassedOver(part)) continue;
    if (part.rank != out.rank) return Refuse("the tensors differ in rank");
    const Slice slice{static_cast<int>(dim), length, 1, part.sizes[dim]};
    if (!HasSliceSizes(part, out, slice, false)) {
      return Refuse("the tensors and the out tensor differ in another size than that of dim");
    }
    length += part.sizes[dim];
  }
  if (length != out.sizes[dim]) return Refuse(kWrongOutSizes);
  int64_t begin = 0;
  for (const Tensor& part : tensors) {
    if (IsPassedOver(part)) continue;
    CORTEX_M_RETURN_IF_ERROR(Place(part, out, {static_cast<int>(dim), begin, 1, part.sizes[dim]}, false));
    begin += part.sizes[dim];
  }
  return Status();
}

Status aten::stack_out(KernelContext&, Span<const Tensor> tensors, int64_t dim, Tensor& out) {
  if (tensors.size == 0) return Refuse("there is nothing to stack");
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(out));
  if (out.rank == 0 || !NormalizeDim(dim, out.rank)) return Refuse(kDimOutOfRange);
  if (static_cast<int64_t>(tensors.size) != out.sizes[dim]) return Refuse(kWrongOutSizes);
  for (size_t i = 0; i < tensors.size; ++i) {
    CORTEX_M_RETURN_IF_ERROR(CheckMovable(tensors[i]));
    const Slice slice{static_cast<int>(dim), static_cast<int64_t>(i), 1, 1};
    if (!HasSliceSizes(tensors[i], out, slice, true)) return Refuse(kWrongOutSizes);
    CORTEX_M_RETURN_IF_ERROR(Place(tensors[i], out, slice, true));
  }
  return Status();
}

}  // namespace cortex_m
