// sort and topk along a dimension, in place in the out tensors: heapsort, so O(n log n) without scratch.
//
// Equal elements keep their order: the index decides between them. A NaN is larger than all numbers. topk gives the
// elements that a stable sort would give first; PyTorch leaves the choice among equals open.

#include "cortex_m/portable/convert.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/lines.h"

namespace cortex_m {
namespace {

using namespace portable;

// One line of values and indices, stored in the out tensors.
template <typename Lane>
class Line {
 public:
  struct Item {
    Lane value;
    int64_t index;
  };

  Line(const Tensor& values, ptrdiff_t value_begin, ptrdiff_t value_stride, const Tensor& indices,
       ptrdiff_t index_begin, ptrdiff_t index_stride, bool descending)
      : values_(values),
        value_begin_(value_begin),
        value_stride_(value_stride),
        indices_(indices.mutable_as<int64_t>() + index_begin),
        index_stride_(index_stride),
        descending_(descending) {}

  Item Get(int32_t i) const {
    Item item;
    Load(values_.dtype, values_.data, value_begin_ + i * value_stride_, 1, 1, &item.value);
    item.index = indices_[i * index_stride_];
    return item;
  }
  void Set(int32_t i, const Item& item) {
    Store(&item.value, 1, values_.dtype, values_.data, value_begin_ + i * value_stride_, 1);
    indices_[i * index_stride_] = item.index;
  }

  bool Before(const Item& a, const Item& b) const {
    if (Less(a.value, b.value)) return !descending_;
    if (Less(b.value, a.value)) return descending_;
    return a.index < b.index;
  }

  // Lets `item` sink from the root `at` of a heap of `count` items, in which no child comes after its parent.
  void Sink(int32_t at, int32_t count, const Item& item) {
    for (;;) {
      int32_t child = 2 * at + 1;
      if (child >= count) break;
      Item larger = Get(child);
      if (child + 1 < count) {
        const Item right = Get(child + 1);
        if (Before(larger, right)) {
          larger = right;
          ++child;
        }
      }
      if (!Before(item, larger)) break;
      Set(at, larger);
      at = child;
    }
    Set(at, item);
  }
  void MakeHeap(int32_t count) {
    for (int32_t i = count / 2 - 1; i >= 0; --i) Sink(i, count, Get(i));
  }
  // From a heap to a sorted line.
  void SortHeap(int32_t count) {
    for (int32_t last = count - 1; last > 0; --last) {
      const Item item = Get(last);
      Set(last, Get(0));
      Sink(0, last, item);
    }
  }

 private:
  static bool Less(Lane a, Lane b) { return a < b || (a == a && b != b); }
  const Tensor& values_;
  ptrdiff_t value_begin_, value_stride_;
  int64_t* indices_;
  ptrdiff_t index_stride_;
  bool descending_;
};

// The first `kept` items of each line in order.
template <typename Lane>
void SortLines(const Tensor& self, int64_t dim, int32_t kept, bool descending, const Tensor& values,
               const Tensor& indices) {
  const int32_t size = LineSize(self, dim);
  const ptrdiff_t self_stride = LineStride(self, dim);
  const ptrdiff_t value_stride = LineStride(values, dim);
  const ptrdiff_t index_stride = LineStride(indices, dim);
  ForEachLine<3>({&self, &values, &indices}, dim, [&](const ptrdiff_t* offsets) {
    Line<Lane> line(values, offsets[1], value_stride, indices, offsets[2], index_stride, descending);
    typename Line<Lane>::Item item;
    for (int32_t i = 0; i < size; ++i) {
      Load(self.dtype, self.data, offsets[0] + i * self_stride, 1, 1, &item.value);
      item.index = i;
      if (i < kept) line.Set(i, item);
      if (i == kept - 1) line.MakeHeap(kept);
      // The heap's root is the last of those kept so far.
      if (i >= kept && line.Before(item, line.Get(0))) line.Sink(0, kept, item);
    }
    line.SortHeap(kept);
  });
}

Status Sort(const Tensor& self, int64_t dim, int64_t kept, bool descending, Tensor& values, Tensor& indices) {
  CORTEX_M_RETURN_IF_ERROR(CheckAll({&self, &values, &indices}));
  if (values.dtype != self.dtype) return Refuse("the out tensor has another element type than the input");
  if (indices.dtype != ScalarType::kLong) return Refuse("indices are int64");
  if (!NormalizeDim(dim, self.rank)) return Refuse(kDimOutOfRange);
  if (kept < 0) kept = LineSize(self, dim);
  if (kept > LineSize(self, dim)) return Refuse("k is larger than the dimension");
  if (values.rank != self.rank || !SameSizes(values, indices)) return Refuse(kWrongOutSizes);
  for (int i = 0; i < self.rank; ++i) {
    if (values.sizes[i] != (i == dim ? kept : self.sizes[i])) return Refuse(kWrongOutSizes);
  }
  if (ElementCount(values) == 0) return Status();
  if (IsFloat(self.dtype)) {
    SortLines<float>(self, dim, static_cast<int32_t>(kept), descending, values, indices);
  } else {
    SortLines<int64_t>(self, dim, static_cast<int32_t>(kept), descending, values, indices);
  }
  return Status();
}

}  // namespace

Status aten::sort_values(KernelContext&, const Tensor& self, int64_t dim, bool descending, Tensor& values,
                         Tensor& indices) {
  return Sort(self, dim, -1, descending, values, indices);
}
Status aten::sort_values_stable(KernelContext&, const Tensor& self, std::optional<bool>, int64_t dim, bool descending,
                                Tensor& values, Tensor& indices) {
  return Sort(self, dim, -1, descending, values, indices);
}
// `sorted` false allows any order: the sorted one serves.
Status aten::topk_values(KernelContext&, const Tensor& self, int64_t k, int64_t dim, bool largest, bool, Tensor& values,
                         Tensor& indices) {
  if (k < 0) return Refuse("k must not be negative");
  return Sort(self, dim, k, largest, values, indices);
}

}  // namespace cortex_m
