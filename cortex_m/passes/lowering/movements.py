"""The rules of the ops that move data, and of those that only compare values of one scale."""

from __future__ import annotations

from itertools import product
from typing import Any

import torch
from torch.fx import Node

from cortex_m.passes.graph_editor import edge_op
from cortex_m.passes.lowering.movement import (
    Move,
    emit_index_select,
    emit_pad,
    emit_slice,
    emit_transpose,
    emit_view,
    movement,
    operands,
    read,
)
from cortex_m.passes.qparams import torch_op

aten = torch.ops.aten

_MINIMUM_RANK = 4  # of cortex_m.minimum


@movement(
    aten.alias_copy.default,
    aten.clone.default,
    aten.detach_copy.default,
    aten.lift_fresh_copy.default,
    torch.ops.dim_order_ops._clone_dim_order.default,
)
def _copy(move: Move) -> Node | None:
    return move.value  # dim orders are the layout pass's concern


@movement(
    aten.view_copy.default,
    aten._unsafe_view.default,
    aten.squeeze_copy.dim,
    aten.squeeze_copy.dims,
    aten.squeeze_copy.default,
    aten.unsqueeze_copy.default,
)
def _view(move: Move) -> Node | None:
    return emit_view(move.editor, move.value, list(move.node.meta["val"].shape), move.before, move.node)


@movement(aten.permute_copy.default)
def _permute(move: Move) -> Node | None:
    rank = move.value.meta["val"].dim()
    return emit_transpose(move.editor, move.value, [dim % rank for dim in move.node.args[1]], move.before, move.node)


@movement(aten.transpose_copy.int, aten.t_copy.default)
def _transpose(move: Move) -> Node | None:
    perm = list(range(move.value.meta["val"].dim()))
    if perm:
        first, second = move.node.args[1:3] if len(move.node.args) > 1 else (0, -1)
        perm[first], perm[second] = perm[second], perm[first]
    return emit_transpose(move.editor, move.value, perm, move.before, move.node)


@movement(aten.constant_pad_nd.default)
def _pad(move: Move) -> Node | None:
    fill = float(move.node.args[2]) if len(move.node.args) > 2 else 0.0
    if not move.params.holds_exactly(fill):
        return None
    pairs = [int(amount) for amount in move.node.args[1]]
    return emit_pad(move.editor, move.value, pairs, move.params.quantize(fill), move.before, move.node)


# These take int8 as they are. Their portable kernels copy runs of elements.
@movement(
    aten.slice_copy.Tensor,
    aten.select_copy.int,
    aten.narrow_copy.default,
    aten.expand_copy.default,
    aten.repeat.default,
    aten.flip.default,
    aten.roll.default,
    aten.index_select.default,
    aten.gather.default,
    aten.pixel_shuffle.default,
    aten.pixel_unshuffle.default,
    aten.channel_shuffle.default,
    aten.reflection_pad1d.default,
    aten.reflection_pad2d.default,
    aten.reflection_pad3d.default,
    aten.replication_pad1d.default,
    aten.replication_pad2d.default,
    aten.replication_pad3d.default,
    aten.diagonal_copy.default,
    aten.unfold_copy.default,
    # Of the largest or smallest value: quantizing and dequantizing keep the order of values.
    aten.amax.default,
    aten.amin.default,
    aten.max.default,
    aten.min.default,
)
def _again(move: Move) -> Node | None:
    return move.again()


movement(aten.cat.default, aten.stack.default)(_again)


@movement(aten.where.self, operands=(1, 2))
def _where(move: Move) -> Node | None:
    """A constant condition that puts the lowest value in: the minimum with a constant of lowest and highest values."""
    condition = move.editor.constant_value(move.node.args[0])
    stand_ins = dict(zip(operands(move.node), move.values))
    yes, no = (stand_ins[argument] for argument in move.node.args[1:3])
    if condition is not None:
        for fill, kept, hidden in ((yes, no, condition), (no, yes, ~condition)):
            lowest = move.editor.constant_value(fill)
            fits = kept.meta["val"].shape == move.node.meta["val"].shape and hidden.dim() <= _MINIMUM_RANK
            if fits and lowest is not None and bool((lowest == -128).all()):
                bound = torch.where(hidden, -128, 127).to(torch.int8)
                constant = move.editor.constant(bound, f"{move.node.name}_mask")
                return move.editor.call("cortex_m::minimum", (kept, constant), move.before, move.node)
    return move.again()


movement(aten.slice_scatter.default, aten.select_scatter.default, operands=(0, 1))(_again)


@movement(aten.index_put.default, operands=(0, 2))
def _index_put(move: Move) -> Node | None:
    adds = len(move.node.args) > 3 and move.node.args[3]
    return None if adds else move.again()  # a sum of integers is not the integer of the sum


read(aten.argmax.default, aten.argmin.default)(_again)


@movement(aten.upsample_nearest2d.vec)
def _upsample(move: Move) -> Node | None:
    """Rows and columns by their positions, which the op itself tells: it is run on an image of positions."""
    value = move.value
    for dim in (3, 2):  # the columns first: there are fewer rows of them
        size = value.meta["val"].shape[dim]
        ramp = torch.arange(size, dtype=torch.float32).reshape([size if other == dim else 1 for other in range(4)])
        ramp = ramp.expand(1, 1, *move.value.meta["val"].shape[2:])
        at: list[Any] = [0, 0, 0, 0]
        at[dim] = slice(None)
        positions = torch_op(move.node)(ramp, *move.node.args[1:], **move.node.kwargs)[tuple(at)]
        value = emit_index_select(move.editor, value, dim, positions.tolist(), move.before, move.node)
    return value


@movement(aten.index.Tensor)
def _index(move: Move) -> Node | None:
    """Constant indices that each move along a dimension of their own pick along one dimension after the other."""
    if any(len(node.meta["val"].shape) == 0 for node in move.node.args[1] if node is not None):
        return move.again()
    picks = _separate_picks(move)
    if picks is None:
        return move.again()
    value = move.value
    for dim, positions in sorted(picks.items(), reverse=True):
        value = emit_index_select(move.editor, value, dim, positions, move.before, move.node)
    return value


def _separate_picks(move: Move) -> dict[int, list[int]] | None:
    """Positions by dimension if the indices form a grid over neighbouring dimensions, the n-th varying in its n-th alone."""
    indices = [(dim, node) for dim, node in enumerate(move.node.args[1]) if node is not None]
    dims = [dim for dim, _ in indices]
    values: list[Any] = [move.editor.constant_value(node) for _, node in indices]
    if any(value is None or value.dtype not in (torch.int32, torch.int64) for value in values):
        return None
    rank = max(value.dim() for value in values)
    if rank != len(values) or dims != list(range(dims[0], dims[0] + rank)):
        return None
    picks = {}
    for place, (dim, value) in enumerate(zip(dims, values)):
        shape = [1] * (rank - value.dim()) + list(value.shape)
        if any(size != 1 for other, size in enumerate(shape) if other != place):
            return None
        size = move.value.meta["val"].shape[dim]
        picks[dim] = [position % size for position in value.flatten().tolist()]
    return picks


_COMPARISONS = (aten.gt.Scalar, aten.ge.Scalar, aten.lt.Scalar, aten.le.Scalar, aten.eq.Scalar, aten.ne.Scalar)


@read(*_COMPARISONS)
def _compare(move: Move) -> Node | None:
    """The comparison with an integer that is true for the same stored integers as the float one.

    There is one for every order of values, since a scale is positive; all 256 cases are tried.
    """
    op, params = torch_op(move.node), move.params
    stored = torch.arange(-128, 128)
    real = torch.ops.quantized_decomposed.dequantize_per_tensor(stored.to(torch.int8), *params.args())
    truth = op(real, *move.node.args[1:], **move.node.kwargs)
    for candidate, bound in product((op, *_COMPARISONS), range(-128, 128)):
        if torch.equal(candidate(stored, bound), truth):
            target = edge_op(candidate._schema.name, candidate._overloadname)
            return move.editor.call_target(target, (move.value, bound), move.before, move.node)
    return None


read(aten.gt.Tensor, aten.ge.Tensor, aten.lt.Tensor, aten.le.Tensor, aten.eq.Tensor, aten.ne.Tensor, operands=(0, 1))(
    _again
)


# Ops with several results, each of which is a movement of its own: the parts that nobody reads are not made.

_PARTS = (aten.split_with_sizes_copy.default, aten.split_copy.Tensor, aten.unbind_copy.int)
_EXTREMA = {
    aten.max.dim: ("aten::amax", "aten::argmax"),
    aten.min.dim: ("aten::amin", "aten::argmin"),
}
MULTIPLE = (*_PARTS, *_EXTREMA)


def rebuild_result(move: Move, index: int) -> tuple[Node, bool]:
    """Result `index` of an op of MULTIPLE on int8, and whether it is a tensor of the operand's kind."""
    op, node, editor = torch_op(move.node), move.node, move.editor
    results = node.meta["val"]
    arguments = dict(zip((argument.name for argument in op._schema.arguments), node.args)) | node.kwargs
    dim = arguments.get("dim", 0) % max(1, move.value.meta["val"].dim())
    if op in _EXTREMA:
        name, keepdim = _EXTREMA[op][index], arguments.get("keepdim", False)
        dims = [dim] if index == 0 else dim
        return editor.call(name, (move.value, dims, keepdim), move.before, node), index == 0
    if op == aten.unbind_copy.int:
        return editor.call_target(
            edge_op("aten::select_copy", "int"), (move.value, dim, index), move.before, node
        ), True
    start = sum(result.shape[dim] for result in results[:index])
    return emit_slice(editor, move.value, dim, start, start + results[index].shape[dim], move.before, node), True
