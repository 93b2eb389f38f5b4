"""aten.prelu with a slope for each channel: quantized_prelu. One slope for all of them has become a table before.

x >= 0:  s_in / s_out           x < 0:  slope[c] * s_in / s_out
"""

import math

import torch
from torch.fx import Node

from cortex_m.ops.reference.fixed_point import INT32_MAX, quantize_multiplier
from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.movement import emit_view
from cortex_m.passes.lowering.registry import Refusal, lowers
from cortex_m.passes.lowering.table import emit_clamp

_LARGEST_DIFFERENCE = 255  # of a stored value and its zero point


@lowers(torch.ops.aten.prelu.default)
def lower_prelu(lowering: Lowering, node: Node) -> None:
    """Channels are dimension 1. Shapes other than [N, C] become images, which the layout pass knows to turn."""
    x, source = lowering.quantized_input(node, 0)
    slopes = lowering.editor.constant_value(node.args[1])
    if slopes is None:
        raise Refusal("its slopes are not constant")
    result = lowering.quantized_output(node)
    ratio = source.scale / result.params.scale
    multiplier, shift = _pair(ratio, "values above 0")
    values = slopes.flatten().to(torch.float64).tolist()
    pairs = [_pair(slope * ratio, f"channel {channel}") for channel, slope in enumerate(values)]
    parameters = [
        lowering.int32([pair[position] for pair in pairs], node, role)
        for position, role in enumerate(("negative_multipliers", "negative_shifts"))
    ]
    shape = list(x.meta["val"].shape)
    moved = len(shape) not in (2, 4)
    value = emit_view(lowering.editor, x, [*shape[:2], 1, math.prod(shape[2:])], node, node) if moved else x
    value = lowering.emit(
        "cortex_m::quantized_prelu",
        (value, 1, source.zero_point, result.params.zero_point, multiplier, shift, *parameters),
        node,
    )
    value = emit_view(lowering.editor, value, shape, node, node) if moved else value
    lowering.replace(result, emit_clamp(lowering.editor, value, *result.bounds, node))


def _pair(factor: float, place: str) -> tuple[int, int]:
    try:
        multiplier, shift = quantize_multiplier(factor)
    except ValueError as error:
        raise Refusal(f"{place}: {error}") from error
    if _LARGEST_DIFFERENCE << max(shift, 0) > INT32_MAX - 256:
        raise Refusal(f"{place}: the factor {factor:g} shifts an int8 value out of int32")
    return multiplier, shift
