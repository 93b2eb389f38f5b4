"""Weight scales that leave room for the biases, tuned or not.

A bias is stored in units of input scale times weight scale. A channel of vanishing weights (a dead one, after batch norm is folded)
would have so small a unit that its bias, which is then all that the channel gives, leaves int32.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.match import argument
from cortex_m.quantizer.observers import ActivationObserver, PerChannelWeightObserver
from cortex_m.quantizer.tuning.replay import attribute, observed

aten = torch.ops.aten

# A bias is at most this, so that sums of products still fit 32 bits beside it.
MAX_BIAS = 2**29

_LAYERS = (aten.conv2d.default, aten.linear.default, aten.conv_transpose2d.input)


def smallest_scales(bias: torch.Tensor, input_scale: float, count: int) -> torch.Tensor:
    """The smallest weight scales, float32 [count], with which `bias` fits. A scale serves bias[i], bias[i + count], ..."""
    largest = bias.detach().abs().reshape(-1, count).amax(0)
    return (largest / (input_scale * MAX_BIAS)).clamp(min=torch.finfo(torch.float32).eps)


def leave_room(model: GraphModule) -> None:
    """Raises the scales of all weights that are quantized per channel to what their biases need."""
    for layer in model.graph.nodes:
        if layer.target not in _LAYERS:
            continue
        activation, weight, bias = _module(model, layer.args[0]), _module(model, layer.args[1]), argument(layer, 2)
        if not isinstance(activation, ActivationObserver) or not isinstance(weight, PerChannelWeightObserver):
            continue
        source = observed(model, bias) if bias is not None else None
        if source is None or source.op != "get_attr":
            continue
        scale, _ = weight.calculate_qparams()
        needed = smallest_scales(attribute(model, source.target), float(activation.calculate_qparams()[0]), len(scale))
        if bool((needed > scale).any()):
            weight.tuned = torch.maximum(scale, needed)


def _module(model: GraphModule, node: Node) -> torch.nn.Module | None:
    return model.get_submodule(node.target) if node.op == "call_module" else None
