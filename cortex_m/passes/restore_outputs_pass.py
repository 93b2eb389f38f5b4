"""Gives each output the memory order it had before lowering, after bringing the fake values of float ops up to date.

An output that is a buffer as it was before the program changed it, or a view of one, becomes a copy: buffers are written at the
end of the program, one after the other, and results are read behind it.
"""

import torch
from executorch.exir import memory
from torch.fx import Node

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.qparams import torch_op

aten = torch.ops.aten

# What executorch makes another look at the same memory, or may.
_VIEWS = (
    aten.alias_copy.default,
    aten.detach_copy.default,
    aten.expand_copy.default,
    aten.permute_copy.default,
    aten.squeeze_copy.dim,
    aten.squeeze_copy.dims,
    aten.unsqueeze_copy.default,
    aten.view_copy.default,
)


class RestoreOutputsPass(CortexMPass):
    """Needs `output_orders`, one dim order (or None) for each output, which the manager notes before the first pass."""

    def run(self, editor: GraphEditor) -> None:
        for node in editor.graph.nodes:
            op = torch_op(node)
            if op is not None and op.namespace != "cortex_m" and node.target is not memory.alloc:
                editor.update_value(node)
        output = editor.graph.output_node()
        results = list(output.args[0])
        signature = editor.program.graph_signature
        buffers = set(signature.buffers_to_mutate.values())
        changed = {name for name, buffer in signature.inputs_to_buffers.items() if buffer in buffers}
        for index, (result, order) in enumerate(zip(results, self.report.output_orders)):
            if not isinstance(result, Node) or order is None:
                continue
            if dim_order(result.meta["val"]) != order or _viewed(result).name in changed:
                results[index] = editor.call(
                    "dim_order_ops::_clone_dim_order", (result,), output, result, {"dim_order": list(order)}
                )
        output.args = (type(output.args[0])(results),)


def _viewed(node: Node) -> Node:
    while torch_op(node) in _VIEWS:
        node = node.args[0]
    return node


def dim_order(value: object) -> tuple[int, ...] | None:
    """Dimensions from outermost to innermost; None for what is no tensor.

    Dimensions of size 1 stand first: they move no element, so their place is no difference.
    """
    if not isinstance(value, torch.Tensor):
        return None
    shape, strides = value.shape, value.stride()
    return tuple(sorted(range(value.dim()), key=lambda dim: (shape[dim] != 1, -strides[dim])))
