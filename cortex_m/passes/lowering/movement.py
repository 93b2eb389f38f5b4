"""Ops that move data and compute nothing: what each becomes on int8."""

from typing import Callable, Optional

import torch
from torch.fx import Node

from cortex_m.passes.graph_editor import GraphEditor, edge_op
from cortex_m.passes.qparams import QParams, torch_op

aten = torch.ops.aten

# (editor, float node, int8 input, its parameters, insertion point) -> int8 node, or None where int8 cannot give the same.
Movement = Callable[[GraphEditor, Node, Node, QParams, Node], Optional[Node]]

MOVEMENTS: dict[torch._ops.OpOverload, Movement] = {}


def movement(*targets: torch._ops.OpOverload) -> Callable[[Movement], Movement]:
    """Registers the decorated function for the given overloads."""

    def add(function: Movement) -> Movement:
        MOVEMENTS.update(dict.fromkeys(targets, function))
        return function

    return add


def rebuild_movement(
    editor: GraphEditor, node: Node, value: Node, params: QParams, before: Node
) -> Optional[Node]:
    """The movement `node` applied to the int8 `value`, inserted ahead of `before`."""
    return MOVEMENTS[torch_op(node)](editor, node, value, params, before)


@movement(
    aten.alias_copy.default,
    aten.clone.default,
    aten.detach_copy.default,
    aten.lift_fresh_copy.default,
    torch.ops.dim_order_ops._clone_dim_order.default,
)
def _copy(editor: GraphEditor, node: Node, value: Node, params: QParams, before: Node) -> Optional[Node]:
    return value  # dim orders are the layout pass's concern


@movement(
    aten.view_copy.default,
    aten._unsafe_view.default,
    aten.squeeze_copy.dim,
    aten.squeeze_copy.dims,
    aten.squeeze_copy.default,
    aten.unsqueeze_copy.default,
)
def _view(editor: GraphEditor, node: Node, value: Node, params: QParams, before: Node) -> Optional[Node]:
    return emit_view(editor, value, list(node.meta["val"].shape), before, node)


@movement(aten.permute_copy.default)
def _permute(editor: GraphEditor, node: Node, value: Node, params: QParams, before: Node) -> Optional[Node]:
    rank = value.meta["val"].dim()
    return emit_transpose(editor, value, [dim % rank for dim in node.args[1]], before, node)


@movement(aten.transpose_copy.int)
def _transpose(editor: GraphEditor, node: Node, value: Node, params: QParams, before: Node) -> Optional[Node]:
    perm = list(range(value.meta["val"].dim()))
    first, second = node.args[1], node.args[2]
    perm[first], perm[second] = perm[second], perm[first]
    return emit_transpose(editor, value, perm, before, node)


@movement(aten.constant_pad_nd.default)
def _pad(editor: GraphEditor, node: Node, value: Node, params: QParams, before: Node) -> Optional[Node]:
    fill = float(node.args[2]) if len(node.args) > 2 else 0.0
    if not params.holds_exactly(fill):
        return None
    return emit_pad(editor, value, list(node.args[1]), params.quantize(fill), before, node)


def emit_view(editor: GraphEditor, value: Node, shape: list[int], before: Node, origin: Node) -> Node:
    """`value` with another shape. As this dialect has logical shapes only, the layout pass sees to its memory order."""
    fake = value.meta["val"]
    if list(fake.shape) == list(shape):
        return value
    if torch_op(value) == aten.view_copy.default:
        return emit_view(editor, value.args[0], shape, before, origin)
    with editor.graph.inserting_before(before):
        node = editor.graph.call_function(edge_op("aten::view_copy"), (value, [int(size) for size in shape]))
    node.meta.update({key: item for key, item in origin.meta.items() if key in ("stack_trace", "nn_module_stack")})
    node.meta["val"] = fake.new_empty([int(size) for size in shape])
    return node


def emit_transpose(editor: GraphEditor, value: Node, perm: list[int], before: Node, origin: Node) -> Node:
    """cortex_m.transpose, or less: nothing for the identity, a view where only dimensions of size 1 change places."""
    shape = value.meta["val"].shape
    if perm == list(range(len(perm))):
        return value
    moving = [dim for dim in perm if shape[dim] != 1]
    if moving == sorted(moving):
        return emit_view(editor, value, [shape[dim] for dim in perm], before, origin)
    return editor.call("cortex_m::transpose", (value, perm), before, origin)


def emit_pad(editor: GraphEditor, value: Node, pairs: list[int], fill: int, before: Node, origin: Node) -> Optional[Node]:
    """cortex_m.pad by torch's pairs (last dimension first, before and after); None for cropping or a rank above 4.

    Counts are in logical order here; the layout pass turns them where it changes the order of memory.
    """
    rank = value.meta["val"].dim()
    if rank > 4 or min(pairs, default=0) < 0:
        return None
    pre, post = [0] * 4, [0] * 4
    for index in range(len(pairs) // 2):
        pre[3 - index], post[3 - index] = pairs[2 * index], pairs[2 * index + 1]
    if not any(pre) and not any(post):
        return value
    node = editor.call("cortex_m::pad", (value, pre, post, fill), before, origin)
    shape = value.meta["val"].shape
    node.meta["val"] = node.meta["val"].new_empty(
        [size + pre[4 - rank + dim] + post[4 - rank + dim] for dim, size in enumerate(shape)]
    )
    return node
