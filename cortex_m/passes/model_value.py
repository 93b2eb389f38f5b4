"""Which value of the float model a node of the lowered graph stands for: what layers are compared by.

A pass that puts a node in the place of another says so (`GraphEditor.replace`); that is all there is to know. A quantize node
stands for the float value that goes into it, whatever replaces it stands for the same, and a dequantize node in the place
of a float op says what its int8 operand is. The note travels in `node.meta`, on quantized nodes alone: a float node's own
history (`from_node`) names its value. Layout is not noted: the NHWC twin of an image stands for the same value.
"""

from dataclasses import dataclass

import torch
from torch.fx import Node

from cortex_m.passes.qparams import dequantize_params, quantize_params, torch_op

_KEY = "model_value"
# Their value is that of their operand, in another order, type or shape.
_SAME_VALUE = {
    "cortex_m::transpose",
    "cortex_m::dequantize_per_tensor",
    "cortex_m::dequantize_from_nhwc",
    "aten::view_copy",
    "dim_order_ops::_clone_dim_order",
    "dim_order_ops::_to_dim_order_copy",
}


@dataclass(frozen=True)
class ModelValue:
    """`node` of the prepared float graph; real = (stored - zero_point) * scale, or stored itself where scale is None."""

    node: str
    scale: float | None = None
    zero_point: int | None = None


def float_name(node: Node) -> str:
    """Name that the value of a float node had in the graph that was captured from the module."""
    history = node.meta.get("from_node")
    name = node.name
    while history:
        name, history = history[0].name, history[0].from_node
    return name


def note_replacement(old: Node, new: Node) -> None:
    """Readers of `old` are about to read `new`."""
    quantize, dequantize = quantize_params(old), dequantize_params(new)
    if quantize is not None:
        new.meta[_KEY] = ModelValue(float_name(old.args[0]), quantize.scale, quantize.zero_point)
    elif _KEY in old.meta:
        new.meta[_KEY] = old.meta[_KEY]
    elif dequantize is not None and isinstance(new.args[0], Node):
        new = new.args[0]
        new.meta[_KEY] = ModelValue(float_name(old), dequantize.scale, dequantize.zero_point)
    while _KEY in new.meta and torch_op(new) == torch.ops.aten.view_copy.default and isinstance(new.args[0], Node):
        new.args[0].meta.setdefault(_KEY, new.meta[_KEY])  # the same bytes
        new = new.args[0]


def note_made_for(origin: Node, new: Node) -> None:
    """`new` was made for the quantized node `origin`, most often as its form in another layout."""
    before, after = (node.meta.get("val") for node in (origin, new))
    if _KEY not in origin.meta or not isinstance(before, torch.Tensor) or not isinstance(after, torch.Tensor):
        return
    if (before.dtype, before.numel()) == (after.dtype, after.numel()):
        new.meta[_KEY] = origin.meta[_KEY]


def note_same(node: Node, twin: Node) -> None:
    """`twin` holds what `node` holds, and nothing else that was noted of it is true."""
    twin.meta.pop(_KEY, None)
    if _KEY in node.meta:
        twin.meta[_KEY] = node.meta[_KEY]


def model_value(node: Node) -> ModelValue | None:
    """What a call of the final graph stands for; None where it is nothing that the float model has."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return None
    op = torch_op(node)
    if _KEY not in node.meta and op is not None and op._schema.name in _SAME_VALUE and isinstance(node.args[0], Node):
        source = model_value(node.args[0])
        is_real = value.is_floating_point()
        return ModelValue(source.node) if source is not None and is_real else source
    if _KEY in node.meta:
        return node.meta[_KEY]
    return ModelValue(float_name(node)) if value.is_floating_point() else None
