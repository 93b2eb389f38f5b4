"""Element by element: quantized_add, quantized_mul, quantized_div, minimum, maximum, quantized_activation, quantized_prelu.

Operands of any shapes that broadcast. The result has the dim order of the operand that has its shape, the first one's where
both have; where neither has, it is contiguous.
"""

import torch

from cortex_m.ops.reference.fixed_point import requantize
from cortex_m.ops.reference.registry import fake, reference

# Both operands gain 20 fraction bits before they are brought to a common scale.
ADD_LEFT_SHIFT = 20


@reference("quantized_add")
def quantized_add(
    self, self_zero_point, self_multiplier, self_shift, other, other_zero_point, other_multiplier, other_shift,
    output_zero_point, output_multiplier, output_shift, activation_min, activation_max,
):  # fmt: skip
    """int8 + int8, each scaled to twice the larger scale, then to the output's."""
    left = requantize((self.to(torch.int64) - self_zero_point) << ADD_LEFT_SHIFT, self_multiplier, self_shift)
    right = requantize((other.to(torch.int64) - other_zero_point) << ADD_LEFT_SHIFT, other_multiplier, other_shift)
    out = requantize(left + right, output_multiplier, output_shift) + output_zero_point
    return _result(self, other, out.clamp(activation_min, activation_max))


@reference("quantized_mul")
def quantized_mul(self, self_zero_point, other, other_zero_point, output_zero_point, output_multiplier, output_shift):
    """int8 * int8, the exact product requantized."""
    product = (self.to(torch.int64) - self_zero_point) * (other.to(torch.int64) - other_zero_point)
    out = requantize(product, output_multiplier, output_shift) + output_zero_point
    return _result(self, other, out.clamp(-128, 127))


@reference("quantized_div")
def quantized_div(self, self_zero_point, other, other_zero_point, output_zero_point, output_scale):
    """int8 / int8 or int16 / int16: quotient, then product with output_scale, each rounded to float32; halves away from zero.

    A division by zero gives the zero point.
    """
    numerator = (self.to(torch.int32) - self_zero_point).to(torch.float32)
    denominator = (other.to(torch.int32) - other_zero_point).to(torch.float32)
    quotient = numerator / torch.where(denominator == 0, 1.0, denominator)
    scaled = quotient * torch.tensor(output_scale, dtype=torch.float32)
    # In float64 neither the clamp nor the addition of one half rounds.
    scaled = scaled.to(torch.float64).clamp(-(2.0**17), 2.0**17)
    rounded = torch.copysign(torch.floor(scaled.abs() + 0.5), scaled)
    out = torch.where(denominator == 0, 0.0, rounded) + output_zero_point
    limits = torch.iinfo(self.dtype)
    return _result(self, other, out.clamp(limits.min, limits.max))


@reference("minimum")
def minimum(self, other):
    """The smaller of two int8 values of one scale and zero point."""
    return _result(self, other, torch.minimum(self, other))


@reference("maximum")
def maximum(self, other):
    """The greater of two int8 values of one scale and zero point."""
    return _result(self, other, torch.maximum(self, other))


@reference("quantized_activation")
def quantized_activation(input, lut):
    """lut[input + 128]: int8 of any shape through a table of 256 int8."""
    return torch.empty_like(input).copy_(lut.reshape(256)[input.to(torch.int64) + 128])


@fake("quantized_activation")
def quantized_activation_fake(input, lut):
    return torch.empty_like(input)


@reference("quantized_prelu")
def quantized_prelu(
    input, dim, input_zero_point, output_zero_point, multiplier, shift, negative_multipliers, negative_shifts
):  # fmt: skip
    """int8 of any shape; below the zero point the factor of the index along `dim` counts, elsewhere one factor for all.

    Raises ValueError unless there are as many negative factors as indices.
    """
    counts = negative_multipliers.numel(), negative_shifts.numel()
    if counts != (input.shape[dim],) * 2:
        raise ValueError(f"{counts[0]} multipliers and {counts[1]} shifts for {input.shape[dim]} channels")
    channels = [1] * input.dim()
    channels[dim] = -1
    value = input.to(torch.int64) - input_zero_point
    below = requantize(value, negative_multipliers.reshape(channels), negative_shifts.reshape(channels))
    out = torch.where(value < 0, below, requantize(value, multiplier, shift)) + output_zero_point
    return torch.empty_like(input).copy_(out.clamp(-128, 127))


@fake("quantized_prelu")
def quantized_prelu_fake(input, *arguments):
    return torch.empty_like(input)


@fake("quantized_add", "quantized_mul", "quantized_div", "minimum", "maximum")
def elementwise_fake(self, *arguments):
    other = next(argument for argument in arguments if isinstance(argument, torch.Tensor))
    return _empty(self, other)


def _empty(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    shape = torch.broadcast_shapes(self.shape, other.shape)
    for operand in (self, other):
        if operand.shape == shape:
            return torch.empty_like(operand)
    return self.new_empty(shape)


def _result(self: torch.Tensor, other: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return _empty(self, other).copy_(values)
