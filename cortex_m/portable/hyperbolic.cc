// Hyperbolic functions, their inverses, and the logistic function.

#include "cortex_m/portable/declarations.h"
#include "cortex_m/portable/unary_float.h"

namespace cortex_m {

using namespace portable;

Status aten::sinh_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Sinh>(self, out); }
Status aten::cosh_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Cosh>(self, out); }
Status aten::tanh_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Tanh>(self, out); }
Status aten::asinh_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Asinh>(self, out); }
Status aten::acosh_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Acosh>(self, out); }
Status aten::atanh_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Atanh>(self, out); }
Status aten::sigmoid_out(KernelContext&, const Tensor& self, Tensor& out) { return UnaryFloat<Sigmoid>(self, out); }

}  // namespace cortex_m
