"""Quantize and dequantize nodes of one scale a tensor, int8 or int16, become the cortex_m operators.

CortexMPassManager does so itself (ConvertBoundariesPass); this is for lists of passes of one's own.
"""

import torch
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from cortex_m.passes.graph_editor import edge_op
from cortex_m.passes.qparams import dequantize_params, quantize_params

_DTYPES = (torch.int8, torch.int16)


class ReplaceQuantNodesPass(PassBase):
    """Takes a graph in the edge dialect. RuntimeError for a quantize or dequantize node that is not in it."""

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in graph_module.graph.nodes:
            if isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "quantized_decomposed":
                raise RuntimeError(
                    f"{node.name} calls {node.target}, which is no edge operator: this pass works after to_edge"
                )
            quantize = quantize_params(node)
            params = quantize or dequantize_params(node)
            if params is None or params.dtype not in _DTYPES:
                continue
            name = "cortex_m::quantize_per_tensor" if quantize else "cortex_m::dequantize_per_tensor"
            node.target, node.args, node.kwargs = edge_op(name), (node.args[0], *params.args()), {}
            modified = True
        graph_module.recompile()
        return PassResult(graph_module, modified)
