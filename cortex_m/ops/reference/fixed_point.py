"""Fixed-point primitives of the int8 kernels, vectorised over int64 tensors that hold int32 values.

A real factor is multiplier * 2^shift / 2^31, with multiplier in [2^30, 2^31) and a positive shift to the left. The rounding
is that of CMSIS-NN's default build: twice, once in the high multiply and once in the right shift.
The exponential and the reciprocal follow gemmlowp's fixedpoint.h.
"""

import math
from typing import TypeAlias

import torch

IntOrTensor: TypeAlias = int | torch.Tensor

INT32_MAX = 2**31 - 1
INT32_MIN = -(2**31)


def quantize_multiplier(factor: float) -> tuple[int, int]:
    """(multiplier, shift) nearest to `factor`; (0, 0) for a factor that no int32 can be scaled to one half by.

    Raises ValueError for a factor that is not finite or needs a left shift above 30.
    """
    if not math.isfinite(factor):
        raise ValueError(f"a requantization factor must be finite, not {factor}")
    if factor == 0.0:
        return 0, 0
    mantissa, exponent = math.frexp(factor)
    multiplier = round(mantissa * 2**31)
    if abs(multiplier) == 2**31:
        multiplier //= 2
        exponent += 1
    if exponent < -31:
        return 0, 0
    if exponent > 30:
        raise ValueError(f"a requantization factor of {factor} needs a left shift of {exponent} bits; 30 is the limit")
    return multiplier, exponent


def divide_by_power_of_two(value: torch.Tensor, exponent: IntOrTensor) -> torch.Tensor:
    """value / 2^exponent, rounded to nearest, ties away from zero. exponent >= 0, int or broadcastable int64."""
    exponent = torch.as_tensor(exponent, dtype=torch.int64)
    mask = (torch.ones_like(exponent) << exponent) - 1
    quotient = value >> exponent
    threshold = (mask >> 1) + (quotient < 0).to(torch.int64)
    return quotient + ((value & mask) > threshold).to(torch.int64)


def requantize(value: torch.Tensor, multiplier: IntOrTensor, shift: IntOrTensor) -> torch.Tensor:
    """round(round(value * 2^left * multiplier / 2^31) / 2^right), int64 in and out.

    The high multiply rounds ties up, the right shift rounds ties away from zero. The device holds value * 2^left in
    an int32: the exporter refuses what would not fit.
    """
    multiplier = torch.as_tensor(multiplier, dtype=torch.int64)
    shift = torch.as_tensor(shift, dtype=torch.int64)
    high = ((value << shift.clamp(min=0)) * multiplier + (1 << 30)) >> 31
    return divide_by_power_of_two(high, (-shift).clamp(min=0))


def saturating_doubling_high_multiply(a: torch.Tensor, b: IntOrTensor) -> torch.Tensor:
    """a * b / 2^31 rounded to nearest, ties away from zero, saturated where both are INT32_MIN."""
    b = torch.as_tensor(b, dtype=torch.int64)
    product = a * b
    nudge = torch.where(product >= 0, 1 << 30, 1 - (1 << 30))
    high = torch.div(product + nudge, 1 << 31, rounding_mode="trunc")
    return high.clamp(max=INT32_MAX)


def saturating_shift_left(value: torch.Tensor, exponent: int) -> torch.Tensor:
    """value * 2^exponent, saturated to int32."""
    return (value << exponent).clamp(INT32_MIN, INT32_MAX)


# exp(-1/8) in Q0.31, 1/3 in Q0.31, and exp(-2^k) in Q0.31 for k = -2 .. 4.
_EXP_MINUS_EIGHTH = 1895147668
_ONE_THIRD = 715827883
_EXP_MINUS_POWERS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)


def exp_on_negative_values(value: torch.Tensor) -> torch.Tensor:
    """exp(value) in Q0.31 for value <= 0 in Q5.26.

    A fourth-order Taylor polynomial around -1/8 covers [-1/4, 0); each set bit of the rest multiplies by a constant.
    """
    multiply = saturating_doubling_high_multiply
    quarter = 1 << 24
    inside = (value & (quarter - 1)) - quarter
    rest = inside - value
    x = (inside << 5) + (1 << 28)
    x2 = multiply(x, x)
    x3 = multiply(x2, x)
    x4 = multiply(x2, x2)
    tail = divide_by_power_of_two(multiply(divide_by_power_of_two(x4, 2) + x3, _ONE_THIRD) + x2, 1)
    result = _EXP_MINUS_EIGHTH + multiply(x + tail, _EXP_MINUS_EIGHTH)
    for bit, factor in enumerate(_EXP_MINUS_POWERS, start=24):
        result = torch.where((rest >> bit) & 1 == 1, multiply(result, factor), result)
    return torch.where(value == 0, INT32_MAX, result)


def one_over_one_plus_x(value: torch.Tensor) -> torch.Tensor:
    """1 / (1 + value) in Q0.31 for value in [0, 1) in Q0.31, by three Newton-Raphson steps from 48/17 - 32/17 d."""
    multiply = saturating_doubling_high_multiply
    total = value + INT32_MAX
    half_denominator = torch.div(total + torch.where(total >= 0, 1, -1), 2, rounding_mode="trunc")
    x = 1515870810 + multiply(half_denominator, -1010580540)
    for _ in range(3):
        error = (1 << 29) - multiply(half_denominator, x)
        x = x + saturating_shift_left(multiply(x, error), 2)
    return saturating_shift_left(x, 1)
