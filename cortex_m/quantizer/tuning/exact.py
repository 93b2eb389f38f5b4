"""Arithmetic whose result does not depend on the processor, the threads or the library that adds the numbers up.

Sums of products are the only place where they differ: the order of the additions, and whether a product is rounded before it is
added. Here all operands are multiples of a power of two with so few bits that float64 holds every partial sum exactly: then no
order rounds anything. What that costs is noise 90 dB and more below the values, and tuning decides about noise of 20 to 50 dB.
"""

from __future__ import annotations

import math
from typing import Any

import torch

aten = torch.ops.aten

# 20 + 22 bits and a sum of 2^11 products stay within the 53 bits of float64.
_ACTIVATION_BITS = 20
_WEIGHT_BITS = 22
# A sum of more products gets operands of fewer bits.
_TERMS = 1 << 11

_PRODUCTS = (aten.conv2d.default, aten.linear.default, aten.conv_transpose2d.input)
_MATRIX_PRODUCTS = (aten.matmul.default, aten.bmm.default, aten.mm.default)


def on_grid(value: torch.Tensor, bits: int = _ACTIVATION_BITS) -> tuple[torch.Tensor, float]:
    """`value` in float64, rounded to multiples of a power of two of which its largest element has 2^bits; and that power."""
    value = value.double()
    low, high = torch.aminmax(value) if value.numel() else (value.new_zeros(()),) * 2
    largest = max(-float(low), float(high))
    if not 0.0 < largest < math.inf:
        return value, 1.0
    step = math.ldexp(1.0, math.frexp(largest)[1] - bits)
    return (value * (1 / step)).round_().mul_(step), step


def compute(target: Any, args: tuple, kwargs: dict) -> Any:
    """Calls an ATen operator in float64."""
    args, kwargs = torch.utils._pytree.tree_map(_double, (args, kwargs))
    if target in _PRODUCTS:
        return _product(target, args, kwargs)
    if target in _MATRIX_PRODUCTS:
        fewer = _fewer_bits(args[0].shape[-1])
        args = (*(on_grid(value, _ACTIVATION_BITS - fewer)[0] for value in args[:2]), *args[2:])
    elif target is aten.view.default:
        target = aten.reshape.default  # the strides that it counts on are those of another kernel's result
    return _double(target(*args, **kwargs))


def _double(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _fewer_bits(terms: int) -> int:
    return max(0, math.ceil(math.log2(max(terms, 1) / _TERMS) / 2))


def _product(target: Any, args: tuple, kwargs: dict) -> torch.Tensor:
    x, weight, bias = (*args, None)[:3]
    # A transposed convolution has its outputs, not its inputs, in dim 1: then this counts more terms than there are.
    fewer = _fewer_bits(weight.numel() // min(weight.shape[:2]))
    x, x_step = on_grid(x, _ACTIVATION_BITS - fewer)
    weight, weight_step = on_grid(weight, _WEIGHT_BITS - fewer)
    if bias is not None:
        step = x_step * weight_step
        bias = (bias / step).round() * step
    return target(x, weight, bias, *args[3:], **kwargs)
