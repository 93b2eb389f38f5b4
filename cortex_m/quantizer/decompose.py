"""Operators with several results, and a few written for convenience, become the plain movements that the pattern table knows.

split, chunk, unbind, tensor_split  ->  a slice or select for each part that is read
max and min along a dim             ->  amax or amin for the values, argmax or argmin for the indices
pad with mode "circular"            ->  a cat of slices
expand_as, view_as                  ->  expand, reshape
glu                                 ->  one half times the sigmoid of the other
log_softmax of up to 128 values     ->  x - (max x - log max softmax x)
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Node

from cortex_m.quantizer.match import argument, fake

aten = torch.ops.aten

_PARTS = (
    aten.split.Tensor,
    aten.split.sizes,
    aten.split_with_sizes.default,
    aten.chunk.default,
    aten.tensor_split.sections,
    aten.tensor_split.indices,
    aten.unsafe_split.Tensor,
    aten.unsafe_chunk.default,
)
_PARTS_OF_DIM = {
    aten.hsplit.int: 1,
    aten.hsplit.array: 1,
    aten.vsplit.int: 0,
    aten.vsplit.array: 0,
    aten.dsplit.int: 2,
    aten.dsplit.array: 2,
}
_EXTREMA = {
    aten.max.dim: (aten.amax.default, aten.argmax.default),
    aten.min.dim: (aten.amin.default, aten.argmin.default),
}


_LOG_SOFTMAX = (aten.log_softmax.int, aten._log_softmax.default)
# The largest of n probabilities is 1/n or more, of which int8 has steps of 1/256: the logarithm is off by n/512 at most.
LONGEST_LOG_SOFTMAX = 128


def decompose(model: GraphModule) -> None:
    """Does all of the above in place, where shapes are static; what the model computes stays the same."""
    for node in list(model.graph.nodes):
        if node.op != "call_function" or not node.args or not isinstance(node.args[0], Node):
            continue
        source = fake(node.args[0])
        if source is None or any(not isinstance(size, int) for size in source.shape):
            continue
        if node.target in _PARTS or node.target in _PARTS_OF_DIM or node.target is aten.unbind.int:
            _replace_results(model, node, _part)
        elif node.target in _EXTREMA:
            _replace_results(model, node, _extremum)
        elif node.target is aten.pad.default and argument(node, 2) == "circular":
            _replace(model, node, _circular(model, node))
        elif node.target is aten.glu.default:
            _replace(model, node, _glu(model, node))
        elif node.target in _LOG_SOFTMAX and fake(node).dim() > 0:
            if fake(node).shape[node.args[1]] <= LONGEST_LOG_SOFTMAX and fake(node).dtype == source.dtype:
                _replace(model, node, _log_softmax(model, node))
        elif node.target is aten.expand_as.default:
            _replace(model, node, _insert(model, node, aten.expand.default, node.args[0], list(fake(node).shape)))
        elif node.target is aten.view_as.default:
            _replace(model, node, _insert(model, node, aten.reshape.default, node.args[0], list(fake(node).shape)))


def _insert(model: GraphModule, node: Node, target: OpOverload, *args: Any) -> Node:
    """A call of `target` ahead of `node`, from the same line of the user's model."""
    with model.graph.inserting_before(node):
        call = model.graph.call_function(target, args)
    call.meta = {key: value for key, value in node.meta.items() if key not in ("val", "tensor_meta")}
    with torch.no_grad():
        call.meta["val"] = target(*torch.fx.node.map_arg(args, lambda arg: arg.meta["val"]))
    return call


def _replace(model: GraphModule, node: Node, value: Node) -> None:
    node.replace_all_uses_with(value)
    model.graph.erase_node(node)


def _replace_results(model: GraphModule, node: Node, result) -> None:
    if any(user.target is not operator.getitem for user in node.users):
        return
    for item in list(node.users):
        if item.users:
            item.replace_all_uses_with(result(model, node, item.args[1]))
        model.graph.erase_node(item)
    model.graph.erase_node(node)


def _dim(node: Node) -> int:
    names = [parameter.name for parameter in node.target._schema.arguments]
    rank = fake(node.args[0]).dim()
    dim = argument(node, names.index("dim")) if "dim" in names else _PARTS_OF_DIM[node.target] if rank > 1 else 0
    return dim % max(rank, 1)


def _part(model: GraphModule, node: Node, index: int) -> Node:
    dim, parts = _dim(node), node.meta["val"]
    index %= len(parts)
    if node.target is aten.unbind.int:
        return _insert(model, node, aten.select.int, node.args[0], dim, index)
    start = sum(part.shape[dim] for part in parts[:index])
    return _insert(model, node, aten.slice.Tensor, node.args[0], dim, start, start + parts[index].shape[dim])


def _glu(model: GraphModule, node: Node) -> Node:
    dim = argument(node, 1)
    half = fake(node).shape[dim]
    value, gate = (
        _insert(model, node, aten.slice.Tensor, node.args[0], dim, start, start + half) for start in (0, half)
    )
    return _insert(model, node, aten.mul.Tensor, value, _insert(model, node, aten.sigmoid.default, gate))


def _log_softmax(model: GraphModule, node: Node) -> Node:
    """The normalizer of a row by its largest value alone, whose probability is what int8 has the most steps for."""
    value, dim = node.args[:2]
    largest = _insert(model, node, aten.amax.default, value, [dim], True)
    probabilities = _insert(model, node, aten.softmax.int, value, dim)
    share = _insert(model, node, aten.log.default, _insert(model, node, aten.amax.default, probabilities, [dim], True))
    return _insert(model, node, aten.sub.Tensor, value, _insert(model, node, aten.sub.Tensor, largest, share))


def _extremum(model: GraphModule, node: Node, index: int) -> Node:
    dim = _dim(node)
    return _insert(
        model, node, _EXTREMA[node.target][index], node.args[0], dim if index else [dim], bool(argument(node, 2))
    )


def _circular(model: GraphModule, node: Node) -> Node:
    value, amounts = node.args[0], node.args[1]
    for pair in range(len(amounts) // 2):
        dim = fake(value).dim() - 1 - pair
        before, after = amounts[2 * pair : 2 * pair + 2]
        size = fake(value).shape[dim]

        def piece(start: int, end: int) -> Node:
            return _insert(model, node, aten.slice.Tensor, value, dim, start, end)

        pieces = [piece(size - before, size)] if before > 0 else []
        cropped = before < 0 or after < 0
        pieces.append(piece(max(-before, 0), size - max(-after, 0)) if cropped else value)
        pieces += [piece(0, after)] if after > 0 else []
        if len(pieces) > 1 or cropped:
            value = _insert(model, node, aten.cat.default, pieces, dim)
    return value
