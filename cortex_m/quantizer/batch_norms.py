"""Folds batch norms into the layers before them, where that changes nothing but the cost.

A norm in evaluation is y = x * s + t for each channel, so a layer whose only reader it is takes s and t into weight and
bias. Not so a layer that somebody else reads, too: that norm stays, and becomes a depthwise 1x1 convolution. A weight that
several calls share is folded into a copy for each call.

`prepare_pt2e` folds with functions of torchao, before it asks a quantizer anything. They fold into a layer whatever else
reads it, and into a shared weight as often as it is called, so that other values come out and nothing says so.
`use_sound_folding` puts the function of this module in their place, for all quantizers of the process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.export.unflatten import _assign_attr, _AttrKind
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import quantize_pt2e

from cortex_m.quantizer.constants import Constants
from cortex_m.quantizer.editing import insert_call, insert_constant, replace_call
from cortex_m.quantizer.match import argument, fake

aten = torch.ops.aten

_CONVOLUTIONS = (
    *(overload for packet in (aten.conv1d, aten.conv2d, aten.conv3d) for overload in (packet.default, packet.padding)),
)
# The position of the number of groups in each.
_TRANSPOSED = {aten.conv_transpose1d.default: 6, aten.conv_transpose2d.input: 6, aten.conv_transpose3d.input: 6}
# What a folded layer has in `meta`: the names of the norms, whose values its own now are.
FOLDED = "cortex_m_folded_norms"


def fold_batch_norms(model: GraphModule) -> None:
    """Folds the batch norms of a captured graph in evaluation, in place; the values of the graph stay the same.

    Parameters of `model` are replaced, never written to. Norms that cannot be folded stay: those in training mode or
    without running statistics, and those whose layer has another reader, or none.
    """
    _use_one_form(model)
    norms = [node for node in model.graph.nodes if node.target is aten.batch_norm.default]
    if not norms:
        return
    constants = Constants(model)
    for norm in norms:
        layer = norm.args[0]
        if _can_fold(norm, constants):
            _fold(model, layer, norm, constants)
    model.graph.eliminate_dead_code()
    model.recompile()


def use_sound_folding() -> None:
    """Makes `prepare_pt2e` fold with `fold_batch_norms`.

    Raises RuntimeError if this torchao folds in other functions than those of the release that this package is locked to.
    """
    names = ("_fuse_conv_bn_", "_fuse_linear_bn_")
    for name in names:
        if not hasattr(quantize_pt2e, name):
            raise RuntimeError(
                f"torchao.quantization.pt2e.quantize_pt2e has no {name}: this torchao folds batch norms elsewhere, "
                "and what it folds cannot be checked. Install the release that cortex_m names."
            )
    for name in names:
        setattr(quantize_pt2e, name, fold_batch_norms)


def statistics(norm: Node, constants: Constants) -> tuple[torch.Tensor, ...] | None:
    """(weight, bias, mean, variance) of a batch norm, ones and zeros where it has none; None if they are not constant."""
    weight, bias, mean, variance = (argument(norm, position) for position in range(1, 5))
    values = [constants.tensor(node) for node in (weight, bias, mean, variance)]
    if (
        values[2] is None
        or values[3] is None
        or any(node is not None and value is None for node, value in zip((weight, bias), values))
    ):
        return None
    values[0] = torch.ones_like(values[3]) if values[0] is None else values[0]
    values[1] = torch.zeros_like(values[2]) if values[1] is None else values[1]
    return tuple(values)


def make_batch_norms_depthwise(model: GraphModule) -> None:
    """The norms that are left become depthwise 1x1 convolutions, in place; of other ranks than 4 between two reshapes."""
    constants = Constants(model)
    for node in list(model.graph.nodes):
        if node.target is not aten.batch_norm.default or argument(node, 5) or fake(node) is None:
            continue
        if (found := statistics(node, constants)) is None or found[0].dtype is not torch.float32:
            continue
        weight, bias, mean, variance = (value.double() for value in found)
        scale = (variance + argument(node, 7)).rsqrt() * weight
        source, shape = node.args[0], list(fake(node).shape)
        image = [*shape[:2], *([1, 1] if len(shape) == 2 else [1, shape[2]] if len(shape) == 3 else [-1, shape[-1]])]
        if len(shape) != 4:
            source = insert_call(model, aten.reshape.default, (source, image), node, node)
        depthwise = (scale[:, None, None, None].float(), (bias - mean * scale).float())
        constants_of_it = [
            insert_constant(model, f"{node.name}_depthwise_{name}", value, node, node)
            for name, value in zip(("weight", "bias"), depthwise)
        ]
        args = (source, *constants_of_it, [1, 1], [0, 0], [1, 1], scale.numel())
        value = insert_call(model, aten.conv2d.default, args, node, node)
        value.meta[FOLDED] = (node.name,)
        if len(shape) != 4:
            value = insert_call(model, aten.reshape.default, (value, shape), node, node)
        replace_call(node, value)


def _use_one_form(model: GraphModule) -> None:
    """The form that `run_decompositions` leaves, with its two unread results, becomes aten.batch_norm."""
    for node in list(model.graph.nodes):
        if node.target is not aten._native_batch_norm_legit_no_training.default:
            continue
        results = list(node.users)
        if any(result.args[1] != 0 for result in results if result.users) or not results:
            continue
        source, weight, bias, mean, variance, momentum, eps = (argument(node, position) for position in range(7))
        value = next(result for result in results if result.args[1] == 0)
        args = (source, weight, bias, mean, variance, False, momentum, eps, False)
        call = insert_call(model, aten.batch_norm.default, args, node, value)
        for result in results:
            if result.args[1] == 0:
                result.replace_all_uses_with(call)
            model.graph.erase_node(result)
        model.graph.erase_node(node)


def _can_fold(norm: Node, constants: Constants) -> bool:
    layer = norm.args[0]
    if argument(norm, 5) or list(layer.users) != [norm] or norm.all_input_nodes.count(layer) != 1:
        return False
    if (
        layer.target not in _CONVOLUTIONS
        and layer.target not in _TRANSPOSED
        and layer.target is not aten.linear.default
    ):
        return False
    weight, bias = constants.tensor(layer.args[1]), argument(layer, 2)
    if weight is None or (bias is not None and constants.tensor(bias) is None) or fake(layer) is None:
        return False
    # Channels are dimension 1 for the norm: for a layer without a batch, or a linear one over the last of three, they are not.
    if fake(layer).dim() != weight.dim():
        return False
    found = statistics(norm, constants)
    return found is not None and all(value.dtype == weight.dtype for value in found)


def _fold(model: GraphModule, layer: Node, norm: Node, constants: Constants) -> None:
    weight, bias = constants.tensor(layer.args[1]), constants.tensor(argument(layer, 2))
    found = statistics(norm, constants)
    if weight is None or found is None:
        raise ValueError(f"{norm.name} cannot be folded: what it and its layer are made of is not constant")
    gamma, beta, mean, variance = found
    deviation = torch.rsqrt(variance + argument(norm, 7))
    scale = gamma * deviation
    folded_bias = ((0.0 if bias is None else bias) - mean) * deviation * gamma + beta
    args = [layer.args[0], None, None, *layer.args[3:]]
    for position, value in (
        (1, scaled_weight(layer, weight, scale, lambda target, *args: target(*args), weight)),
        (2, folded_bias),
    ):
        args[position] = _own_constant(model, layer, position, value)
        constants.forget(args[position])
    layer.args = tuple(args)
    layer.meta[FOLDED] = (*layer.meta.get(FOLDED, ()), norm.name)
    replace_call(norm, layer)


def scaled_weight(layer: Node, weight: Any, scale: Any, call: Callable[..., Any], like: torch.Tensor) -> Any:
    """The weight of `layer` with each output channel multiplied by its scale.

    call: of an ATen operator with arguments, on tensors or making nodes, as `weight` and `scale` are. like: has the weight's shape.
    """
    shape, ones = list(like.shape), [1] * (like.dim() - 2)
    if layer.target not in _TRANSPOSED:
        return call(aten.mul.Tensor, weight, call(aten.reshape.default, scale, [-1, 1, *ones]))
    groups = argument(layer, _TRANSPOSED[layer.target])
    by_group = call(aten.reshape.default, weight, [groups, shape[0] // groups, *shape[1:]])
    product = call(aten.mul.Tensor, by_group, call(aten.reshape.default, scale, [groups, 1, -1, *ones]))
    return call(aten.reshape.default, product, shape)


def _own_constant(model: GraphModule, layer: Node, position: int, value: torch.Tensor) -> Node:
    """`value` as a parameter that nobody else reads, under the name of the one before if that one has no other reader."""
    before = argument(layer, position)
    is_parameter = isinstance(before, Node) and before.op == "get_attr"
    if is_parameter and _readers(model, before.target) == [layer]:
        _assign_attr(torch.nn.Parameter(value), model, before.target, _AttrKind.PARAMETER)
        return before
    weight: Any = layer.args[1]
    name = before.target if is_parameter else f"{weight.target}_bias" if weight.op == "get_attr" else layer.name
    return insert_constant(model, f"{name}_of_{layer.name}".replace(".", "_"), value, layer, layer)


def _readers(model: GraphModule, name: str) -> list[Node]:
    return [user for node in model.graph.nodes if node.op == "get_attr" and node.target == name for user in node.users]
