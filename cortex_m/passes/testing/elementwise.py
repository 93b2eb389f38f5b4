"""Exact rules of what works element by element: sums, products, quotients, extrema, clamps, tables, PReLU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from cortex_m.ops.pointwise import POINTWISE
from cortex_m.passes.testing.rules import RULES, Call, pointwise, rule
from cortex_m.passes.testing.values import Params, Quantizer, Value, bounded, quantized
from cortex_m.test.suite.elementwise import quantized_div
from cortex_m.test.suite.oracle import requantize


def _operands(call: Call) -> tuple[Value, Value] | None:
    """Two stored tensors, neither of which is a constant of one element: that is a table's."""
    pair = call.args[:2]
    for value in pair:
        if not isinstance(value, Value) or value.params is None or (value.constant and value.real.numel() == 1):
            return None
    return pair[0], pair[1]


def _result(call: Call, quantize: Quantizer | None, by_table: bool = False) -> Value | None:
    function = pointwise(call, by_table)
    if quantize is None and function is None:
        return None
    return Value(call.real(), quantize=quantize, function=function)


@rule("add", "sub")
def _sum(call: Call) -> Value | None:
    operands = _operands(call)
    if operands is None:
        return None
    left, right = operands
    alpha = float(call.given().get("alpha", 1)) * (-1 if call.op.overloadpacket == torch.ops.aten.sub else 1)

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        scales = left.params.scale, right.params.scale * alpha
        twice = 2 * max(abs(scale) for scale in scales)
        first, second = (
            requantize(value.difference * 2**20, *call.record.pairs(scale / twice))
            for value, scale in zip((left, right), scales)
        )
        pair = call.record.pairs(twice / (params.scale * 2.0**20))
        return bounded(requantize(first + second, *pair) + params.zero_point, params, low, high)

    return _result(call, quantize)


@rule("mul")
def _product(call: Call) -> Value | None:
    operands = _operands(call)
    if operands is None:
        return None
    left, right = operands

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        pair = call.record.pairs(left.params.scale * right.params.scale / params.scale)
        value = requantize(left.difference * right.difference, *pair) + params.zero_point
        return bounded(value, params, low, high)

    return _result(call, quantize)


@rule("div")
def _quotient(call: Call) -> Value | None:
    operands = _operands(call)
    if operands is None or call.given().get("rounding_mode") is not None:
        return None
    left, right = operands
    dtype = np.int8 if left.params.dtype == torch.int8 else np.int16

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        scale = left.params.scale / (right.params.scale * params.scale)
        call.record.needed.add(("quotient", scale))
        value = quantized_div(
            left.stored.astype(dtype), left.params.zero_point, right.stored.astype(dtype), right.params.zero_point,
            params.zero_point, scale,
        )  # fmt: skip
        return value.astype(np.int64) if dtype == np.int16 else bounded(value.astype(np.int64), params, low, high)

    return _result(call, quantize)


@rule("minimum", "maximum")
def _extremum(call: Call) -> Value | None:
    operands = _operands(call)
    if operands is None:
        return None
    choose = np.minimum if call.op.overloadpacket == torch.ops.aten.minimum else np.maximum

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        first, second = (quantized(value, params, call.record) for value in operands)
        return bounded(choose(first, second), params, low, high)

    return _result(call, quantize)


@rule("masked_fill")
def _masked(call: Call) -> Value | None:
    """Minus infinity is the lowest integer; the other scores are what they are, or requantized."""
    scores, mask, fill = call.args
    if float(fill.real if isinstance(fill, Value) else fill) != -math.inf:
        return None

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        stored = quantized(scores, params, call.record, low, high)
        return np.where(mask.real.numpy(), params.low, stored)

    return _result(call, quantize)


@rule("prelu")
def _prelu(call: Call) -> Value | None:
    x, slopes = call.args
    if x.params is None or not slopes.constant or slopes.real.numel() == 1:
        return None

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        ratio = x.params.scale / params.scale
        shape = [-1] + [1] * (x.real.dim() - 2)
        below = call.record.pairs(slopes.real.numpy().ravel().astype(np.float64) * ratio)
        multipliers, shifts = (part.reshape(shape) for part in below)
        d = x.difference
        value = np.where(d >= 0, requantize(d, *call.record.pairs(ratio)), requantize(d, multipliers, shifts))
        return bounded(value + params.zero_point, params, low, high)

    return Value(call.real(), quantize=quantize)


def _bounds(call: Call) -> tuple[float, float] | None:
    name, given = call.op.overloadpacket.__name__, call.given()
    if name == "relu":
        return 0.0, math.inf
    if name == "relu6":
        return 0.0, 6.0
    low, high = (given["min_val"], given["max_val"]) if name == "hardtanh" else (given.get("min"), given.get("max"))
    if isinstance(low, Value) or isinstance(high, Value):
        return None
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)


@rule("relu", "relu6", "hardtanh", "clamp", "clamp_min", "clamp_max")
def _clamp(call: Call) -> Value | None:
    x, bounds = call.args[0], _bounds(call)
    if bounds is None:
        return None

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        """Bounds of the operator before it; `low` and `high` are those of clamps behind it."""
        inner = [min(max(bound, low), high) for bound in bounds]
        return quantized(x, params, call.record, *inner)

    known = x.stored is not None or x.quantize is not None
    return _result(call, quantize if known else None)


def _function(call: Call) -> Value | None:
    function: Any = pointwise(call, True)
    return None if function is None else Value(call.real(), function=function)


for _op in POINTWISE:
    if not any(existing is _function for existing in RULES.get(_op.overloadpacket, ())):
        RULES.setdefault(_op.overloadpacket, []).append(_function)
