"""Exact rules of sums: convolutions, linear layers, products of matrices, pools and means, softmax."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from cortex_m.passes.testing.rules import Call, on_integers, rule
from cortex_m.passes.testing.values import Params, Value, bounded, of_stored, requantized
from cortex_m.test.suite.oracle import divide_half_away, requantize
from cortex_m.test.suite.softmax import softmax

aten = torch.ops.aten


def _rescaled(
    call: Call, accumulator: np.ndarray, real: Callable[[Params], np.ndarray], axis: int | None = None
) -> Value:
    """An accumulator requantized with real(output's parameters), one factor or one for each index of `axis`."""

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        pair = call.record.pairs(real(params))
        if axis is not None:
            shape = [-1 if dim == axis % accumulator.ndim else 1 for dim in range(accumulator.ndim)]
            pair = pair[0].reshape(shape), pair[1].reshape(shape)
        return bounded(requantize(accumulator, *pair) + params.zero_point, params, low, high)

    return Value(call.real(), quantize=quantize)


def _channel_scales(weight: Value, outputs: int, transposed: bool, groups: int) -> np.ndarray:
    """One scale for each output channel."""
    if weight.channels is None:
        return np.full(outputs, weight.params.scale)
    scales, axis = weight.channels
    if not transposed:
        return scales
    of_group = outputs // groups
    inputs = weight.stored.shape[0] // groups
    return np.array([scales[o % of_group] if axis == 1 else scales[o // of_group * inputs] for o in range(outputs)])


def _stored_bias(bias: Value | None, scales: np.ndarray) -> np.ndarray:
    """int32 at the scales s_in * s_w[o]: as stored, or rounded half to even in float64."""
    if bias is None:
        return np.zeros(len(scales), np.int64)
    if bias.stored is not None:
        given = bias.channels[0] if bias.channels else np.full(len(scales), bias.params.scale)
        if np.allclose(given, scales, rtol=1e-5, atol=0):
            return bias.stored
    return np.rint(bias.real.detach().to(torch.float64).numpy() / scales).astype(np.int64)


def _layer(call: Call, axis: int, transposed: bool = False) -> Value | None:
    given = call.given()
    x, weight, bias = given.pop("input"), given.pop("weight"), given.pop("bias")
    if x.params is None or weight.stored is None or not weight.constant:
        return None
    channels = call.real().shape[axis]
    scales = _channel_scales(weight, channels, transposed, given.get("groups", 1)) * x.params.scale
    accumulator = on_integers(call.op, x.difference, weight.stored, None, **given)
    shape = [-1 if dim == axis % accumulator.ndim else 1 for dim in range(accumulator.ndim)]
    accumulator = accumulator + _stored_bias(bias, scales).reshape(shape)
    return _rescaled(call, accumulator, lambda params: scales / params.scale, axis)


@rule("conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d")
def _convolution(call: Call) -> Value | None:
    name = call.op.overloadpacket.__name__
    return _layer(call, -2 if "1d" in name else -3, "transpose" in name)


@rule("linear")
def _linear(call: Call) -> Value | None:
    weight = call.args[1]
    if weight.constant and weight.stored is not None:
        return _layer(call, -1)
    return _matmul(call) if len(call.args) == 2 else None


@rule("matmul", "mm", "bmm")
def _matmul(call: Call) -> Value | None:
    left, right = call.args[:2]
    if left.params is None or right.params is None:
        return None
    accumulator = on_integers(call.op, left.difference, right.difference)
    result = _rescaled(call, accumulator, lambda params: left.params.scale * right.params.scale / params.scale)

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        stored = result.quantize(params, -math.inf, math.inf)
        return requantized(of_stored(stored, params), params, low, high, call.record)

    return Value(result.real, quantize=quantize)


def _mean(call: Call, x: Value, sums: np.ndarray, counts: np.ndarray, divisor: int | None, override: bool) -> Value:
    """sums: of differences to the zero point. divisor: that of all windows, where they have one and it counts the padding too."""

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        source = x.params
        same = (source.scale, source.zero_point) == (params.scale, params.zero_point)
        if divisor is not None and (not same or override):
            pair = call.record.pairs(source.scale / (divisor * params.scale))
            return bounded(requantize(sums, *pair) + params.zero_point, params, low, high)
        call.record.pairs(source.scale)
        stored = divide_half_away(sums + source.zero_point * counts, counts)
        return requantized(of_stored(stored, source), params, low, high, call.record)

    return Value(call.real(), quantize=quantize)


@rule("avg_pool1d", "avg_pool2d")
def _avg_pool(call: Call) -> Value | None:
    given = call.given()
    x = given.pop("self")
    if x.params is None:
        return None
    override = given.pop("divisor_override", None)
    two = call.op.overloadpacket == aten.avg_pool2d
    values = x.difference if two else x.difference[..., None, :]
    lists = {
        name: [int(v) for v in (given[name] or given["kernel_size"])] for name in ("kernel_size", "stride", "padding")
    }
    if not two:
        lists = {name: [0 if name == "padding" else 1, *value] for name, value in lists.items()}
    flags = dict(ceil_mode=given["ceil_mode"], count_include_pad=given["count_include_pad"])
    pool = torch.nn.functional.avg_pool2d
    lists = {name: value * 2 if len(value) == 1 else value for name, value in lists.items()}
    sums = on_integers(pool, values, **lists, **flags, divisor_override=1)
    ones = torch.ones(values.shape, dtype=torch.float64)
    inside = pool(ones, **lists, **flags, divisor_override=1)
    counts = torch.round(inside / pool(ones, **lists, **flags)).to(torch.int64).numpy()
    size = math.prod(lists["kernel_size"])
    whole = bool((counts == size).all())
    if not two:
        sums, counts = sums[..., 0, :], counts[..., 0, :]
    if override is not None:
        return _mean(call, x, sums, counts, override, True)
    padded = any(lists["padding"])
    return _mean(call, x, sums, counts, size if whole and (not padded or flags["count_include_pad"]) else None, False)


@rule("adaptive_avg_pool1d", "adaptive_avg_pool2d", "mean")
def _whole_mean(call: Call) -> Value | None:
    x, result = call.args[0], call.real()
    if x.params is None or call.kwargs.get("dtype") is not None:
        return None
    if call.op.overloadpacket != aten.mean and any(
        size % out for size, out in zip(x.real.shape[-2:], result.shape[-2:])
    ):
        return None
    count = x.real.numel() // result.numel()
    mean = call.op(torch.from_numpy(x.difference).to(torch.float64), *call.args[1:], **call.kwargs)
    sums = torch.round(mean * count).to(torch.int64).numpy()
    return _mean(call, x, sums, np.full_like(sums, count), count, False)


@rule("max_pool1d", "max_pool2d", "max_pool2d_with_indices", "adaptive_max_pool2d")
def _max_pool(call: Call) -> Value | None:
    x, real = call.args[0], call.real()
    if x.params is None:
        return None
    pooled = call.op(torch.from_numpy(x.stored).to(torch.float64), *call.args[1:], **call.kwargs)
    stored = of_stored((pooled if torch.is_tensor(pooled) else pooled[0]).to(torch.int64).numpy(), x.params)

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        return requantized(stored, params, low, high, call.record)

    if torch.is_tensor(real):
        return Value(real, quantize=quantize)
    return Value(real, items=(Value(real[0], quantize=quantize), Value(real[1])))


@rule("softmax", "_softmax")
def _softmax(call: Call) -> Value | None:
    x, dim = call.args[:2]
    if x.params is None:
        return None
    scale = min(x.params.scale * 2.0**26, 2.0**31 - 1)
    output = Params(1 / 256, -128, -128, 127)

    def quantize(params: Params, low: float, high: float) -> np.ndarray:
        multiplier, shift = (int(part) for part in call.record.pairs(scale))
        diff_min = -math.floor(31 * 2**26 / 2**shift)
        call.record.needed.add(("diff_min", diff_min))
        stored = softmax(x.stored.astype(np.int8), dim, x.params.zero_point, -128, multiplier, shift, diff_min)
        return requantized(of_stored(stored, output), params, low, high, call.record)

    return Value(call.real(), quantize=quantize)
