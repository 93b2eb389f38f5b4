"""Ops that move data and compute nothing: the table of their rules, and the ops that the rules are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node
from torch.fx.node import map_arg

from cortex_m.passes.graph_editor import GraphEditor, edge_op
from cortex_m.passes.qparams import QParams, torch_op

aten = torch.ops.aten

_TRANSPOSE_RANK = 4  # of cortex_m.transpose
_PAD_RANK = 4  # of cortex_m.pad


@dataclass(frozen=True)
class Move:
    """A float op that is to be rebuilt on int8.

    node: the float op. values: the int8 tensors that stand for its operands, all with the parameters `params`.
    before: where new nodes go.
    """

    editor: GraphEditor
    node: Node
    values: tuple[Node, ...]
    params: QParams
    before: Node

    @property
    def value(self) -> Node:
        """The int8 tensor that stands for the first operand."""
        return self.values[0]

    def again(self) -> Node:
        """The same op with the same arguments, but on the int8 values."""
        stand_ins = dict(zip(operands(self.node), self.values))
        args, kwargs = (
            map_arg(part, lambda arg: stand_ins.get(arg, arg)) for part in (self.node.args, self.node.kwargs)
        )
        return self.editor.call_target(self.node.target, args, self.before, self.node, kwargs)


# The int8 node, or None where int8 cannot give the same.
Rule = Callable[[Move], Node | None]


@dataclass(frozen=True)
class Movement:
    """How an op is rebuilt, and which of its arguments are moved: positions of tensors or lists of tensors."""

    rule: Rule
    positions: tuple[int, ...]

    def operands(self, node: Node) -> list[Any]:
        found: list[Any] = []
        for position in self.positions:
            argument = node.args[position]
            found.extend(argument if isinstance(argument, (list, tuple)) else [argument])
        return list(dict.fromkeys(found))


# move(dequantize(x)) is dequantize(move(x)), and quantize(move(y)) is move(quantize(y)).
MOVEMENTS: dict[torch._ops.OpOverload, Movement] = {}
# read(dequantize(x)) is read(x): what comes out is no quantity of x's kind, but an index or a truth value.
READS: dict[torch._ops.OpOverload, Movement] = {}


def movement(*targets: torch._ops.OpOverload, operands: Sequence[int] = (0,)) -> Callable[[Rule], Rule]:
    """Registers the decorated rule for overloads that move the values of their operands."""
    return _registers(MOVEMENTS, targets, operands)


def read(*targets: torch._ops.OpOverload, operands: Sequence[int] = (0,)) -> Callable[[Rule], Rule]:
    """Registers the decorated rule for overloads whose result depends on the order of values alone."""
    return _registers(READS, targets, operands)


def _registers(
    table: dict, targets: Sequence[torch._ops.OpOverload], positions: Sequence[int]
) -> Callable[[Rule], Rule]:
    def add(rule: Rule) -> Rule:
        for target in targets:
            if target in table:
                raise ValueError(f"{target} has two rules")
            table[target] = Movement(rule, tuple(positions))
        return rule

    return add


def operands(node: Node) -> list[Any]:
    """The tensors whose values `node` moves or reads, once each."""
    op = torch_op(node)
    return (MOVEMENTS.get(op) or READS[op]).operands(node)


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
    """`value` with its dimensions in another order, by as little as does it.

    Nothing for the identity, a view where only dimensions of size 1 change places, cortex_m.transpose where at most four
    groups of dimensions move, each as one, else aten.permute_copy.
    """
    shape = list(value.meta["val"].shape)
    if perm == list(range(len(perm))):
        return value
    moving = [dim for dim in perm if shape[dim] != 1]
    if moving == sorted(moving):
        return emit_view(editor, value, [shape[dim] for dim in perm], before, origin)
    if len(shape) <= _TRANSPOSE_RANK:
        return editor.call("cortex_m::transpose", (value, perm), before, origin)
    groups: list[list[int]] = []  # neighbours before and after, in their new order
    for dim in moving:
        follows = groups and not any(shape[other] != 1 for other in range(groups[-1][-1] + 1, dim))
        if follows and dim > groups[-1][-1]:
            groups[-1].append(dim)
        else:
            groups.append([dim])
    if len(groups) > _TRANSPOSE_RANK:
        return editor.call("aten::permute_copy", (value, perm), before, origin)
    order = sorted(range(len(groups)), key=lambda index: groups[index][0])
    merged = emit_view(
        editor, value, [math.prod(shape[dim] for dim in groups[index]) for index in order], before, origin
    )
    turned = [order.index(index) for index in range(len(groups))]
    merged = editor.call("cortex_m::transpose", (merged, turned), before, origin)
    return emit_view(editor, merged, [shape[dim] for dim in perm], before, origin)


def emit_pad(editor: GraphEditor, value: Node, pairs: list[int], fill: int, before: Node, origin: Node) -> Node:
    """`value` padded by torch's pairs (last dimension first, before and after); a negative amount crops.

    cortex_m.pad up to rank 4, else aten.constant_pad_nd. Counts are in logical order here; the layout pass turns them where
    it changes the order of memory.
    """
    rank = value.meta["val"].dim()
    for index in range(len(pairs) // 2):
        dim = rank - 1 - index
        first, last = (max(-amount, 0) for amount in pairs[2 * index : 2 * index + 2])
        value = emit_slice(editor, value, dim, first, value.meta["val"].shape[dim] - last, before, origin)
    pairs = [max(amount, 0) for amount in pairs]
    if not any(pairs):
        return value
    if rank > _PAD_RANK:
        return editor.call("aten::constant_pad_nd", (value, pairs, fill), before, origin)
    pre, post = [0] * _PAD_RANK, [0] * _PAD_RANK
    for index in range(len(pairs) // 2):
        pre[_PAD_RANK - 1 - index], post[_PAD_RANK - 1 - index] = pairs[2 * index], pairs[2 * index + 1]
    node = editor.call("cortex_m::pad", (value, pre, post, fill), before, origin)
    shape = value.meta["val"].shape
    offset = _PAD_RANK - rank
    node.meta["val"] = node.meta["val"].new_empty(
        [size + pre[offset + dim] + post[offset + dim] for dim, size in enumerate(shape)]
    )
    return node


def emit_index_select(
    editor: GraphEditor, value: Node, dim: int, positions: Sequence[int], before: Node, origin: Node
) -> Node:
    """`value` at `positions` along `dim`: nothing where that is all of it in order, a slice where it is a run of it."""
    positions = [int(position) for position in positions]
    size = value.meta["val"].shape[dim]
    if positions == list(range(size)):
        return value
    if positions and positions == list(range(positions[0], positions[-1] + 1)):
        return emit_slice(editor, value, dim, positions[0], positions[-1] + 1, before, origin)
    index = editor.constant(torch.tensor(positions, dtype=torch.int32), f"{origin.name}_positions")
    return editor.call("aten::index_select", (value, dim, index), before, origin)


def emit_slice(editor: GraphEditor, value: Node, dim: int, start: int, end: int, before: Node, origin: Node) -> Node:
    """value[start:end] along `dim`; `value` itself where that is all of it."""
    if start == 0 and end == value.meta["val"].shape[dim]:
        return value
    return editor.call_target(edge_op("aten::slice_copy", "Tensor"), (value, dim, start, end), before, origin)
