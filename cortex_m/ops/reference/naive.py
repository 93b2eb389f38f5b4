"""Plain loops over Python integers: what the references are tested against. Slow on purpose."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np


def requantized(value: int, multiplier: int, shift: int) -> int:
    """Rounds half up in the high multiply, half away from zero in the right shift."""
    high = math.floor(Fraction(value * 2 ** max(shift, 0) * multiplier, 2**31) + Fraction(1, 2))
    exact = Fraction(high, 2 ** max(-shift, 0))
    return math.floor(abs(exact) + Fraction(1, 2)) * (1 if exact >= 0 else -1)


def conv2d_nhwc(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], input_offset: int, output_offset: int, multipliers: np.ndarray, shifts: np.ndarray,
    low: int, high: int,
) -> np.ndarray:  # fmt: skip
    """x [N, H, W, C]; weight [O, kH, kW, C / groups]."""
    n, h, w, c = x.shape
    o, kh, kw, depth = weight.shape
    per_group = o // (c // depth)
    oh = (h + 2 * padding[0] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (w + 2 * padding[1] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    out = np.zeros((n, oh, ow, o), dtype=np.int8)
    for b, y, z, q in itertools.product(range(n), range(oh), range(ow), range(o)):
        total = 0 if bias is None else int(bias[q])
        for ky, kx, d in itertools.product(range(kh), range(kw), range(depth)):
            row = y * stride[0] - padding[0] + ky * dilation[0]
            column = z * stride[1] - padding[1] + kx * dilation[1]
            if 0 <= row < h and 0 <= column < w:
                total += (int(x[b, row, column, q // per_group * depth + d]) + input_offset) * int(weight[q, ky, kx, d])
        value = requantized(total, int(multipliers[q]), int(shifts[q])) + output_offset
        out[b, y, z, q] = min(max(value, low), high)
    return out


def transpose_conv2d_nhwc(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, stride: Sequence[int], padding: Sequence[int],
    output_padding: Sequence[int], dilation: Sequence[int], input_offset: int, output_offset: int,
    multipliers: np.ndarray, shifts: np.ndarray, low: int, high: int,
) -> np.ndarray:  # fmt: skip
    """x [N, H, W, C]; weight [O, kH, kW, C / groups]. Each input value is added to the outputs that it meets."""
    n, h, w, c = x.shape
    o, kh, kw, depth = weight.shape
    per_group = o // (c // depth)
    oh = (h - 1) * stride[0] - 2 * padding[0] + dilation[0] * (kh - 1) + 1 + output_padding[0]
    ow = (w - 1) * stride[1] - 2 * padding[1] + dilation[1] * (kw - 1) + 1 + output_padding[1]
    totals = np.zeros((n, oh, ow, o), dtype=object)
    totals[:] = 0 if bias is None else [int(value) for value in bias]
    for b, y, z, ky, kx in itertools.product(range(n), range(h), range(w), range(kh), range(kw)):
        row = y * stride[0] - padding[0] + ky * dilation[0]
        column = z * stride[1] - padding[1] + kx * dilation[1]
        if not (0 <= row < oh and 0 <= column < ow):
            continue
        for q, d in itertools.product(range(o), range(depth)):
            value = int(x[b, y, z, q // per_group * depth + d]) + input_offset
            totals[b, row, column, q] += value * int(weight[q, ky, kx, d])
    out = np.zeros(totals.shape, dtype=np.int8)
    for index in np.ndindex(*out.shape):
        value = requantized(int(totals[index]), int(multipliers[index[3]]), int(shifts[index[3]])) + output_offset
        out[index] = min(max(value, low), high)
    return out


def saturated_share(values: np.ndarray, low: int = -128, high: int = 127) -> float:
    """Share of values at a rail: a test that mostly saturates proves nothing."""
    return float(np.isin(values, (low, high)).mean())
