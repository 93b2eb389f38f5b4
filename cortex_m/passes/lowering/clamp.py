"""A clamp with its own quantized input and output: bounds of the op before it, or a requantization with bounds."""

from torch.fx import Node

from cortex_m.passes.lowering.clamps import CLAMPS, clamp_bounds
from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.registry import lowers
from cortex_m.passes.lowering.requantize import emit_requantize


@lowers(*CLAMPS)
def lower_clamp(lowering: Lowering, node: Node) -> None:
    x, source = lowering.quantized_input(node, 0)
    result = lowering.quantized_output(node)
    bounds = clamp_bounds(node)
    assert bounds is not None, f"{node.name} is no clamp"
    low, high = (min(max(bound, result.low), result.high) for bound in bounds)
    value = emit_requantize(lowering.editor, x, source, result.params, node, node, low, high)
    lowering.replace(result, value)
