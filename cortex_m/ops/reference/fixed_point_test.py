"""Expected values come from unbounded Python integers and fractions, and from math.exp."""

import math
from fractions import Fraction

import pytest
import torch

from cortex_m.ops.reference.fixed_point import (
    INT32_MAX,
    INT32_MIN,
    divide_by_power_of_two,
    exp_on_negative_values,
    one_over_one_plus_x,
    quantize_multiplier,
    requantize,
    saturating_doubling_high_multiply,
)


def half_away(value: Fraction) -> int:
    return math.floor(abs(value) + Fraction(1, 2)) * (1 if value >= 0 else -1)


def half_up(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def random_int32(count: int, bits: int = 31) -> torch.Tensor:
    return torch.randint(
        -(2**bits), 2**bits, (count,), generator=torch.Generator().manual_seed(bits), dtype=torch.int64
    )


@pytest.mark.parametrize("factor", [1.0, 0.5, 0.75, 3.7, 1 / 3, 1e-3, 2.0**-30, 0.999999999999, -0.3, 12345.678])
def test_quantize_multiplier_is_within_half_a_step(factor):
    multiplier, shift = quantize_multiplier(factor)
    assert 2**30 <= abs(multiplier) < 2**31
    assert abs(Fraction(multiplier) * Fraction(2) ** shift / 2**31 - Fraction(factor)) <= Fraction(2) ** (shift - 32)


def test_quantize_multiplier_at_the_ends():
    assert quantize_multiplier(0.0) == (0, 0)
    assert quantize_multiplier(2.0**-40) == (0, 0)
    for bad in (math.inf, math.nan, 2.0**31):
        with pytest.raises(ValueError, match="a requantization factor"):
            quantize_multiplier(bad)


@pytest.mark.parametrize("exponent", [0, 1, 2, 7, 30, 31])
def test_divide_by_power_of_two_rounds_half_away(exponent):
    values = torch.cat([random_int32(500), torch.arange(-70, 70), torch.tensor([INT32_MIN, INT32_MAX])])
    got = divide_by_power_of_two(values, exponent).tolist()
    assert got == [half_away(Fraction(v, 2**exponent)) for v in values.tolist()]


def test_ties_of_the_high_multiplication_go_up():
    """A factor of one half: every odd value is a tie."""
    values = torch.arange(-9, 10)
    got = requantize(values, 2**30, 0).tolist()
    assert got == [half_up(Fraction(v, 2)) for v in values.tolist()]


@pytest.mark.parametrize("shift", [-31, -12, -1, 0, 1, 7])
def test_requantize_rounds_twice(shift):
    values = torch.cat([random_int32(500, bits=23), torch.arange(-50, 50)])
    multiplier = 1518500249
    high = [half_up(Fraction(v * 2 ** max(shift, 0) * multiplier, 2**31)) for v in values.tolist()]
    expected = [half_away(Fraction(h, 2 ** max(-shift, 0))) for h in high]
    assert requantize(values, multiplier, shift).tolist() == expected


def test_requantize_takes_a_factor_for_each_channel():
    values = random_int32(12, bits=20).reshape(4, 3)
    multipliers, shifts = torch.tensor([2**30, 1518500249, 2**31 - 1]), torch.tensor([-3, 0, 2])
    got = requantize(values, multipliers, shifts)
    for channel in range(3):
        alone = requantize(values[:, channel], int(multipliers[channel]), int(shifts[channel]))
        assert got[:, channel].tolist() == alone.tolist()


def test_high_multiply_rounds_half_away_and_saturates():
    a, b = random_int32(500), random_int32(500).flip(0)
    expected = [half_away(Fraction(x * y, 2**31)) for x, y in zip(a.tolist(), b.tolist())]
    # gemmlowp's nudge differs from "half away" by one step exactly at negative ties.
    got = saturating_doubling_high_multiply(a, b).tolist()
    ties = [Fraction(x * y, 2**31) % 1 == Fraction(1, 2) for x, y in zip(a.tolist(), b.tolist())]
    assert all(g == e or tie for g, e, tie in zip(got, expected, ties))
    lowest = torch.tensor([INT32_MIN])
    assert saturating_doubling_high_multiply(lowest, INT32_MIN).tolist() == [INT32_MAX]


def test_exponential_is_that_of_the_real_numbers():
    values = -torch.arange(0, 2**31, 2**31 // 4001, dtype=torch.int64)
    got = exp_on_negative_values(values)
    for value, result in zip(values.tolist(), got.tolist()):
        assert (
            abs(result / 2**31 - math.exp(value / 2**26)) < 3e-7
        )  # the Taylor polynomial's first dropped term is 2.5e-7


def test_reciprocal_is_that_of_the_real_numbers():
    values = torch.arange(0, 2**31, 2**31 // 4001, dtype=torch.int64)
    got = one_over_one_plus_x(values)
    for value, result in zip(values.tolist(), got.tolist()):
        assert abs(result / 2**31 - 1 / (1 + value / 2**31)) < 1e-7
