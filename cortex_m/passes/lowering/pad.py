"""aten.constant_pad_nd with a quantized output: pad, whatever the value."""

import torch
from torch.fx import Node

from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.movement import emit_pad
from cortex_m.passes.lowering.registry import lowers
from cortex_m.passes.lowering.requantize import emit_requantize


@lowers(torch.ops.aten.constant_pad_nd.default)
def lower_pad(lowering: Lowering, node: Node) -> None:
    x, source = lowering.quantized_input(node, 0)
    result = lowering.quantized_output(node)
    pairs = [int(amount) for amount in node.args[1]]
    x = emit_requantize(lowering.editor, x, source, result.params, node, node, result.low, result.high)
    fill = min(max(float(node.args[2]) if len(node.args) > 2 else 0.0, result.low), result.high)
    lowering.replace(result, emit_pad(lowering.editor, x, pairs, result.params.quantize(fill), node, node))
