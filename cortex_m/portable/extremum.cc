// The largest and the smallest element, and where they are: amax, amin, max, min, argmax, argmin.
//
// A NaN is both. Of equal elements the first in logical order counts.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/reduce.h"

namespace cortex_m {
namespace {

using namespace portable;

template <typename T, bool kLargest>
class Extremum {
 public:
  using Lane = T;
  void Add(T x) {
    // The first element always; then a better one, or the first NaN.
    if (seen_ == 0 || (best_ == best_ && (x != x || (kLargest ? x > best_ : x < best_)))) {
      best_ = x;
      index_ = seen_;
    }
    ++seen_;
  }
  T Result() const { return best_; }
  int64_t index() const { return index_; }

 private:
  T best_ = 0;
  int64_t seen_ = 0;
  int64_t index_ = 0;
};

// Either out tensor may be null.
template <typename T, bool kLargest>
void RunLane(const Reduction& reduction, ScalarType dtype, const Tensor* values, const Tensor* indices) {
  reduction.ForEach([&](ptrdiff_t to, ptrdiff_t first) {
    Extremum<T, kLargest> extremum;
    reduction.Feed(first, dtype, extremum);
    const T best = extremum.Result();
    const int64_t index = extremum.index();
    if (values != nullptr) Store(&best, 1, values->dtype, values->data, to, 1);
    if (indices != nullptr) Store(&index, 1, indices->dtype, indices->data, to, 1);
  });
}

template <bool kLargest>
Status Find(const Tensor& self, uint32_t reduced, bool keepdim, const Tensor* values, const Tensor* indices) {
  if (values != nullptr && values->dtype != self.dtype) {
    return Refuse("the out tensor has another element type than the input");
  }
  if (indices != nullptr && indices->dtype != ScalarType::kLong) return Refuse("indices are int64");
  Reduction reduction;
  CORTEX_M_RETURN_IF_ERROR(reduction.Init(self, reduced, keepdim, values != nullptr ? *values : *indices));
  if (reduction.count() == 0 && ElementCount(values != nullptr ? *values : *indices) != 0) {
    return Refuse("there is no extremum of no elements");
  }
  if (IsFloat(self.dtype)) {
    RunLane<float, kLargest>(reduction, self.dtype, values, indices);
  } else {
    RunLane<int64_t, kLargest>(reduction, self.dtype, values, indices);
  }
  return Status();
}

template <bool kLargest>
Status FindAlong(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  if (!NormalizeDim(dim, self.rank)) return Refuse(kDimOutOfRange);
  CORTEX_M_RETURN_IF_ERROR(Find<kLargest>(self, 1u << dim, keepdim, &values, nullptr));
  return Find<kLargest>(self, 1u << dim, keepdim, nullptr, &indices);
}

template <bool kLargest>
Status FindDims(const Tensor& self, const IntList* dim, bool keepdim, Tensor& out) {
  uint32_t reduced;
  CORTEX_M_RETURN_IF_ERROR(ReducedDims(dim, self.rank, true, reduced));
  return Find<kLargest>(self, reduced, keepdim, &out, nullptr);
}

// Without a dim the index counts the elements in logical order.
template <bool kLargest>
Status FindIndex(const Tensor& self, const int64_t* dim, bool keepdim, Tensor& out) {
  uint32_t reduced;
  CORTEX_M_RETURN_IF_ERROR(ReducedDims(nullptr, self.rank, true, reduced));
  if (dim != nullptr) {
    int64_t normalized = *dim;
    if (!NormalizeDim(normalized, self.rank)) return Refuse(kDimOutOfRange);
    reduced &= 1u << normalized;
  }
  return Find<kLargest>(self, reduced, keepdim, nullptr, &out);
}

}  // namespace

Status aten::amax_out(KernelContext&, const Tensor& self, IntList dim, bool keepdim, Tensor& out) {
  return FindDims<true>(self, &dim, keepdim, out);
}
Status aten::amin_out(KernelContext&, const Tensor& self, IntList dim, bool keepdim, Tensor& out) {
  return FindDims<false>(self, &dim, keepdim, out);
}
Status aten::max_unary_out(KernelContext&, const Tensor& self, Tensor& out) {
  return FindDims<true>(self, nullptr, false, out);
}
Status aten::min_unary_out(KernelContext&, const Tensor& self, Tensor& out) {
  return FindDims<false>(self, nullptr, false, out);
}
Status aten::max_dim_max(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& max,
                         Tensor& max_values) {
  return FindAlong<true>(self, dim, keepdim, max, max_values);
}
Status aten::min_dim_min(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& min,
                         Tensor& min_indices) {
  return FindAlong<false>(self, dim, keepdim, min, min_indices);
}
Status aten::argmax_out(KernelContext&, const Tensor& self, const int64_t* dim, bool keepdim, Tensor& out) {
  return FindIndex<true>(self, dim, keepdim, out);
}
Status aten::argmin_out(KernelContext&, const Tensor& self, const int64_t* dim, bool keepdim, Tensor& out) {
  return FindIndex<false>(self, dim, keepdim, out);
}

}  // namespace cortex_m
