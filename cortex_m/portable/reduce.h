// Reductions: which elements of the input make each element of the result, and in which order they are taken.
//
//   Reduction reduction;
//   CORTEX_M_RETURN_IF_ERROR(reduction.Init(self, dims, keepdim, out));
//   reduction.Run(out, KahanSum{});
//
// The elements are taken in logical order, one after the other: the result does not depend on layouts or on the core.
// Sums of float32 are compensated (KahanSum): the error is at most 2 units in the last place of the sum of magnitudes,
// however many the elements are, where PyTorch's cascade is some units more.
#ifndef CORTEX_M_PORTABLE_REDUCE_H_
#define CORTEX_M_PORTABLE_REDUCE_H_

#include <cstddef>
#include <cstdint>

#include "cortex_m/portable/check.h"
#include "cortex_m/portable/convert.h"
#include "cortex_m/portable/loops.h"
#include "cortex_m/portable/math.h"

namespace cortex_m::portable {

class Reduction {
 public:
  // `reduced`: the dimensions as bits. out has self's sizes without them, or with 1 in their place.
  Status Init(const Tensor& self, uint32_t reduced, bool keepdim, const Tensor& out);

  size_t count() const { return count_; }  // elements that make one

  // Calls visit(offset in out, offset of the first element in self) for each element of the result.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (Walk walk(kept_); !walk.done(); walk.Next()) {
      for (int32_t i = 0; i < kept_.inner_size(); ++i) {
        visit(walk.offset(0) + static_cast<ptrdiff_t>(i) * kept_.inner_stride(0),
              walk.offset(1) + static_cast<ptrdiff_t>(i) * kept_.inner_stride(1));
      }
    }
  }

  // Hands reducer.Add() the elements from `first` on, in logical order, converted to `as` and to the reducer's lane.
  template <typename Reducer>
  void Feed(ptrdiff_t first, ScalarType as, Reducer& reducer) const {
    typename Reducer::Lane buffer[kBuffer];
    for (Walk walk(reduced_); !walk.done(); walk.Next()) {
      for (int32_t begin = 0; begin < reduced_.inner_size(); begin += kBuffer) {
        const int32_t left = reduced_.inner_size() - begin;
        const size_t count = static_cast<size_t>(left < kBuffer ? left : kBuffer);
        const int32_t stride = reduced_.inner_stride(0);
        const ptrdiff_t offset = first + walk.offset(0) + static_cast<ptrdiff_t>(begin) * stride;
        Load(self_->dtype, self_->data, offset, stride, count, buffer);
        if (as != self_->dtype) Wrap(as, buffer, count);
        for (size_t i = 0; i < count; ++i) reducer.Add(buffer[i]);
      }
    }
  }

  // out = what a copy of `start` says after it has been fed; the elements are converted to out's type first.
  template <typename Reducer>
  void Run(const Tensor& out, const Reducer& start) const {
    ForEach([&](ptrdiff_t to, ptrdiff_t first) {
      Reducer reducer = start;
      Feed(first, out.dtype, reducer);
      const typename Reducer::Lane result = reducer.Result();
      Store(&result, 1, out.dtype, out.data, to, 1);
    });
  }

 private:
  static constexpr int32_t kBuffer = 32;
  const Tensor* self_ = nullptr;
  Loops kept_{2};     // operand 0: out, 1: self
  Loops reduced_{1};  // operand 0: self
  size_t count_ = 0;
};

// Kahan's summation: `lost_` is what rounding has taken from the sum. After an overflow there is nothing left to
// compensate, and the plain sum has the infinity or NaN that PyTorch has.
class KahanSum {
 public:
  using Lane = float;
  void Add(float x) {
    plain_ += x;
    const float y = x - lost_;
    const float sum = sum_ + y;
    lost_ = (sum - sum_) - y;
    sum_ = sum;
  }
  float Result() const { return plain_ - plain_ == 0 ? sum_ : plain_; }

 private:
  float sum_ = 0;
  float lost_ = 0;
  float plain_ = 0;
};

class IntSum {
 public:
  using Lane = int64_t;
  void Add(int64_t x) { sum_ += static_cast<uint64_t>(x); }
  int64_t Result() const { return static_cast<int64_t>(sum_); }

 private:
  uint64_t sum_ = 0;
};

// The dimensions of a `dim` argument as bits: all of them for None, and for an empty list if `empty_is_all`.
inline Status ReducedDims(const IntList* dim, int rank, bool empty_is_all, uint32_t& reduced) {
  if (rank > kMaxRank) return Refuse("a tensor has more than 16 dimensions");
  if (dim == nullptr || (dim->size == 0 && empty_is_all)) {
    reduced = (1u << rank) - 1;
    return Status();
  }
  return DimSet(*dim, rank, reduced);
}

}  // namespace cortex_m::portable

#endif  // CORTEX_M_PORTABLE_REDUCE_H_
