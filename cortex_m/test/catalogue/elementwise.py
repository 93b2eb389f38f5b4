"""Calls of what works on each element by itself."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from cortex_m.test.catalogue.case import Calls, Function, between, booleans, integers, signed

_IMAGE = signed(1, 4, 6, 6)
_ROWS = signed(4, 12)
_A = torch.ops.aten

activations = Calls("Activations")
for _class in (
    nn.CELU, nn.ELU, nn.GELU, nn.Hardshrink, nn.Hardsigmoid, nn.Hardswish, nn.LeakyReLU, nn.LogSigmoid, nn.Mish, nn.PReLU,
    nn.RReLU, nn.SELU, nn.SiLU, nn.Sigmoid, nn.Softplus, nn.Softshrink, nn.Softsign, nn.Tanh, nn.Tanhshrink,
):  # fmt: skip
    activations.add(f"nn.{_class.__name__}", _class, _IMAGE)
for _class in (nn.Hardtanh, nn.ReLU, nn.ReLU6):
    activations.add(f"nn.{_class.__name__}", _class, _IMAGE, behind=True)
activations.add("nn.Threshold", lambda: nn.Threshold(0.1, 0.0), _IMAGE, behind=True)
activations.add("nn.GLU", lambda: nn.GLU(1), _IMAGE)
for _name in (
    "celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "leaky_relu", "logsigmoid", "mish", "rrelu", "selu",
    "sigmoid", "silu", "softplus", "softshrink", "softsign", "tanh", "tanhshrink",
):  # fmt: skip
    activations.function(f"F.{_name}", getattr(F, _name), _IMAGE)
for _name in ("celu_", "elu_", "leaky_relu_", "rrelu_", "selu_", "hardtanh_", "relu_", "hardtanh", "relu", "relu6"):
    activations.function(f"F.{_name}", getattr(F, _name), _IMAGE, behind=True)
activations.add("F.prelu", lambda: Function(F.prelu, weight=torch.rand(4)), _IMAGE)
activations.function("F.threshold", lambda x: F.threshold(x, 0.1, 0.0), _IMAGE, behind=True)
activations.function("F.threshold_", lambda x: F.threshold_(x, 0.1, 0.0), _IMAGE, behind=True)
activations.function("F.glu", lambda x: F.glu(x, 1), _IMAGE)
for _name in ("elu", "gelu", "leaky_relu", "sigmoid", "tanh"):
    activations.function(f"aten.{_name}.default", getattr(_A, _name).default, _IMAGE)
for _name in ("relu", "hardtanh"):
    activations.function(f"aten.{_name}.default", getattr(_A, _name).default, _IMAGE, behind=True)

unary = Calls("Functions of one tensor")
for _name, _inputs in {
    "abs": _ROWS, "acos": between(-0.9, 0.9, 4, 12), "acosh": between(1.2, 5, 4, 12), "asin": between(-0.9, 0.9, 4, 12),
    "asinh": _ROWS, "atan": _ROWS, "atanh": between(-0.9, 0.9, 4, 12), "ceil": _ROWS, "cos": _ROWS, "cosh": _ROWS, "erf": _ROWS,
    "exp": _ROWS, "expm1": _ROWS, "floor": _ROWS, "isinf": _ROWS, "isnan": _ROWS, "log": between(0.2, 4, 4, 12),
    "log10": between(0.2, 4, 4, 12), "log1p": between(0, 4, 4, 12), "log2": between(0.2, 4, 4, 12), "neg": _ROWS,
    "reciprocal": between(0.5, 4, 4, 12), "round": _ROWS, "rsqrt": between(0.2, 4, 4, 12), "sign": _ROWS, "sin": _ROWS,
    "sinh": _ROWS, "sqrt": between(0.1, 4, 4, 12), "tan": between(-1, 1, 4, 12), "trunc": _ROWS,
    "bitwise_not": integers(100, 4, 12), "logical_not": booleans(4, 12),
}.items():  # fmt: skip
    unary.function(f"aten.{_name}.default", getattr(_A, _name).default, _inputs)
unary.function("aten.clamp.default", lambda x: _A.clamp.default(x, -0.5, 0.5), _ROWS, behind=True)
unary.function(
    "aten.clamp.Tensor", lambda x, low, high: _A.clamp.Tensor(x, low, high), _ROWS, between(-1, 0, 4, 12), between(0, 1, 4, 12)
)  # fmt: skip
unary.function("aten.pow.Tensor_Scalar", lambda x: _A.pow.Tensor_Scalar(x, 2), _ROWS)
unary.function("aten.pow.Scalar", lambda x: _A.pow.Scalar(2.0, x), _ROWS)

binary = Calls("Functions of two tensors, or of a tensor and a number")
for _name in ("add", "sub", "mul"):
    binary.function(f"aten.{_name}.Tensor", getattr(_A, _name).Tensor, _ROWS, _ROWS)
    binary.function(f"aten.{_name}.Scalar", lambda x, f=getattr(_A, _name).Scalar: f(x, 1.5), _ROWS)
_DIVISOR = between(0.5, 2, 4, 12)
binary.function("aten.div.Tensor", _A.div.Tensor, _ROWS, _DIVISOR)
binary.function("aten.div.Scalar", lambda x: _A.div.Scalar(x, 1.5), _ROWS)
binary.function("aten.div.Tensor_mode", lambda x, y: _A.div.Tensor_mode(x, y, rounding_mode="floor"), _ROWS, _DIVISOR)
binary.function("aten.div.Scalar_mode", lambda x: _A.div.Scalar_mode(x, 1.5, rounding_mode="trunc"), _ROWS)
for _name in ("fmod", "remainder"):
    binary.function(f"aten.{_name}.Tensor", getattr(_A, _name).Tensor, _ROWS, _DIVISOR)
    binary.function(f"aten.{_name}.Scalar", lambda x, f=getattr(_A, _name).Scalar: f(x, 1.5), _ROWS)
for _name in ("maximum", "minimum"):
    binary.function(f"aten.{_name}.default", getattr(_A, _name).default, _ROWS, _ROWS)
binary.function("aten.pow.Tensor_Tensor", _A.pow.Tensor_Tensor, _DIVISOR, _ROWS)
binary.function("aten.atan2.default", _A.atan2.default, _ROWS, _ROWS)
binary.function("aten.atan2.out", lambda x, y: _A.atan2.out(x, y, out=torch.empty(4, 12)), _ROWS, _ROWS)
for _name in ("eq", "ge", "gt", "le", "lt", "ne"):
    binary.function(f"aten.{_name}.Tensor", getattr(_A, _name).Tensor, _ROWS, _ROWS)
    binary.function(f"aten.{_name}.Scalar", lambda x, f=getattr(_A, _name).Scalar: f(x, 0.5), _ROWS)
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    binary.function(f"aten.{_name}.Tensor", getattr(_A, _name).Tensor, integers(100, 4, 12), integers(100, 4, 12))
    binary.function(f"aten.{_name}.Scalar", lambda x, f=getattr(_A, _name).Scalar: f(x, 5), integers(100, 4, 12))
for _name in ("logical_and", "logical_or", "logical_xor"):
    binary.function(f"aten.{_name}.default", getattr(_A, _name).default, booleans(4, 12), booleans(4, 12))
binary.function("aten.where.self", _A.where.self, booleans(4, 12), _ROWS, _ROWS)
binary.add("nn.Bilinear", lambda: nn.Bilinear(5, 4, 3), signed(2, 5), signed(2, 4))
binary.add("F.bilinear", lambda: Function(F.bilinear, weight=torch.randn(3, 5, 4)), signed(2, 5), signed(2, 4))
binary.add("nn.CosineSimilarity", nn.CosineSimilarity, _ROWS, _ROWS)
binary.function("F.cosine_similarity", F.cosine_similarity, _ROWS, _ROWS)
binary.add("nn.PairwiseDistance", nn.PairwiseDistance, _ROWS, _ROWS)
binary.function("F.pairwise_distance", F.pairwise_distance, _ROWS, _ROWS)
binary.function("F.pdist", F.pdist, _ROWS)
binary.function("aten._pdist_forward.default", lambda x: _A._pdist_forward.default(x, 2.0), _ROWS)
binary.function("aten._cdist_forward.default", lambda x, y: _A._cdist_forward.default(x, y, 2.0, None), _ROWS, _ROWS)
