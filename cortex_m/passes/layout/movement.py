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
    """Flattening an NHWC image for linear layers alone costs no copy: the layers' weights change order instead."""
    source, shape = node.args
    if not is_image(source) or not forms.prefers_nhwc(source) or moves_nothing(source):
        return False
    n, c, h, w = source.meta["val"].shape
    linears = list(node.users)
    if list(shape) != [n, c * h * w] or not all(_is_linear_of(user, node) for user in linears):
        return False
    flat = emit_view(forms.editor, forms.nhwc[source], list(shape), node, node)
    for linear in linears:
        weights = forms.editor.constant_value(linear.args[1])
        reordered = weights.reshape(-1, c, h, w).permute(0, 2, 3, 1).reshape(weights.shape)
        constant = forms.editor.constant(reordered, f"{linear.args[1].name}_nhwc")
        linear.args = (flat, constant, *linear.args[2:])
    return True


def _is_linear_of(node: Node, source: Node) -> bool:
    linear = (cortex_m.quantized_linear.default, cortex_m.quantized_linear_per_channel.default)
    return torch_op(node) in linear and node.args[0] is source
