"""Replaces each float op between dequantize and quantize nodes by cortex_m ops; notes why where it cannot."""

import torch
from torch.fx import Node

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.lowering import (  # noqa: F401  (imported for the lowerings they register)
    add,
    avg_pool2d,
    channel_shuffle,
    clamp,
    conv2d,
    extremum,
    linear,
    matmul,
    max_pool2d,
    mul,
    pad,
    prelu,
    softmax,
    table,
)
from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.registry import LOWERINGS, Refusal
from cortex_m.passes.qparams import torch_op


class LowerToCortexMPass(CortexMPass):
    def run(self, editor: GraphEditor) -> None:
        lowering = Lowering(editor, self.target_config)
        for node in list(editor.graph.nodes):
            function = None if node._erased else LOWERINGS.get(torch_op(node))
            if function is None or _is_on_integers(node) or editor.constant_value(node) is not None:
                continue
            try:
                function(lowering, node)
            except Refusal as refusal:
                self.report.refuse(node, str(refusal))


def _is_on_integers(node: Node) -> bool:
    """True for a movement or a comparison that the quantization has been taken through already."""
    values = [operand.meta.get("val") for operand in node.all_input_nodes]
    return bool(values) and not any(isinstance(value, torch.Tensor) and value.is_floating_point() for value in values)
