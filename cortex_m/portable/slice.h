// A part of a tensor along one dimension: begin, step and length of a slice, and copies out of it and into it.
#ifndef CORTEX_M_PORTABLE_SLICE_H_
#define CORTEX_M_PORTABLE_SLICE_H_

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m::portable {

struct Slice {
  int dim = 0;
  int64_t begin = 0;
  int64_t step = 1;
  int64_t length = 0;
};

// Python's rule: negative bounds count from the end, bounds outside are moved to the nearest; None is the whole.
inline Status MakeSlice(const Tensor& tensor, int64_t dim, const int64_t* start, const int64_t* end, int64_t step,
                        Slice& slice) {
  if (tensor.rank == 0) return Refuse("a tensor without dimensions cannot be sliced");
  if (!NormalizeDim(dim, tensor.rank)) return Refuse(kDimOutOfRange);
  if (step <= 0) return Refuse("the step of a slice must be positive");
  const int64_t size = tensor.sizes[dim];
  const auto bound = [size](const int64_t* value, int64_t otherwise) {
    if (value == nullptr) return otherwise;
    const int64_t position = *value < 0 ? *value + size : *value;
    return position < 0 ? int64_t{0} : (position > size ? size : position);
  };
  const int64_t begin = bound(start, 0);
  const int64_t stop = bound(end, size);
  // Written without `length + step - 1`, which overflows for the largest steps.
  slice = {static_cast<int>(dim), begin, step, stop > begin ? (stop - begin - 1) / step + 1 : 0};
  return Status();
}

// `part` has the sizes of `whole`, but for slice.length along slice.dim (or, if `dropped`, without that dimension).
inline bool HasSliceSizes(const Tensor& part, const Tensor& whole, const Slice& slice, bool dropped) {
  if (part.rank != whole.rank - (dropped ? 1 : 0)) return false;
  int at = 0;
  for (int dim = 0; dim < whole.rank; ++dim) {
    if (dim == slice.dim && dropped) continue;
    const int64_t size = dim == slice.dim ? slice.length : whole.sizes[dim];
    if (part.sizes[at++] != size) return false;
  }
  return true;
}

// The elements of `whole` that the slice selects, as an operand of loops over the dimensions of `part`.
struct SliceView {
  ptrdiff_t offset;
  int32_t strides[kMaxRank];
};
inline SliceView ViewOf(const Tensor& whole, const Slice& slice, bool dropped) {
  int32_t own[kMaxRank];
  StridesOf(whole, own);
  SliceView view{};
  view.offset = static_cast<ptrdiff_t>(slice.begin) * own[slice.dim];
  int at = 0;
  for (int dim = 0; dim < whole.rank; ++dim) {
    if (dim == slice.dim && dropped) continue;
    // A step longer than the dimension is never taken: any value serves.
    const int64_t step = dim == slice.dim && slice.length > 1 ? slice.step : 1;
    view.strides[at++] = own[dim] * static_cast<int32_t>(step);
  }
  return view;
}

// part = whole[slice]; both of one type.
inline Status CopySlice(const Tensor& whole, const Slice& slice, bool dropped, const Tensor& part) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(whole, part));
  if (part.constant) return Refuse("an out tensor is a constant");
  if (!HasSliceSizes(part, whole, slice, dropped)) return Refuse(kWrongOutSizes);
  const SliceView view = ViewOf(whole, slice, dropped);
  CopyInto(part, whole.data, view.offset, view.strides);
  return Status();
}

// whole[slice] = part; both of one type.
inline Status CopyToSlice(const Tensor& part, const Tensor& whole, const Slice& slice, bool dropped) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(part, whole));
  if (!HasSliceSizes(part, whole, slice, dropped)) return Refuse("src does not have the sizes of the slice");
  const SliceView view = ViewOf(whole, slice, dropped);
  int32_t strides[kMaxRank];
  StridesOf(part, strides);
  Loops loops(2);
  for (int i = 0; i < part.rank; ++i) {
    const int dim = part.dim_order[i];
    loops.Add(part.sizes[dim], {view.strides[dim], strides[dim]});
  }
  if (loops.empty()) return Status();
  const size_t element_size = ElementSize(part.dtype);
  CopyStrided(loops, At(whole.data, view.offset, element_size), part.data, element_size);
  return Status();
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_SLICE_H_
