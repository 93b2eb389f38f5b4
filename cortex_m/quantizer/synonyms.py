"""One name for each computation: what the pattern table need not list twice."""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.match import argument, fake

aten = torch.ops.aten

_SYNONYMS = {
    aten.absolute.default: aten.abs.default,
    aten.clip.default: aten.clamp.default,
    aten.clip.Tensor: aten.clamp.Tensor,
    aten.divide.Scalar: aten.div.Scalar,
    aten.divide.Tensor: aten.div.Tensor,
    aten.divide.Tensor_mode: aten.div.Tensor_mode,
    aten.fix.default: aten.trunc.default,
    aten.max.other: aten.maximum.default,
    aten.min.other: aten.minimum.default,
    aten.multiply.Scalar: aten.mul.Scalar,
    aten.multiply.Tensor: aten.mul.Tensor,
    aten.negative.default: aten.neg.default,
    aten.special_erf.default: aten.erf.default,
    aten.special_exp2.default: aten.exp2.default,
    aten.special_expit.default: aten.sigmoid.default,
    aten.special_expm1.default: aten.expm1.default,
    aten.special_log1p.default: aten.log1p.default,
    aten.special_logit.default: aten.logit.default,
    aten.special_round.default: aten.round.default,
    aten.subtract.Scalar: aten.sub.Scalar,
    aten.subtract.Tensor: aten.sub.Tensor,
    aten.true_divide.Tensor: aten.div.Tensor,
}


def use_one_name(model: GraphModule) -> None:
    """Renames synonyms; rsub(a, b) becomes sub(b, a), a clamp between tensors maximum and minimum, as PyTorch defines it.

    An instance norm is a group norm with as many groups as channels or, where it has statistics of its own, a batch norm.
    """
    for node in list(model.graph.nodes):
        if node.op != "call_function":
            continue
        node.target = _SYNONYMS.get(node.target, node.target)
        if node.target is aten.rsub.Tensor:
            node.target, node.args = aten.sub.Tensor, (node.args[1], node.args[0])
        elif node.target is aten.clamp_min.default:
            node.target = aten.clamp.default
        elif node.target is aten.clamp_max.default:
            node.target, node.args = aten.clamp.default, (node.args[0], None, node.args[1])
        elif node.target in (aten.clamp_min.Tensor, aten.clamp_max.Tensor):
            lower = node.target is aten.clamp_min.Tensor
            node.target = aten.maximum.default if lower else aten.minimum.default
        elif node.target is aten.instance_norm.default and fake(node) is not None:
            source, weight, bias, mean, variance, from_input, momentum, eps, _ = node.args
            if not from_input:
                node.target = aten.batch_norm.default
                node.args = (source, weight, bias, mean, variance, False, momentum, eps, False)
            elif mean is None:
                node.target = aten.group_norm.default
                node.args = (source, fake(node).shape[1], weight, bias, eps)
        elif node.target is aten.clamp.Tensor:
            _between_tensors(model, node)


def _between_tensors(model: GraphModule, node: Node) -> None:
    value, low, high = (argument(node, position) for position in range(3))
    with model.graph.inserting_before(node):
        for bound, target in ((low, aten.maximum.default), (high, aten.minimum.default)):
            if bound is None:
                continue
            operand = value
            value = model.graph.call_function(target, (operand, bound))
            value.meta = dict(node.meta)
            if (tensor := fake(node)) is not None:
                shapes = [fake(part).shape for part in (operand, bound) if fake(part) is not None]
                value.meta["val"] = tensor.new_empty(torch.broadcast_shapes(*shapes))
    node.replace_all_uses_with(value)
    model.graph.erase_node(node)
