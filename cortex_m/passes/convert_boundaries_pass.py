"""The quantize and dequantize nodes that remain become cortex_m ops."""

import torch

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.qparams import dequantize_params, quantize_params

_DTYPES = (torch.int8, torch.int16)


class ConvertBoundariesPass(CortexMPass):
    def run(self, editor: GraphEditor) -> None:
        for node in list(editor.graph.nodes):
            quantize, dequantize = quantize_params(node), dequantize_params(node)
            params = quantize or dequantize
            if params is None or editor.constant_value(node) is not None:
                continue
            if params.dtype not in _DTYPES:
                self.report.refuse(node, f"{params.dtype} is none of the types cortex_m quantizes to")
                continue
            name = "cortex_m::quantize_per_tensor" if quantize else "cortex_m::dequantize_per_tensor"
            editor.replace(node, editor.call(name, (node.args[0], *params.args()), node, node))
            editor.erase_if_unused(node)
