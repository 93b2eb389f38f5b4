"""Batch norms while a network trains with rounded values.

What will be rounded to int8 is the weight with the norm folded in, w * s with s = gamma / sqrt(running variance + eps). So that
is what is rounded in training:

    layer(x, round(w * s)) / s + bias  ->  batch norm, with the statistics of the batch

(Jacob et al., "Quantization and training of neural networks", 2018, arXiv:1712.05877, and the approximation by running statistics
that torchao has, too.) When training is over, the division, the bias and the norm become the layer's bias.

torchao does this by patterns, for convolutions with a weight of their own. Here it is done for each call of every layer that the
quantizer has matched with a norm: convolutions of one and two dimensions, transposed ones, groups, linear layers, shared weights.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import quantize_pt2e
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from cortex_m.quantizer.batch_norms import scaled_weight
from cortex_m.quantizer.constants import Constants
from cortex_m.quantizer.editing import insert_call, insert_constant
from cortex_m.quantizer.match import Match, argument, fake

aten = torch.ops.aten

# In the `meta` of a layer: the name of its norm, which the quantizer has matched with it.
_NORM = "cortex_m_norm_in_training"
# In the `meta` of a layer whose weight is scaled: the nodes of w * s and of s.
_SCALED = "cortex_m_scaled_weight"
_TORCHAO_FUSE, _TORCHAO_FOLD = quantize_pt2e._fuse_conv_bn_qat, quantize_pt2e._fold_conv_bn_qat


def mark_norms(matches: list[Match]) -> None:
    """Notes which layer of the matches takes which norm in."""
    for match in matches:
        for node in match.nodes[1:]:
            if node.target is aten.batch_norm.default:
                match.head.meta[_NORM] = node.name


def use_own_norms() -> None:
    """Makes `prepare_qat_pt2e` and `convert_pt2e` call the two functions below; norms of others go to torchao's as before."""
    quantize_pt2e._fuse_conv_bn_qat = scale_weights
    quantize_pt2e._fold_conv_bn_qat = fold_trained_norms


def scale_weights(model: GraphModule) -> GraphModule:
    """Rewrites an annotated graph as above, in place."""
    norms = {node.name: node for node in model.graph.nodes if node.target is aten.batch_norm.default}
    for layer in [node for node in model.graph.nodes if node.meta.get(_NORM) in norms]:
        _scale(model, layer, norms.pop(layer.meta[_NORM]))
    model.recompile()
    return _TORCHAO_FUSE(model) if norms else model


def _scale(model: GraphModule, layer: Node, norm: Node) -> None:
    weight, bias = layer.args[1], argument(layer, 2)
    gamma, variance, eps = argument(norm, 1), argument(norm, 4), argument(norm, 7)
    channels = [1, -1, *[1] * (fake(layer).dim() - 2)]
    scale = insert_call(model, aten.add.Scalar, (variance, eps), layer, layer)
    scale = insert_call(model, aten.rsqrt.default, (scale,), layer, layer)
    if gamma is not None:
        scale = insert_call(model, aten.mul.Tensor, (scale, gamma), layer, layer)
    scaled = scaled_weight(
        layer, weight, scale, lambda target, *args: insert_call(model, target, args, layer, layer), fake(weight)
    )
    layer.args = (layer.args[0], scaled, None, *layer.args[3:])
    by_channel = insert_call(model, aten.reshape.default, (scale, channels), norm, norm)
    value = insert_call(model, aten.div.Tensor, (layer, by_channel), norm, norm)
    if bias is not None:
        moved = insert_call(model, aten.reshape.default, (bias, channels), norm, norm)
        value = insert_call(model, aten.add.Tensor, (value, moved), norm, norm)
    norm.replace_input_with(layer, value)
    qspecs = layer.meta[Q_ANNOTATION_KEY].input_qspec_map
    qspecs[scaled] = qspecs.pop(weight)
    layer.meta[_SCALED] = (scaled.name, scale.name, bias.name if bias is not None else None)


def fold_trained_norms(model: GraphModule) -> GraphModule:
    """Undoes `scale_weights` in a graph that convert_pt2e has taken the fake quantization out of, in place."""
    constants = Constants(model)
    by_name: dict[Any, Any] = {None: None} | {node.name: node for node in model.graph.nodes}
    for layer in [node for node in model.graph.nodes if _SCALED in node.meta]:
        scaled, scale, bias = (by_name[name] for name in layer.meta[_SCALED])
        norm = next(iter(layer.users))
        while norm.target is not aten.batch_norm.default:
            norm = next(iter(norm.users))
        beta, mean = argument(norm, 2), argument(norm, 3)
        values: dict[Any, Any] = {
            node: constants.tensor(node) for node in (scaled, scale, bias, beta, mean) if node is not None
        }
        if missing := [node.name for node, value in values.items() if value is None]:
            raise ValueError(f"{norm.name} cannot be folded into {layer.name}: {', '.join(missing)} is not constant")
        offset = (0.0 if bias is None else values[bias]) - values[mean]
        folded = offset * values[scale] + (0.0 if beta is None else values[beta])
        value = insert_constant(model, f"{layer.name}_folded_weight", values[scaled].contiguous(), scaled, layer)
        scaled.replace_all_uses_with(value)
        added = insert_constant(model, f"{layer.name}_folded_bias", folded, layer, layer)
        layer.args = (*layer.args[:2], added, *layer.args[3:])
        norm.replace_all_uses_with(layer)
    _remove_counters(model)
    model.graph.eliminate_dead_code()
    model.recompile()
    return _TORCHAO_FOLD(model) if any(node.target is aten.batch_norm.default for node in model.graph.nodes) else model


def _remove_counters(model: GraphModule) -> None:
    """The counts of batches that a norm keeps in training; nobody reads them."""
    for node in list(model.graph.nodes):
        if (
            node.target is aten.add_.Tensor
            and not node.users
            and isinstance(node.args[0], Node)
            and node.args[0].op == "get_attr"
            and node.args[0].target.endswith("num_batches_tracked")
        ):
            model.graph.erase_node(node)
