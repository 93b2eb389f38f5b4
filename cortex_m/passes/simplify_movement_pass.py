"""Merges chains of views and transposes, and gives the outputs the memory order they had."""

import torch
from torch.fx import Node

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.lowering.movement import emit_transpose, emit_view
from cortex_m.passes.qparams import torch_op

_VIEW = torch.ops.aten.view_copy.default
_TRANSPOSE = torch.ops.cortex_m.transpose.default


class SimplifyMovementPass(CortexMPass):
    def run(self, editor: GraphEditor) -> None:
        for node in list(editor.graph.nodes):
            if node._erased or torch_op(node) not in (_VIEW, _TRANSPOSE):
                continue
            value = _shortened(editor, node)
            if value is not node:
                editor.replace(node, value)
                editor.erase_if_unused(node)


def _shortened(editor: GraphEditor, node: Node) -> Node:
    source = node.args[0]
    if torch_op(node) == _VIEW:
        while torch_op(source) == _VIEW:
            source = source.args[0]
        if list(source.meta["val"].shape) == list(node.meta["val"].shape):
            return source
        return node if source is node.args[0] else emit_view(editor, source, node.args[1], node, node)
    if torch_op(source) != _TRANSPOSE:
        return node
    perm = [source.args[1][dim] for dim in node.args[1]]
    return emit_transpose(editor, source.args[0], perm, node, node)
