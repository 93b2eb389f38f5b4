"""Ops that keep each element in its place follow an operand that is NHWC already; softmax and prelu have an innermost one."""

import torch
from torch.fx import Node

from cortex_m.passes.layout.forms import TO_NHWC, Forms, is_image, takes_nhwc_alone
from cortex_m.passes.layout.registry import LAYOUT_RULES, lays_out
from cortex_m.passes.lowering.movement import emit_transpose, emit_view
from cortex_m.passes.qparams import torch_op

cortex_m = torch.ops.cortex_m


@lays_out(
    cortex_m.quantized_add.default,
    cortex_m.quantized_mul.default,
    cortex_m.quantized_div.default,
    cortex_m.minimum.default,
    cortex_m.maximum.default,
    cortex_m.quantized_activation.default,
)
def elementwise(forms: Forms, node: Node) -> bool:
    """In the order in which fewer elements must be moved for it; a broadcast operand moves along, mostly as a view."""
    if not is_image(node):
        return False
    operands = [source for source in node.all_input_nodes if source is not _table(node)]
    to_nhwc = sum(_elements_to_move(forms, source, forms.nhwc) for source in operands)
    to_nchw = sum(_elements_to_move(forms, source, forms.nchw) for source in operands)
    if to_nhwc > to_nchw or (to_nhwc == to_nchw and not _leads_to_window(node)):
        return False
    twins = {source: _as_nhwc(forms, source, node) for source in operands}
    args = tuple(twins.get(arg, arg) if isinstance(arg, Node) else arg for arg in node.args)
    forms.nhwc[node] = forms.editor.call_target(node.target, args, node, node)
    return True


def _table(node: Node) -> Node | None:
    return node.args[1] if torch_op(node) == cortex_m.quantized_activation.default else None


def _elements_to_move(forms: Forms, source: Node, form: dict[Node, Node]) -> int:
    """How much a copy of `source` into this form moves; 0 where it has it, or can have it for nothing."""
    native = source not in forms.nhwc and source not in forms.nchw
    undecided = native and torch_op(source) == cortex_m.quantize_per_tensor.default
    if (
        source in form
        or undecided
        or (native and form is forms.nchw)
        or forms.editor.constant_value(source) is not None
    ):
        return 0
    return 0 if _stays_in_place(source) else source.meta["val"].numel()


def _stays_in_place(source: Node) -> bool:
    """Whether NCHW and NHWC are the same bytes, with leading dimensions of size 1 for a lower rank."""
    shape = _four_sizes(source)
    moving = [dim for dim in TO_NHWC if shape[dim] != 1]
    return moving == sorted(moving)


def _four_sizes(source: Node) -> list[int]:
    shape = list(source.meta["val"].shape)
    return [1] * (4 - len(shape)) + shape


def _as_nhwc(forms: Forms, source: Node, before: Node) -> Node:
    if is_image(source):
        return forms.as_nhwc(source, before)
    wide = emit_view(forms.editor, source, _four_sizes(source), before, before)
    return emit_transpose(forms.editor, wide, TO_NHWC, before, before)


def _leads_to_window(node: Node) -> bool:
    """Whether some reader, behind other elementwise operators perhaps, takes NHWC alone."""
    waiting, seen = list(node.users), set()
    while waiting:
        user = waiting.pop()
        op = torch_op(user)
        if user in seen or op is None or op.namespace != "cortex_m":
            continue
        seen.add(user)
        if takes_nhwc_alone(op):
            return True
        if LAYOUT_RULES.get(op) is elementwise:
            waiting.extend(user.users)
    return False


@lays_out(cortex_m.softmax.default, cortex_m.quantized_prelu.default)
def along_one_dimension(forms: Forms, node: Node) -> bool:
    """The kernels go along the last dimension: channels of an NHWC image, or whatever a transpose brings there."""
    source, dim, *parameters = node.args
    rank = source.meta["val"].dim()
    if is_image(source) and dim == 1:
        forms.nhwc[node] = forms.editor.call_target(
            node.target, (forms.as_nhwc(source, node), 3, *parameters), node, node
        )
        return True
    if dim == rank - 1:
        return False
    value = forms.as_nchw(source, node) if is_image(source) else source
    perm = [other for other in range(rank) if other != dim] + [dim]
    value = emit_transpose(forms.editor, value, perm, node, node)
    value = forms.editor.call_target(node.target, (value, rank - 1, *parameters), node, node)
    value = emit_transpose(forms.editor, value, [perm.index(axis) for axis in range(rank)], node, node)
    forms.settle(node, value)
    return True
