"""aten.minimum and aten.maximum of two int8 tensors: of the stored values, once both have the parameters of the output."""

import torch
from torch.fx import Node

from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.registry import lowers
from cortex_m.passes.lowering.requantize import emit_requantize
from cortex_m.passes.lowering.table import emit_clamp
from cortex_m.passes.qparams import torch_op

_NAMES = {
    torch.ops.aten.minimum.default: "cortex_m::minimum",
    torch.ops.aten.maximum.default: "cortex_m::maximum",
}


@lowers(*_NAMES)
def lower_extremum(lowering: Lowering, node: Node) -> None:
    operands = [lowering.quantized_input(node, index) for index in (0, 1)]
    result = lowering.quantized_output(node)
    same = [emit_requantize(lowering.editor, *operand, result.params, node, node) for operand in operands]
    call = lowering.emit(_NAMES[torch_op(node)], tuple(same), node)
    lowering.replace(result, emit_clamp(lowering.editor, call, *result.bounds, node))
