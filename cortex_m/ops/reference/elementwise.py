"""quantized_add."""

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
    """int8 + int8 of broadcastable shapes, each scaled to twice the larger scale, then to the output's."""
    left = requantize((self.to(torch.int64) - self_zero_point) << ADD_LEFT_SHIFT, self_multiplier, self_shift)
    right = requantize((other.to(torch.int64) - other_zero_point) << ADD_LEFT_SHIFT, other_multiplier, other_shift)
    out = requantize(left + right, output_multiplier, output_shift) + output_zero_point
    result = out.clamp(activation_min, activation_max).to(torch.int8)
    return _empty_broadcast(self, other).copy_(result)


@fake("quantized_add")
def quantized_add_fake(
    self, self_zero_point, self_multiplier, self_shift, other, other_zero_point, other_multiplier, other_shift,
    output_zero_point, output_multiplier, output_shift, activation_min, activation_max,
):  # fmt: skip
    return _empty_broadcast(self, other)


def _empty_broadcast(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Equal shapes keep the first operand's dim order; a broadcast is contiguous."""
    if self.shape == other.shape:
        return torch.empty_like(self)
    return self.new_empty(torch.broadcast_shapes(self.shape, other.shape))
