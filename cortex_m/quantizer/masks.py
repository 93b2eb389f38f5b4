"""Masks before a softmax, in one form: masked_fill(scores, mask, -inf) right ahead of it.

    scores + mask                     with a mask of zeros and -inf (or -1e9) that is constant or filled in; what is finite
                                      stays a sum
    scores.masked_fill(mask, -inf)    and where(mask, scores, -inf), with a constant mask or one that is computed

What a mask lets through sets the range of the int8 scores. Their lowest value is as far below it as makes exp vanish beside
what is let through, and stands for minus infinity: a masked probability is exactly 0.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Node

from cortex_m.quantizer.editing import attribute, insert_call, insert_constant
from cortex_m.quantizer.match import argument, fake
from cortex_m.quantizer.report import source_location

aten = torch.ops.aten

# exp of this and less is below the smallest normal float32: beside scores of ordinary size a probability of 0.
MASKED = -87.0

_FILLS = {
    aten.zeros_like.default: 0,
    aten.new_zeros.default: 0,
    aten.ones_like.default: 1,
    aten.new_ones.default: 1,
}
_MOVES = (
    aten.view.default,
    aten.reshape.default,
    aten.expand.default,
    aten.unsqueeze.default,
    aten.squeeze.dim,
    aten.transpose.int,
    aten.permute.default,
    aten.select.int,
    aten.slice.Tensor,
    aten.contiguous.default,
)
_SOFTMAX = (aten.softmax.int, aten._softmax.default)


def headroom(length: int) -> float:
    """How far below the lowest score minus infinity lies in a softmax over `length` values.

    Its exponential is 1/512 of what the largest of them contributes, all `length` together: half a step of the result.
    """
    return math.log(512.0 * max(length, 1)) + 1e-3


def make_masks_canonical(model: GraphModule) -> None:
    """Does the above in place. ValueError for a constant mask with a row that lets nothing through."""
    for softmax in list(model.graph.nodes):
        if softmax.target not in _SOFTMAX or not isinstance(softmax.args[0], Node) or fake(softmax.args[0]) is None:
            continue
        masks = _take_masks_off(model, softmax)
        if masks:
            _put_on(model, softmax, masks)


def constant_expression(model: GraphModule, node: Any) -> torch.Tensor | None:
    """The value of a node that depends on constants of the model alone; None for any other."""
    known: dict[Node, Any] = {}

    def evaluate(current: Node) -> bool:
        if current in known:
            return True
        if current.op == "get_attr":
            value = attribute(model, current.target)
            known[current] = value
            return isinstance(value, torch.Tensor)
        target = current.target
        if target in _FILLS and fake(current) is not None:  # of the operand they read the shape alone
            like = fake(current)
            known[current] = torch.full(like.shape, _FILLS[target], dtype=like.dtype)
            return True
        if current.op != "call_function" or not isinstance(target, OpOverload) or target._schema.is_mutable:
            return False
        if torch.Tag.nondeterministic_seeded in target.tags or not all(map(evaluate, current.all_input_nodes)):
            return False
        with torch.no_grad():
            known[current] = target(
                *torch.fx.node.map_arg(current.args, known.__getitem__),
                **torch.fx.node.map_arg(current.kwargs, known.__getitem__),
            )
        return True

    if not isinstance(node, Node) or not evaluate(node):
        return None
    return known[node] if isinstance(known[node], torch.Tensor) else None


def _take_masks_off(model: GraphModule, softmax: Node) -> list[Node | torch.Tensor]:
    """Takes every mask off the scores of `softmax`; they are true where nothing is let through."""
    masks: list[Node | torch.Tensor] = []
    reader, node = softmax, softmax.args[0]
    while isinstance(node, Node) and node.op == "call_function" and len(node.users) == 1:
        if (filled := _filled(model, node)) is not None:
            scores, mask = filled
            _take_out(reader, node, scores)
            masks.append(mask)
            node = scores
            continue
        if node.target is not aten.add.Tensor or node.kwargs or not all(isinstance(arg, Node) for arg in node.args):
            break
        left, right = (_sum_of_masks(model, operand) for operand in node.args)
        added, scores = (left, node.args[1]) if right is None else (right, node.args[0])
        if added is None or (left is not None and right is not None):
            break
        finite, found = added
        masks += found
        if not bool(finite.any()) and fake(scores).shape == fake(node).shape:
            _take_out(reader, node, scores)
        else:
            if found:
                node.args = (scores, insert_constant(model, f"{node.name}_finite", finite, node, node))
            reader = node
        node = scores
    return masks


def _take_out(reader: Node, node: Node, scores: Node) -> None:
    """`reader`, the only one of `node`, reads `scores` in its place."""
    reader.replace_input_with(node, scores)
    node.graph.erase_node(node)


def _sum_of_masks(model: GraphModule, node: Node) -> tuple[torch.Tensor, list[Node | torch.Tensor]] | None:
    """What is added to scores, as a finite constant and masks; None where it depends on more than masks."""
    if (constant := constant_expression(model, node)) is not None:
        masked = constant.detach() <= MASKED
        return constant.detach().masked_fill(masked, 0.0), [masked] if bool(masked.any()) else []
    if node.op != "call_function":
        return None
    if (filled := _filled(model, node)) is not None:
        below = _sum_of_masks(model, filled[0])
        return None if below is None else (below[0], [*below[1], filled[1]])
    if node.target in _MOVES:
        below = _sum_of_masks(model, node.args[0])
        return None if below is None else (_moved(model, node, below[0]), [_moved(model, node, m) for m in below[1]])
    if node.target is aten.add.Tensor and not node.kwargs and all(isinstance(arg, Node) for arg in node.args):
        left, right = (_sum_of_masks(model, arg) for arg in node.args)
        return None if left is None or right is None else (left[0] + right[0], [*left[1], *right[1]])
    return None


def _moved(model: GraphModule, move: Node, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return move.target(value.expand(fake(move.args[0]).shape), *move.args[1:], **move.kwargs)
    shape = list(fake(move.args[0]).shape)
    if list(fake(value).shape) != shape:
        value = insert_call(model, aten.expand.default, (value, shape), move, move)
    return insert_call(model, move.target, (value, *move.args[1:]), move, move)


def _filled(model: GraphModule, node: Node) -> tuple[Node, Node | torch.Tensor] | None:
    """(scores, mask) where `node` fills the scores with minus infinity wherever the mask is true; else None."""

    def is_infinite(value: Any) -> bool:
        constant = constant_expression(model, value)
        constant = torch.as_tensor(float(value)) if isinstance(value, (int, float)) else constant
        return constant is not None and constant.numel() > 0 and bool((constant <= MASKED).all())

    def mask(value: Node, inverted: bool = False) -> Node | torch.Tensor:
        constant = constant_expression(model, value)
        if constant is not None:
            constant = constant.to(torch.bool)
            return ~constant if inverted else constant
        return insert_call(model, aten.logical_not.default, (value,), node, node) if inverted else value

    if node.target in (aten.masked_fill.Scalar, aten.masked_fill.Tensor):
        scores, fill = node.args[0], node.args[2]
        found = (scores, mask(node.args[1])) if is_infinite(fill) else None
    elif node.target in (aten.where.self, aten.where.ScalarSelf, aten.where.ScalarOther):
        condition, yes, no = node.args
        if is_infinite(yes):
            found = (no, mask(condition))
        else:
            found = (yes, mask(condition, inverted=True)) if is_infinite(no) else None
    else:
        return None
    if found is None or not isinstance(found[0], Node) or fake(found[0]).shape != fake(node).shape:
        return None
    return found


def _put_on(model: GraphModule, softmax: Node, masks: list[Node | torch.Tensor]) -> None:
    constants = [mask for mask in masks if isinstance(mask, torch.Tensor)]
    found: list[Node] = [mask for mask in masks if isinstance(mask, Node)]
    if constants:
        together = constants[0]
        for mask in constants[1:]:
            together = together | mask
        _require_open_rows(softmax, together)
        found.insert(0, insert_constant(model, f"{softmax.name}_mask", together, softmax, softmax))
    minus_infinity = insert_constant(model, f"{softmax.name}_masked", torch.tensor(-math.inf), softmax, softmax)
    for mask in found:
        scores = insert_call(model, aten.masked_fill.Tensor, (softmax.args[0], mask, minus_infinity), softmax, softmax)
        softmax.args = (scores, *softmax.args[1:])


def _require_open_rows(softmax: Node, mask: torch.Tensor) -> None:
    shape = fake(softmax.args[0]).shape
    closed = mask.expand(shape).all(argument(softmax, 1))
    if bool(closed.any()):
        where = torch.nonzero(closed)[0].tolist()
        raise ValueError(
            f"{source_location(softmax)}: the mask before {softmax.name} lets nothing through in row {where}: there is no "
            "probability that a masked row has. Leave one value of each row open."
        )
