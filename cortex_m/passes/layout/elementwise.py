"""Ops that keep each element in its place follow an operand that is NHWC already; softmax works along one dimension."""

import torch
from torch.fx import Node

from cortex_m.passes.layout.forms import Forms, is_image
from cortex_m.passes.layout.registry import lays_out
from cortex_m.passes.lowering.movement import emit_transpose

cortex_m = torch.ops.cortex_m


@lays_out(cortex_m.quantized_add.default)
def elementwise(forms: Forms, node: Node) -> bool:
    images = [source for source in node.all_input_nodes if is_image(source)]
    if not any(source in forms.nhwc for source in images):
        return False
    if any(source.meta["val"].shape != node.meta["val"].shape for source in node.all_input_nodes):
        return False
    twins = {source: forms.as_nhwc(source, node) for source in images}
    args = tuple(twins.get(arg, arg) if isinstance(arg, Node) else arg for arg in node.args)
    forms.nhwc[node] = forms.editor.call_target(node.target, args, node, node)
    return True


@lays_out(cortex_m.softmax.default)
def softmax(forms: Forms, node: Node) -> bool:
    """The kernels go along the last dimension: channels of an NHWC image, or whatever a transpose brings there."""
    source, dim, *parameters = node.args
    rank = source.meta["val"].dim()
    if is_image(source) and dim == 1:
        forms.nhwc[node] = forms.editor.call(
            "cortex_m::softmax", (forms.as_nhwc(source, node), 3, *parameters), node, node
        )
        return True
    if dim == rank - 1:
        return False
    value = forms.as_nchw(source, node) if is_image(source) else source
    perm = [other for other in range(rank) if other != dim] + [dim]
    value = emit_transpose(forms.editor, value, perm, node, node)
    value = forms.editor.call("cortex_m::softmax", (value, rank - 1, *parameters), node, node)
    value = emit_transpose(forms.editor, value, [perm.index(axis) for axis in range(rank)], node, node)
    forms.settle(node, value)
    return True
