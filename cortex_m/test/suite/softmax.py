"""softmax."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import torch
from hypothesis import strategies as st

from cortex_m.test.suite.case import Case, int8, with_order
from cortex_m.test.suite.oracle import factors, oracle

_MAX = 2**31 - 1


def _times(a: int, b: int) -> int:
    """The high multiplication: half up, saturated where both are -2^31."""
    return min(math.floor(Fraction(a * b, 2**31) + Fraction(1, 2)), _MAX)


def _divided(a: int, bits: int) -> int:
    """a / 2^bits, half away from zero."""
    quotient = math.floor(Fraction(abs(a), 2**bits) + Fraction(1, 2))
    return quotient if a >= 0 else -quotient


@cache
def exponential(z: int) -> int:
    """exp of z in Q5.26, at most 0, in Q0.31."""
    if z == 0:
        return _MAX
    quarter = 2**24
    multiples, inside = divmod(-z, quarter)  # z = y - multiples / 4 with y in [-1/4, 0)
    if inside == 0:
        multiples, inside = multiples - 1, quarter
    x = -inside * 2**5 + 2**28
    x2 = _times(x, x)
    x3, x4 = _times(x2, x), _times(x2, x2)
    tail = _divided(_times(_divided(x4, 2) + x3, 715827883) + x2, 1)
    c = round(math.exp(-1 / 8) * 2**31)
    result = c + _times(x + tail, c)
    for j in range(7):
        if multiples >> j & 1:
            result = _times(result, round(math.exp(-(2.0 ** (j - 2))) * 2**31))
    return result


def _reciprocal(total: int) -> tuple[int, int]:
    """(1 / (1 + f) in Q0.31, leading zeros) of a sum in Q12.19."""
    zeros = 32 - total.bit_length()
    denominator = total * 2**zeros - 2**31
    half = (denominator + 2**31) // 2
    x = round(48 / 17 * 2**29) + _times(half, round(-32 / 17 * 2**29))
    for _ in range(3):
        x += min(max(4 * _times(x, 2**29 - _times(half, x)), -(2**31)), _MAX)
    return min(2 * x, _MAX), zeros


@cache
def _scaled(difference: int, multiplier: int, shift: int) -> int:
    return exponential(_times(difference * 2**shift, multiplier))


@cache
def _row(differences: tuple[int, ...], multiplier: int, shift: int, diff_min: int) -> list[int]:
    """differences: of a row's values to its largest."""
    powers = [_scaled(d, multiplier, shift) if d >= diff_min else None for d in differences]
    reciprocal, zeros = _reciprocal(sum(_divided(p, 12) for p in powers if p is not None))
    bits = 12 - zeros + 23
    return [-128 if p is None else min(max(_divided(_times(reciprocal, p), bits) - 128, -128), 127) for p in powers]


@oracle("softmax")
def softmax(input, dim, input_zero_point, output_zero_point, input_multiplier, input_shift, diff_min):
    rows = np.moveaxis(input, dim, -1)
    differences = rows.astype(np.int64) - rows.max(axis=-1, keepdims=True)
    flat = differences.reshape(-1, rows.shape[-1]).tolist()
    out = [_row(tuple(row), input_multiplier, input_shift, diff_min) for row in flat]
    return np.moveaxis(np.array(out, np.int8).reshape(rows.shape), -1, dim)


def softmaxed(
    name: str, seed: int, shape: Sequence[int], scale: float, dim: int = -1, order: Sequence[int] | None = None,
    spread: int = 255, saturates: str | None = None,
) -> Case:  # fmt: skip
    """spread: largest difference of two inputs."""
    rng = np.random.default_rng(seed)
    low = int(rng.integers(-128, 128 - spread))
    x = int8(rng, tuple(shape), low, low + spread)
    if order is not None:
        x = with_order(x, tuple(order))
    multiplier, shift = (int(value) for value in factors(min(scale * 2**26, 2**31 - 1)))
    diff_min = -math.floor(31 * 2**26 / 2**shift)
    arguments = (x, dim, int(rng.integers(-128, 128)), -128, multiplier, shift, diff_min)
    return Case("softmax", name, arguments, saturates=saturates)


def cases() -> Iterator[Case]:
    for scale in (1 / 256, 0.02, 0.1, 0.5, 2.0):
        steep = "most values are far below the largest of their row" if scale > 0.05 else None
        yield softmaxed(f"scale {scale}", 1, (6, 10), scale, saturates=steep)
        yield softmaxed(f"scale {scale}, near values", 2, (6, 10), scale, spread=min(255, round(2 / scale)))
    yield softmaxed("rows of 1", 1, (3, 1), 0.02, saturates="one value has the probability 1")
    for length in (2, 3, 4, 7, 15, 16, 17, 33, 100):
        yield softmaxed(f"rows of {length}", length, (3, length), 0.02, spread=60)
    for shape in ((7,), (2, 3, 4), (2, 3, 4, 5)):
        yield softmaxed(f"shape {shape}", 3, shape, 0.03)
        yield softmaxed(f"shape {shape}, last dim by its number", 3, shape, 0.03, dim=len(shape) - 1)
    yield softmaxed("channels of a channels_last image", 4, (2, 6, 3, 4), 0.03, dim=1, order=(0, 2, 3, 1))
    yield softmaxed("dim 1 of one pixel", 5, (2, 6, 1, 1), 0.03, dim=1)
    yield softmaxed("equal values", 6, (4, 9), 0.1, spread=0)
    yield softmaxed("long rows", 7, (1, 8191), 0.01, spread=3, saturates="each value has a probability below 1/512")
    yield from _exhaustive()


def _exhaustive() -> Iterator[Case]:
    """All differences of two values, at several scales."""
    values = torch.arange(-128, 128, dtype=torch.int8)
    x = torch.cartesian_prod(values, values)
    for scale in (0.004, 0.03, 1.0):
        steep = "far values have the probabilities 0 and 1" if scale > 0.05 else None
        arguments = softmaxed("", 8, (1, 2), scale).arguments
        yield Case("softmax", f"all pairs, scale {scale}", (x, *arguments[1:]), "exhaustive", saturates=steep)


@st.composite
def _drawn(draw) -> Case:
    rank = draw(st.integers(1, 4))
    shape = draw(st.tuples(*[st.integers(1, 6)] * (rank - 1), st.integers(2, 12)))
    scale = draw(st.floats(2.0**-10, 0.15))
    seed = draw(st.integers(0, 2**32 - 1))
    return softmaxed(f"seed {seed}", seed, shape, scale, spread=draw(st.integers(0, min(255, int(3 / scale)))))


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn(), 40)]
