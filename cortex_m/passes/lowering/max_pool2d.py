"""aten.max_pool2d, and max_pool2d_with_indices where the indices have no reader: quantized_max_pool2d."""

import operator

import torch
from torch.fx import Node

from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.movement import emit_view
from cortex_m.passes.lowering.registry import Refusal, lowers
from cortex_m.passes.lowering.requantize import emit_requantize

aten = torch.ops.aten


def _pair(values) -> list[int]:
    values = [values] if isinstance(values, int) else [int(value) for value in values]
    return [values[0], values[-1]]


@lowers(aten.max_pool2d.default, aten.max_pool2d_with_indices.default)
def lower_max_pool2d(lowering: Lowering, node: Node) -> None:
    names = [argument.name for argument in aten.max_pool2d.default._schema.arguments]
    given = dict(zip(names, node.args)) | node.kwargs
    x, source = lowering.quantized_input(node, 0)
    value = _only_values(node)
    result = lowering.quantized_output(value)
    shape = list(x.meta["val"].shape)
    if len(shape) not in (3, 4):
        raise Refusal(f"only pooling of rank-3 and rank-4 tensors is lowered; its input has rank {len(shape)}")
    kernel = _pair(given["kernel_size"])
    stride = _pair(given["stride"]) if given.get("stride") else kernel
    if len(shape) == 3:  # no batch
        x = emit_view(lowering.editor, x, [1, *shape], node, node)
    same = (source.scale, source.zero_point) == (result.params.scale, result.params.zero_point)
    pooled = lowering.emit(
        "cortex_m::quantized_max_pool2d",
        (
            x, kernel, stride, _pair(given.get("padding", 0)), _pair(given.get("dilation", 1)),
            bool(given.get("ceil_mode", False)), source.zero_point, source.zero_point,
            *(result.bounds if same else (source.quant_min, source.quant_max)),
        ),
        node,
    )  # fmt: skip
    if not same:
        pooled = emit_requantize(lowering.editor, pooled, source, result.params, node, node, result.low, result.high)
    lowering.replace(result, emit_view(lowering.editor, pooled, list(value.meta["val"].shape), node, node))


def _only_values(node: Node) -> Node:
    """The node that is the maximum itself."""
    if not isinstance(node.meta["val"], (tuple, list)):
        return node
    items = list(node.users)
    if any(item.target is operator.getitem and item.args[1] == 1 and item.users for item in items):
        raise Refusal("the indices of its maxima are read; there is an int8 operator for the maxima alone")
    values = [item for item in items if item.target is operator.getitem and item.args[1] == 0]
    if len(values) != 1:
        raise Refusal("its maxima have no single reader")
    return values[0]
