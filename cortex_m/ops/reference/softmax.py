"""softmax over the last dimension in fixed point, as TensorFlow Lite and CMSIS-NN define it for int8."""

import torch

from cortex_m.ops.reference.fixed_point import (
    divide_by_power_of_two,
    exp_on_negative_values,
    one_over_one_plus_x,
    saturating_doubling_high_multiply,
)
from cortex_m.ops.reference.registry import fake, reference

_ACCUMULATION_INTEGER_BITS = 12


@reference("softmax")
def softmax(input, dim, input_zero_point, output_zero_point, input_multiplier, input_shift, diff_min):
    """int8 to int8 with scale 1/256 and zero point -128; differences to a row's maximum below diff_min give 0.

    Raises ValueError for another output zero point.
    """
    if output_zero_point != -128:
        raise ValueError(f"the output of softmax has zero point -128, not {output_zero_point}")
    x = input.movedim(dim, -1).to(torch.int64)
    difference = x - x.amax(dim=-1, keepdim=True)
    counts = difference >= diff_min
    scaled = saturating_doubling_high_multiply(torch.where(counts, difference, 0) << input_shift, input_multiplier)
    exponential = exp_on_negative_values(scaled)
    total = torch.where(counts, divide_by_power_of_two(exponential, _ACCUMULATION_INTEGER_BITS), 0)
    total = total.sum(dim=-1, keepdim=True)
    headroom = 32 - _bit_length(total)
    reciprocal = one_over_one_plus_x((total << headroom) - (1 << 31))
    quotient = divide_by_power_of_two(
        saturating_doubling_high_multiply(exponential, reciprocal),
        _ACCUMULATION_INTEGER_BITS - headroom + 23,
    )
    out = torch.where(counts, (quotient - 128).clamp(-128, 127), -128).to(torch.int8)
    return softmax_fake(input, dim, input_zero_point, output_zero_point, input_multiplier, input_shift, diff_min).copy_(
        out.movedim(-1, dim)
    )


def _bit_length(value: torch.Tensor) -> torch.Tensor:
    """Bits needed for positive int64 values below 2^53."""
    return torch.frexp(value.to(torch.float64)).exponent.to(torch.int64)


@fake("softmax")
def softmax_fake(input, dim, input_zero_point, output_zero_point, input_multiplier, input_shift, diff_min):
    return torch.empty_like(input)
