"""Convolutions and pools take and give NHWC."""

import torch
from torch.fx import Node

from cortex_m.passes.layout.forms import Forms
from cortex_m.passes.layout.registry import lays_out
from cortex_m.passes.qparams import torch_op

cortex_m = torch.ops.cortex_m


@lays_out(
    cortex_m.quantized_conv2d.default,
    cortex_m.quantized_depthwise_conv2d.default,
    cortex_m.quantized_transpose_conv2d.default,
    cortex_m.quantized_avg_pool2d.default,
    cortex_m.quantized_max_pool2d.default,
)
def windowed(forms: Forms, node: Node) -> bool:
    """Calls the op of the same arguments whose name ends in _nhwc."""
    name = torch_op(node)._schema.name + "_nhwc"
    forms.nhwc[node] = forms.editor.call(name, (forms.as_nhwc(node.args[0], node), *node.args[1:]), node, node)
    return True
