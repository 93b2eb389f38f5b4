import math

import numpy as np
import pytest
import torch

import cortex_m.ops.operators  # noqa: F401
from cortex_m.ops.reference.fixed_point import quantize_multiplier

ops = torch.ops.cortex_m


def parameters(scale):
    multiplier, shift = quantize_multiplier(scale * 2.0**26)
    return multiplier, shift, -math.floor(31 * 2.0**26 / 2.0**shift)


@pytest.mark.parametrize("length", [2, 3, 10, 1000])
@pytest.mark.parametrize("scale", [0.001, 0.03, 0.1, 0.5])
def test_softmax_is_within_one_step_of_float64(scale, length):
    x = torch.randint(-128, 128, (64, length), generator=torch.Generator().manual_seed(length), dtype=torch.int8)
    result = ops.softmax(x, 1, 0, -128, *parameters(scale))
    real = torch.softmax(x.double() * scale, dim=1)
    assert float(((result.double() + 128) / 256 - real).abs().max()) <= 1 / 256


def test_softmax_matches_the_algorithm_of_tensorflow_lite_on_plain_integers():
    """One row by gemmlowp's formulas written for single Python integers."""

    def multiply(a, b):
        if a == b == -(2**31):
            return 2**31 - 1
        nudge = 2**30 if a * b >= 0 else 1 - 2**30
        return math.trunc((a * b + nudge) / 2**31) if abs(a * b) < 2**52 else _truncated(a * b + nudge)

    def _truncated(v):
        return v // 2**31 if v >= 0 else -((-v) // 2**31)

    def divide(v, e):
        q, r = v >> e, v & ((1 << e) - 1)
        return q + (r > (((1 << e) - 1) >> 1) + (q < 0))

    def exponential(v):
        if v == 0:
            return 2**31 - 1
        inside = (v & (2**24 - 1)) - 2**24
        x = (inside << 5) + 2**28
        x2 = multiply(x, x)
        cubic = divide(multiply(x2, x2), 2) + multiply(x2, x)
        result = 1895147668 + multiply(1895147668, x + divide(multiply(cubic, 715827883) + x2, 1))
        for bit, factor in enumerate((1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)):
            if (inside - v) >> (24 + bit) & 1:
                result = multiply(result, factor)
        return result

    def reciprocal(v):
        half = (v + 2**31 - 1 + 1) // 2
        x = 1515870810 + multiply(half, -1010580540)
        for _ in range(3):
            x += max(min(multiply(x, 2**29 - multiply(half, x)) << 2, 2**31 - 1), -(2**31))
        return min(x << 1, 2**31 - 1)

    rng = np.random.default_rng(5)
    for scale in (0.01, 0.07, 0.4):
        row = [int(v) for v in rng.integers(-128, 128, 12)]
        multiplier, shift, diff_min = parameters(scale)
        exps = [
            exponential(multiply((v - max(row)) << shift, multiplier)) if v - max(row) >= diff_min else None
            for v in row
        ]
        total = sum(divide(e, 12) for e in exps if e is not None)
        headroom = 32 - total.bit_length()
        inverse = reciprocal((total << headroom) - 2**31)
        expected = [
            -128 if e is None else max(min(divide(multiply(inverse, e), 35 - headroom) - 128, 127), -128) for e in exps
        ]
        assert (
            ops.softmax(torch.tensor(row, dtype=torch.int8), 0, 0, -128, multiplier, shift, diff_min).tolist()
            == expected
        )


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax_along_any_dimension(dim):
    x = torch.randint(-128, 128, (3, 4, 5), generator=torch.Generator().manual_seed(9), dtype=torch.int8)
    along = ops.softmax(x, dim, 0, -128, *parameters(0.05))
    last = ops.softmax(x.movedim(dim, -1).contiguous(), 2, 0, -128, *parameters(0.05))
    assert torch.equal(along.movedim(dim, -1), last)


def test_softmax_refuses_another_output_zero_point():
    with pytest.raises(ValueError, match="-128"):
        ops.softmax(torch.zeros(3, dtype=torch.int8), 0, 0, 0, *parameters(0.05))
