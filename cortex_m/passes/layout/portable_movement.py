"""Movements that run as aten ops: on an NHWC image they get their dimensions renamed."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from cortex_m.passes.layout.forms import TO_NCHW, TO_NHWC, Forms, is_image
from cortex_m.passes.layout.registry import lays_out
from cortex_m.passes.lowering.movement import emit_transpose, emit_view
from cortex_m.passes.qparams import torch_op

aten = torch.ops.aten


def _renamed(dim: int) -> int:
    return TO_NCHW[dim % 4]


def _keep(forms: Forms, node: Node, *arguments: Any) -> bool:
    """The op of `node` on the NHWC form of its first argument, with other arguments."""
    args = (forms.as_nhwc(node.args[0], node), *arguments)
    forms.nhwc[node] = forms.editor.call_target(node.target, args, node, node, node.kwargs)
    return True


def _stays_nchw(forms: Forms, node: Node) -> bool:
    return not is_image(node.args[0]) or not forms.follows(node, [node.args[0]])


@lays_out(aten.cat.default)
def cat(forms: Forms, node: Node) -> bool:
    sources = node.args[0]
    if not all(is_image(source) for source in sources) or not forms.follows(node, sources):
        return False
    dim = node.args[1] if len(node.args) > 1 else 0
    twins = [forms.as_nhwc(source, node) for source in sources]
    forms.nhwc[node] = forms.editor.call_target(node.target, (twins, _renamed(dim)), node, node)
    return True


@lays_out(aten.slice_copy.Tensor, aten.index_select.default, aten.narrow_copy.default)
def along_one(forms: Forms, node: Node) -> bool:
    if _stays_nchw(forms, node):
        return False
    dim, *rest = node.args[1:] if len(node.args) > 1 else [0]
    return _keep(forms, node, _renamed(dim), *rest)


@lays_out(aten.flip.default)
def flip(forms: Forms, node: Node) -> bool:
    return not _stays_nchw(forms, node) and _keep(forms, node, [_renamed(dim) for dim in node.args[1]])


@lays_out(aten.roll.default)
def roll(forms: Forms, node: Node) -> bool:
    if _stays_nchw(forms, node) or len(node.args) < 3 or not node.args[2]:
        return False
    return _keep(forms, node, node.args[1], [_renamed(dim) for dim in node.args[2]])


@lays_out(aten.repeat.default, aten.expand_copy.default)
def repeat(forms: Forms, node: Node) -> bool:
    if _stays_nchw(forms, node) or len(node.args[1]) != 4:
        return False
    return _keep(forms, node, [node.args[1][dim] for dim in TO_NHWC])


_PADS = {
    aten.reflection_pad2d.default: "aten::reflection_pad3d",
    aten.replication_pad2d.default: "aten::replication_pad3d",
}


@lays_out(*_PADS)
def edge_pad(forms: Forms, node: Node) -> bool:
    """Height, width and channels are the last three dimensions of an NHWC image: the channels get no padding."""
    if _stays_nchw(forms, node):
        return False
    args = (forms.as_nhwc(node.args[0], node), [0, 0, *node.args[1]])
    forms.nhwc[node] = forms.editor.call(_PADS[torch_op(node)], args, node, node)
    return True


@lays_out(aten.amax.default, aten.amin.default)
def extremum(forms: Forms, node: Node) -> bool:
    if _stays_nchw(forms, node):
        return False
    dims = [dim % 4 for dim in (node.args[1] if len(node.args) > 1 else [])] or [0, 1, 2, 3]
    return _reduce(forms, node, dims, [_renamed(dim) for dim in dims])


@lays_out(aten.argmax.default, aten.argmin.default)
def position(forms: Forms, node: Node) -> bool:
    if _stays_nchw(forms, node) or len(node.args) < 2 or node.args[1] is None:
        return False
    return _reduce(forms, node, [node.args[1] % 4], _renamed(node.args[1]))


def _reduce(forms: Forms, node: Node, dims: list[int], renamed: Any) -> bool:
    """Without `dims`; as long as the dimensions that stay, if they stay at all, have one order in both forms."""
    source, keepdim = node.args[0], len(node.args) > 2 and node.args[2]
    if keepdim and is_image(node):
        return _keep(forms, node, renamed, True)
    kept = [dim for dim in TO_NHWC if dim not in dims and source.meta["val"].shape[dim] != 1]
    if keepdim or kept != sorted(kept) or not forms.prefers_nhwc(source):
        return False
    call = forms.editor.call_target(node.target, (forms.nhwc[source], renamed), node, node)
    order = [dim for dim in TO_NHWC if dim not in dims]
    forms.settle(node, _ordered(forms, call, order, node))
    return True


@lays_out(aten.select_copy.int)
def select(forms: Forms, node: Node) -> bool:
    source, dim, index = node.args
    if not is_image(source) or not forms.prefers_nhwc(source):
        return False
    order = [other for other in TO_NHWC if other != dim % 4]
    kept = [other for other in order if source.meta["val"].shape[other] != 1]
    if kept != sorted(kept):
        return False
    call = forms.editor.call_target(node.target, (forms.nhwc[source], _renamed(dim), index), node, node)
    forms.settle(node, _ordered(forms, call, order, node))
    return True


def _ordered(forms: Forms, value: Node, order: list[int], origin: Node) -> Node:
    """`value`, whose dimensions are the NCHW dimensions `order`, with these ascending; only sizes of 1 change places."""
    if not isinstance(value.meta["val"], torch.Tensor) or order == sorted(order):
        return value
    perm = sorted(range(len(order)), key=order.__getitem__)
    return emit_view(forms.editor, value, [value.meta["val"].shape[dim] for dim in perm], origin, origin)


@lays_out(aten.pixel_shuffle.default, aten.pixel_unshuffle.default)
def pixel_shuffle(forms: Forms, node: Node) -> bool:
    if _stays_nchw(forms, node):
        return False
    editor, r = forms.editor, node.args[1]
    value = forms.as_nhwc(node.args[0], node)
    n, h, w, c = value.meta["val"].shape
    if torch_op(node) == aten.pixel_shuffle.default:
        c = c // (r * r)
        value = emit_view(editor, value, [n * h, w, c, r, r], node, node)
        value = emit_transpose(editor, value, [0, 3, 1, 4, 2], node, node)
        forms.nhwc[node] = emit_view(editor, value, [n, h * r, w * r, c], node, node)
        return True
    h, w = h // r, w // r
    value = emit_view(editor, value, [n * h, r, w, r, c], node, node)
    value = emit_transpose(editor, value, [0, 2, 4, 1, 3], node, node)
    forms.nhwc[node] = emit_view(editor, value, [n, h, w, c * r * r], node, node)
    return True


@lays_out(aten.channel_shuffle.default)
def channel_shuffle(forms: Forms, node: Node) -> bool:
    """A transpose of groups with the channels of a group, in either order of the image."""
    editor, (source, groups) = forms.editor, node.args
    follows = is_image(source) and forms.follows(node, [source])
    value = forms.as_nhwc(source, node) if follows else forms.as_nchw(source, node) if is_image(source) else source
    shape = list(value.meta["val"].shape)
    at = 3 if follows else 1
    split = [*shape[:at], groups, shape[at] // groups, *shape[at + 1 :]]
    value = emit_view(editor, value, split, node, node)
    perm = [*range(at), at + 1, at, *range(at + 2, len(split))]
    value = emit_view(editor, emit_transpose(editor, value, perm, node, node), shape, node, node)
    if follows:
        forms.nhwc[node] = value
    else:
        forms.settle(node, value)
    return True
