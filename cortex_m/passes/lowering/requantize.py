"""int8 to int8 with other quantization parameters, or other bounds.

There is no op of its own for it: quantized_add of a tensor with itself, each side weighing one half, is exact up to the one
rounding of its output and takes activation bounds. Nothing is lost before: (q - zero_point) * 2^20 halves without remainder.
"""

import math

from torch.fx import Node

from cortex_m.ops.reference.fixed_point import INT32_MAX, quantize_multiplier
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.lowering.bounds import tighten
from cortex_m.passes.lowering.registry import Refusal
from cortex_m.passes.qparams import QParams

_LEFT_SHIFT = 20


def emit_requantize(
    editor: GraphEditor, value: Node, source: QParams, result: QParams, before: Node, origin: Node,
    low: float = -math.inf, high: float = math.inf,
) -> Node:  # fmt: skip
    """`value` (int8 with parameters `source`) with parameters `result`, clamped to the real bounds low and high.

    Gives `value` itself where nothing changes. Raises Refusal if the ratio of the scales is beyond int32.
    """
    bounds = result.quantize(low), result.quantize(high)
    same = source.scale == result.scale and source.zero_point == result.zero_point
    if same and bounds[0] <= source.quant_min and bounds[1] >= source.quant_max:
        return value
    if same and _is_private(value, before) and tighten(value, *bounds):
        return value
    half, half_shift = quantize_multiplier(0.5)
    try:
        multiplier, shift = quantize_multiplier(source.scale / (result.scale * 2**_LEFT_SHIFT))
    except ValueError as error:
        raise Refusal(str(error)) from error
    if 2**28 << max(shift, 0) > INT32_MAX:
        raise Refusal(f"requantizing from scale {source.scale} to {result.scale} leaves int32")
    operand = (value, source.zero_point, half, half_shift)
    return editor.call(
        "cortex_m::quantized_add",
        (*operand, *operand, result.zero_point, multiplier, shift, *bounds),
        before,
        origin,
    )


def _is_private(value: Node, reader: Node) -> bool:
    """True if a chain of single users leads from `value` to `reader`."""
    node = value
    while node is not reader:
        if len(node.users) != 1:
            return False
        node = next(iter(node.users))
    return True
