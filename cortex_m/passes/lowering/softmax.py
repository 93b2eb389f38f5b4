"""aten._softmax: softmax over any dimension; the layout pass brings that dimension last."""

import math

import torch
from torch.fx import Node

from cortex_m.ops.reference.fixed_point import quantize_multiplier
from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.registry import Refusal, lowers
from cortex_m.passes.lowering.requantize import emit_requantize
from cortex_m.passes.qparams import QParams

_OUTPUT = QParams(1.0 / 256.0, -128, -128, 127, torch.int8)
_INTEGER_BITS = 5  # of the scaled differences, as in TensorFlow Lite
_LONGEST_ROW = 8191  # the sum of this many exponentials still fits the kernel's Q12.19


def softmax_parameters(scale: float) -> tuple[int, int, int]:
    """(input_multiplier, input_shift, diff_min) for an input of this scale."""
    if not 2.0**-26 <= scale < 16.0:
        raise Refusal(f"its input scale of {scale} is outside 2^-26 .. 16")
    multiplier, shift = quantize_multiplier(scale * 2.0 ** (31 - _INTEGER_BITS))
    return multiplier, shift, -math.floor((2**_INTEGER_BITS - 1) * 2.0 ** (31 - _INTEGER_BITS) / 2.0**shift)


@lowers(torch.ops.aten._softmax.default, torch.ops.aten.softmax.int)
def lower_softmax(lowering: Lowering, node: Node) -> None:
    x, source = lowering.quantized_input(node, 0)
    result = lowering.quantized_output(node)
    rank = x.meta["val"].dim()
    if rank == 0 or not 0 < x.meta["val"].shape[node.args[1]] <= _LONGEST_ROW:
        raise Refusal(f"softmax is lowered over 1 to {_LONGEST_ROW} elements")
    parameters = softmax_parameters(source.scale)
    call = lowering.emit(
        "cortex_m::softmax", (x, node.args[1] % rank, source.zero_point, _OUTPUT.zero_point, *parameters), node
    )
    value = emit_requantize(lowering.editor, call, _OUTPUT, result.params, node, node, result.low, result.high)
    lowering.replace(result, value)
