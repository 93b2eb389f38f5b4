// Exponentials and logarithms.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/unary_float.h"

namespace cortex_m {

using namespace portable;

Status aten::exp_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Exp>(self, out); }
Status aten::expm1_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Expm1>(self, out); }
Status aten::log_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Log>(self, out); }
Status aten::log2_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Log2>(self, out); }
Status aten::log10_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Log10>(self, out); }
Status aten::log1p_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Log1p>(self, out); }

}  // namespace cortex_m
