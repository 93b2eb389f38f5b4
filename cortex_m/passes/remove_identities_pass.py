"""Removes calls that give their input back: alias, clone, dropout in eval mode, a pad by nothing, a cast to the same type."""

import torch
from torch.fx import Node

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.qparams import dequantize_params, torch_op

aten = torch.ops.aten

# Ops that never change a value. They are identities when shape, dtype and dim order stay too.
_VALUE_KEEPING = {
    aten.alias.default,
    aten.alias_copy.default,
    aten.clone.default,
    aten.contiguous.default,
    aten.detach.default,
    aten.detach_copy.default,
    aten.lift_fresh_copy.default,
    aten.expand.default,
    aten.expand_copy.default,
    aten.view.default,
    aten.view_copy.default,
    aten._to_copy.default,
    aten.to.dtype,
    torch.ops.dim_order_ops._clone_dim_order.default,
    torch.ops.dim_order_ops._to_dim_order_copy.default,
}


class RemoveIdentitiesPass(CortexMPass):
    def run(self, editor: GraphEditor) -> None:
        for node in list(editor.graph.nodes):
            if not _is_identity(node):
                continue
            source = node.args[0]
            if source.op == "placeholder" and any(user.op == "output" for user in node.users):
                continue  # an output that is an input must stay a tensor of its own
            editor.replace(node, source)
            editor.erase_if_unused(node)


def _is_identity(node: Node) -> bool:
    op = torch_op(node)
    if op in (aten.dropout.default, aten.native_dropout.default):
        return op == aten.dropout.default and node.args[2] is False
    if op == aten.constant_pad_nd.default:
        return not any(node.args[1])
    if op == aten.as_strided_copy.default:
        return _is_restride(node)
    if op not in _VALUE_KEEPING or not isinstance(node.args[0], Node):
        return False
    before, after = node.args[0].meta["val"], node.meta["val"]
    if before.shape != after.shape or before.dtype != after.dtype:
        return False
    # What follows a dequantize is laid out anew by the layout pass, in whatever order suits its users.
    return _moving_strides(before) == _moving_strides(after) or dequantize_params(node.args[0]) is not None


def _is_restride(node: Node) -> bool:
    """True for an as_strided that renames the strides of dimensions of size 1, as decompositions of pooling leave it."""
    source, size, stride = node.args[:3]
    value = source.meta["val"]
    offset = node.args[3] if len(node.args) > 3 else None
    asked = [step for length, step in zip(size, stride) if length != 1]
    return list(size) == list(value.shape) and asked == _moving_strides(value) and not offset


def _moving_strides(value: torch.Tensor) -> list[int]:
    return [step for length, step in zip(value.shape, value.stride()) if length != 1]
