"""The ATen operators that compute each element from the elements in the same place, and nothing else.

A graph of them over one int8 tensor and constants of one element is a function of 256 values, and so one table
(cortex_m::quantized_activation). This is the only list of them: the quantizer finds such graphs by it, lowering computes the
table with the operators themselves in float64, and the edge dialect is asked to keep what it would take apart.

In-place forms and synonyms are absent: graph preparation turns them into these (cortex_m/quantizer/prepare.py).
"""

import torch
from torch._ops import OpOverload

aten = torch.ops.aten


def _overloads(names: str) -> tuple[OpOverload, ...]:
    """ "sigmoid pow.Scalar" to their overloads; without a dot it is the default one."""
    pairs = (name.partition(".") for name in names.split())
    return tuple(getattr(getattr(aten, name), overload or "default") for name, _, overload in pairs)


# int8 operators of their own take these where no operand is a constant of one element.
CLAMPS = _overloads("relu relu6 hardtanh clamp clamp_min clamp_max")
BINARY = _overloads("add.Tensor sub.Tensor mul.Tensor div.Tensor minimum maximum prelu")

# A table takes these, and nothing else does.
FUNCTIONS = _overloads(
    """
    sigmoid tanh silu gelu hardswish hardsigmoid leaky_relu elu selu celu softplus mish threshold log_sigmoid
    hardshrink softshrink
    exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal erf erfc erfinv logit
    sin cos tan asin acos atan sinh cosh asinh acosh atanh
    abs neg sign sgn floor ceil round round.decimals trunc frac nan_to_num
    pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar
    add.Scalar sub.Scalar rsub.Scalar rsub.Tensor mul.Scalar div.Scalar div.Tensor_mode div.Scalar_mode
    fmod.Scalar fmod.Tensor remainder.Scalar remainder.Tensor atan2
    gt.Scalar ge.Scalar lt.Scalar le.Scalar eq.Scalar ne.Scalar gt.Tensor ge.Tensor lt.Tensor le.Tensor eq.Tensor ne.Tensor
    logical_not logical_and logical_or where.self where.ScalarSelf where.ScalarOther where.Scalar masked_fill.Scalar
    """
)

POINTWISE = frozenset((*CLAMPS, *BINARY, *FUNCTIONS))


def needs_table(target: OpOverload, has_constant: bool) -> bool:
    """Whether no other int8 operator computes this; has_constant: an operand is a constant of one element."""
    return target in _FUNCTIONS or (has_constant and target in BINARY)


_FUNCTIONS = frozenset(FUNCTIONS)
