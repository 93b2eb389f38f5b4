"""What is kept whole for lowering and stayed float after all, as operators that float kernels exist for.

matmul is mm, or bmm of expanded operands; prelu a choice between x and slope * x.
"""

import math

import torch
from torch.fx import Node

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.qparams import torch_op

aten = torch.ops.aten


class DecomposeFloatPass(CortexMPass):
    def run(self, editor: GraphEditor) -> None:
        for node in list(editor.graph.nodes):
            decompose = _DECOMPOSITIONS.get(torch_op(node))
            if decompose is None or editor.constant_value(node) is not None:
                continue
            reasons = [refusal.reason for refusal in self.report.refusals if refusal.node == node.name]
            main, value = decompose(editor, node)
            for reason in reasons:
                self.report.refuse(main, reason)
            editor.replace(node, value)
            editor.erase_if_unused(node)


def _matmul(editor: GraphEditor, node: Node) -> tuple[Node, Node]:
    """The product, and the value of `node` made of it."""
    left, right = node.args
    left_shape, right_shape = (list(operand.meta["val"].shape) for operand in (left, right))

    def call(name: str, *args) -> Node:
        return editor.call(f"aten::{name}", args, node, node)

    if len(left_shape) == 1:
        left, left_shape = call("view_copy", left, [1, *left_shape]), [1, *left_shape]
    if len(right_shape) == 1:
        right, right_shape = call("view_copy", right, [*right_shape, 1]), [*right_shape, 1]
    if len(left_shape) == len(right_shape) == 2:
        product = call("mm", left, right)
    else:
        batch = list(torch.broadcast_shapes(left_shape[:-2], right_shape[:-2]))
        operands = []
        for operand, shape in ((left, left_shape), (right, right_shape)):
            if shape[:-2] != batch:
                operand = call("expand_copy", operand, [*batch, *shape[-2:]])
            if len(batch) != 1:
                operand = call("view_copy", operand, [math.prod(batch), *shape[-2:]])
            operands.append(operand)
        product = call("bmm", *operands)
    value, shape = product, list(node.meta["val"].shape)
    if list(product.meta["val"].shape) != shape:
        value = call("view_copy", product, shape)
    return product, value


def _prelu(editor: GraphEditor, node: Node) -> tuple[Node, Node]:
    x, slopes = node.args
    channels = [slopes.meta["val"].numel(), *[1] * (x.meta["val"].dim() - 2)]
    if list(slopes.meta["val"].shape) != channels:
        slopes = editor.call("aten::view_copy", (slopes, channels), node, node)
    scaled = editor.call("aten::mul", (slopes, x), node, node, overload="Tensor")
    above = editor.call("aten::gt", (x, 0), node, node, overload="Scalar")
    value = editor.call("aten::where", (above, x, scaled), node, node, overload="self")
    return value, value


_DECOMPOSITIONS = {aten.matmul.default: _matmul, aten.prelu.default: _prelu}
