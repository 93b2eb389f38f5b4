"""Gives each output the memory order it had before lowering, after bringing the fake values of float ops up to date."""

import torch
from executorch.exir import memory
from torch.fx import Node

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.qparams import torch_op


class RestoreOutputsPass(CortexMPass):
    """Needs `output_orders`, one dim order (or None) for each output, which the manager notes before the first pass."""

    def run(self, editor: GraphEditor) -> None:
        for node in editor.graph.nodes:
            op = torch_op(node)
            if op is not None and op.namespace != "cortex_m" and node.target is not memory.alloc:
                editor.update_value(node)
        output = editor.graph.output_node()
        results = list(output.args[0])
        for index, (result, order) in enumerate(zip(results, self.report.output_orders)):
            if not isinstance(result, Node) or order is None:
                continue
            if dim_order(result.meta["val"]) != order:
                results[index] = editor.call(
                    "dim_order_ops::_clone_dim_order", (result,), output, result, {"dim_order": list(order)}
                )
        output.args = (type(output.args[0])(results),)


def dim_order(value: object) -> tuple[int, ...] | None:
    """Dimensions from outermost to innermost; None for what is no tensor.

    Dimensions of size 1 stand first: they move no element, so their place is no difference.
    """
    if not isinstance(value, torch.Tensor):
        return None
    shape, strides = value.shape, value.stride()
    return tuple(sorted(range(value.dim()), key=lambda dim: (shape[dim] != 1, -strides[dim])))
