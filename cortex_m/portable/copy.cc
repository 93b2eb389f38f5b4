// Copies with the same logical content: clone and its kin, and conversions of element type or layout.
//
// The layout that a dim_order or memory_format argument asks for is the one the program planned for the out tensor.

#include <cstring>

#include "cortex_m/portable/broadcast.h"
#include "cortex_m/portable/check.h"
#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/strided_convert.h"

namespace cortex_m {
namespace {

using namespace portable;

// Same sizes and type; any layouts.
Status Copy(const Tensor& self, Tensor& out);

// out = self, repeated where broadcasting says so and converted to out's type.
Status Convert(const Tensor& self, Tensor& out) {
  if (self.dtype != out.dtype) CORTEX_M_RETURN_IF_ERROR(CheckAll({&self, &out}));
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self));
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(out));
  int32_t out_strides[kMaxRank];
  int32_t in_strides[kMaxRank];
  StridesOf(out, out_strides);
  if (!BroadcastStrides(self, out.sizes, out.rank, in_strides)) return Refuse(kWrongOutSizes);
  Loops loops(2);
  for (int i = 0; i < out.rank; ++i) {
    const int dim = out.dim_order[i];
    loops.Add(out.sizes[dim], {out_strides[dim], in_strides[dim]});
  }
  ConvertStrided(loops, out.data, out.dtype, self.data, self.dtype);
  return Status();
}

Status Copy(const Tensor& self, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(self, out));
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  return Convert(self, out);
}

Status CheckDimOrder(const IntList* dim_order, const Tensor& out) {
  if (dim_order == nullptr) return Status();
  if (dim_order->size != out.rank) return Refuse("dim_order does not have one entry a dimension");
  uint8_t order[kMaxRank] = {};
  uint32_t seen = 0;
  for (int i = 0; i < out.rank; ++i) {
    const int64_t dim = (*dim_order)[static_cast<size_t>(i)];
    if (dim < 0 || dim >= out.rank || (seen >> dim & 1) != 0) return Refuse("dim_order is no order of the dimensions");
    seen |= 1u << dim;
    order[i] = static_cast<uint8_t>(dim);
  }
  Tensor asked = out;
  asked.dim_order = order;
  return SameLayout(asked, out) ? Status() : Refuse("dim_order differs from that of the out tensor");
}

// c10::MemoryFormat: 0 contiguous, 1 preserve, 2 channels_last.
Status CheckMemoryFormat(const int64_t* memory_format, const Tensor& out) {
  if (memory_format == nullptr || *memory_format == 1) return Status();
  const bool agrees = *memory_format == 0 ? IsContiguous(out) : (*memory_format == 2 && IsChannelsLast(out));
  return agrees ? Status() : Refuse("memory_format differs from the layout of the out tensor");
}

}  // namespace

Status aten::clone_out(KernelContext&, const Tensor& self, const int64_t* memory_format, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(out));
  CORTEX_M_RETURN_IF_ERROR(CheckMemoryFormat(memory_format, out));
  return Copy(self, out);
}
Status aten::alias_copy_out(KernelContext&, const Tensor& self, Tensor& out) { return Copy(self, out); }
Status aten::detach_copy_out(KernelContext&, const Tensor& self, Tensor& out) { return Copy(self, out); }
Status aten::lift_fresh_copy_out(KernelContext&, const Tensor& self, Tensor& out) { return Copy(self, out); }

Status aten::_to_copy_out(KernelContext&, const Tensor& self, bool, const int64_t* memory_format, Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(out));
  CORTEX_M_RETURN_IF_ERROR(CheckMemoryFormat(memory_format, out));
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  return Convert(self, out);
}

// self gives the sizes and the type, src the content.
Status aten::copy_out(KernelContext&, const Tensor& self, const Tensor& src, bool, Tensor& out) {
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  if (self.dtype != out.dtype) return Refuse("the out tensor has another element type than self");
  return Convert(src, out);
}
Status aten::copy_(KernelContext&, Tensor& self, const Tensor& src, bool) { return Convert(src, self); }

Status dim_order_ops::_clone_dim_order_out(KernelContext&, const Tensor& self, bool, const IntList* dim_order,
                                           Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(out));
  CORTEX_M_RETURN_IF_ERROR(CheckDimOrder(dim_order, out));
  return Copy(self, out);
}

Status dim_order_ops::_to_dim_order_copy_out(KernelContext&, const Tensor& self, bool, const IntList* dim_order,
                                             Tensor& out) {
  CORTEX_M_RETURN_IF_ERROR(CheckMovable(out));
  CORTEX_M_RETURN_IF_ERROR(CheckDimOrder(dim_order, out));
  if (!SameSizes(self, out)) return Refuse(kWrongOutSizes);
  return Convert(self, out);
}

}  // namespace cortex_m
