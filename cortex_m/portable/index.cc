// index.Tensor: self[i, j, ...] read; index_put: written.

#include "cortex_m/portable/advanced_index.h"
#include "cortex_m/portable/broadcast.h"
#include "cortex_m/portable/convert.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_copy.h"

namespace cortex_m {
namespace {

using namespace portable;

template <typename Lane>
void Accumulate(const Loops& loops, const Tensor& self, ptrdiff_t in_self, const Tensor& values, ptrdiff_t in_values) {
  for (Walk walk(loops); !walk.done(); walk.Next()) {
    for (int32_t i = 0; i < loops.inner_size(); ++i) {
      const ptrdiff_t to = in_self + walk.offset(1) + static_cast<ptrdiff_t>(i) * loops.inner_stride(1);
      const ptrdiff_t from = in_values + walk.offset(0) + static_cast<ptrdiff_t>(i) * loops.inner_stride(0);
      Lane sum;
      Lane addend;
      Load(self.dtype, self.data, to, 1, 1, &sum);
      Load(values.dtype, values.data, from, 1, 1, &addend);
      if constexpr (kLaneType<Lane> == ScalarType::kLong) {
        sum = static_cast<Lane>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(addend));
      } else {
        sum += addend;
      }
      Store(&sum, 1, self.dtype, self.data, to, 1);
    }
  }
}

Status CheckPut(const Tensor& self, Indices indices, const Tensor& values, bool accumulate, AdvancedIndex& index,
                int32_t* value_strides) {
  CORTEX_M_RETURN_IF_ERROR(index.Init(self, indices));
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(values));
  if (values.dtype != self.dtype) return Refuse("values has another element type than self");
  CORTEX_M_RETURN_IF_ERROR(index.CheckRange());
  if (accumulate) CORTEX_M_RETURN_IF_ERROR(Check(self));
  if (!BroadcastStrides(values, index.result_sizes(), index.result_rank(), value_strides)) {
    return Refuse("values cannot be broadcast to the sizes of the indexed part");
  }
  return Status();
}

Status Put(const Tensor& self, const AdvancedIndex& index, const Tensor& values, bool accumulate,
           const int32_t* value_strides) {
  const Loops loops = index.WholeDims(value_strides);  // operand 0: values, operand 1: self
  if (loops.empty()) return Status();
  const size_t element_size = ElementSize(self.dtype);
  AdvancedIndex::Positions at(index, value_strides);
  for (; !at.done(); at.Next()) {
    if (accumulate && IsFloat(self.dtype)) {
      Accumulate<float>(loops, self, at.in_self(), values, at.in_result());
    } else if (accumulate) {
      Accumulate<int64_t>(loops, self, at.in_self(), values, at.in_result());
    } else {
      CopyStrided(loops.Swapped(), At(self.data, at.in_self(), element_size),
                  At(values.data, at.in_result(), element_size), element_size);
    }
  }
  return at.status();
}

}  // namespace

Status aten::index_Tensor_out(KernelContext&, const Tensor& self, Indices indices, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  AdvancedIndex index;
  CORTEX_M_RETURN_IF_ERROR(index.Init(self, indices));
  if (!HasSizes(out, index.result_sizes(), index.result_rank())) return Refuse(kWrongOutSizes);
  int32_t out_strides[kMaxRank];
  StridesOf(out, out_strides);
  const Loops loops = index.WholeDims(out_strides);
  const size_t element_size = ElementSize(self.dtype);
  AdvancedIndex::Positions at(index, out_strides);
  for (; !at.done(); at.Next()) {
    CopyStrided(loops, At(out.data, at.in_result(), element_size), At(self.data, at.in_self(), element_size),
                element_size);
  }
  return at.status();
}

Status aten::index_put_out(KernelContext&, const Tensor& self, Indices indices, const Tensor& values, bool accumulate,
                           Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  AdvancedIndex index;
  int32_t value_strides[kMaxRank];
  CORTEX_M_RETURN_IF_ERROR(CheckPut(out, indices, values, accumulate, index, value_strides));
  CopySameSizes(out, self);
  return Put(out, index, values, accumulate, value_strides);
}

Status aten::index_put_(KernelContext&, Tensor& self, Indices indices, const Tensor& values, bool accumulate) {
  AdvancedIndex index;
  int32_t value_strides[kMaxRank];
  CORTEX_M_RETURN_IF_ERROR(CheckPut(self, indices, values, accumulate, index, value_strides));
  return Put(self, index, values, accumulate, value_strides);
}

}  // namespace cortex_m
