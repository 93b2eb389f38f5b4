"""Ops that move data: on an NHWC image they move it there, with their dimensions renamed."""

import torch
from torch.fx import Node

from cortex_m.passes.layout.forms import TO_NCHW, TO_NHWC, Forms, is_image, moves_nothing
from cortex_m.passes.layout.registry import lays_out
from cortex_m.passes.lowering.movement import emit_transpose, emit_view
from cortex_m.passes.qparams import torch_op

cortex_m = torch.ops.cortex_m


@lays_out(cortex_m.pad.default)
def pad(forms: Forms, node: Node) -> bool:
    source, pre, post, fill = node.args
    if not is_image(source) or not forms.follows(node, [source]):
        return False
    counts = ([amounts[dim] for dim in TO_NHWC] for amounts in (pre, post))
    forms.nhwc[node] = forms.editor.call("cortex_m::pad", (forms.as_nhwc(source, node), *counts, fill), node, node)
    return True


@lays_out(cortex_m.transpose.default)
def transpose(forms: Forms, node: Node) -> bool:
    source, perm = node.args
    if not is_image(source) or not forms.prefers_nhwc(source):
        return False
    from_nhwc = [TO_NCHW[dim] for dim in perm]
    forms.settle(node, emit_transpose(forms.editor, forms.nhwc[source], from_nhwc, node, node))
    return True


@lays_out(torch.ops.aten.view_copy.default)
def view(forms: Forms, node: Node) -> bool:
    """Flattening an NHWC image, transposed or not, for linear layers alone costs no copy: their weights change order instead."""
    source, perm = _untransposed(node.args[0])
    if not is_image(source) or not forms.prefers_nhwc(source) or (perm == [0, 1, 2, 3] and moves_nothing(source)):
        return False
    sizes = source.meta["val"].shape
    shape = [sizes[0], sizes[1] * sizes[2] * sizes[3]]
    linears = list(node.users)
    if list(node.args[1]) != shape or not all(_is_linear_of(user, node) for user in linears):
        return False
    flat = emit_view(forms.editor, forms.nhwc[source], shape, node, node)
    for linear in linears:
        weights = forms.editor.constant_value(linear.args[1])
        assert weights is not None, f"the weights of {linear.name} are no constant"
        by_dim = weights.reshape(-1, *(sizes[dim] for dim in perm[1:]))
        reordered = by_dim.permute(0, *(perm.index(dim) for dim in TO_NHWC[1:])).reshape(weights.shape)
        constant = forms.editor.constant(reordered, f"{linear.args[1].name}_nhwc")
        linear.args = (flat, constant, *linear.args[2:])
    return True


def _untransposed(node: Node) -> tuple[Node, list[int]]:
    """What `node` is a transpose of, batch apart, and by which permutation; itself where it is none."""
    if torch_op(node) == cortex_m.transpose.default and len(node.args[1]) == 4 and node.args[1][0] == 0:
        return node.args[0], list(node.args[1])
    return node, [0, 1, 2, 3]


def _is_linear_of(node: Node, source: Node) -> bool:
    linear = (cortex_m.quantized_linear.default, cortex_m.quantized_linear_per_channel.default)
    return torch_op(node) in linear and node.args[0] is source
