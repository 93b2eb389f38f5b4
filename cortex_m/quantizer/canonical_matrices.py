"""Matrix products in the forms that the pattern table has: matmul of tensors of rank 2 and above, and linear layers.

- a product with a constant matrix on its right is a linear layer;
- mm, bmm, mv and dot are matmul, and a vector is a matrix of one row or column;
- addmm and its kin are a product and a sum;
- a linear layer whose weight is computed is a matmul;
- scaled_dot_product_attention without dropout is two products around a softmax, before which its mask is filled in or added.
"""

from __future__ import annotations

import math

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.editing import attribute, constant_value, insert_call, insert_constant, replace_call
from cortex_m.quantizer.match import argument, fake

aten = torch.ops.aten

_PRODUCTS = (aten.mm.default, aten.bmm.default, aten.mv.default, aten.dot.default, aten.vdot.default)
_SUMS = (aten.addmm.default, aten.baddbmm.default, aten.addmv.default)


def make_matrices_canonical(model: GraphModule) -> None:
    """Does all of the above in place."""
    for rewrite in (_attention, _computed_linear, _sum, _vectors, _linear):
        for node in list(model.graph.nodes):
            if node.op == "call_function" and fake(node) is not None:
                rewrite(model, node)


def attention_refusal(node: Node) -> str | None:
    """Why scaled_dot_product_attention stays float; None if it is decomposed."""
    return "attention with dropout" if argument(node, 4) else None


def _attention(model: GraphModule, node: Node) -> None:
    if node.target is not aten.scaled_dot_product_attention.default or attention_refusal(node) is not None:
        return
    query, key, value = node.args[:3]
    mask, causal = argument(node, 3), argument(node, 5)
    if node.kwargs.get("enable_gqa") and (times := fake(query).shape[-3] // fake(key).shape[-3]) > 1:
        key, value = (
            insert_call(model, aten.repeat_interleave.self_int, (x, times, -3), node, node) for x in (key, value)
        )
    scale = node.kwargs.get("scale")
    scale = 1.0 / math.sqrt(fake(query).shape[-1]) if scale is None else float(scale)
    keys = insert_call(model, aten.transpose.int, (key, -2, -1), node, node)
    scores = insert_call(model, aten.matmul.default, (query, keys), node, node)
    scores = insert_call(model, aten.mul.Tensor, (scores, scale), node, node)
    if causal:
        future = torch.ones(fake(scores).shape[-2:], dtype=torch.bool).triu(1)
        hidden = insert_constant(model, f"{node.name}_future", future, node, node)
        scores = insert_call(model, aten.masked_fill.Scalar, (scores, hidden, -math.inf), node, node)
    if (
        mask is not None
        and (fake(mask) if fake(mask) is not None else attribute(model, mask.target)).dtype == torch.bool
    ):
        hidden = insert_call(model, aten.logical_not.default, (mask,), node, node)
        scores = insert_call(model, aten.masked_fill.Scalar, (scores, hidden, -math.inf), node, node)
    elif mask is not None:
        scores = insert_call(model, aten.add.Tensor, (scores, mask), node, node)
    weights = insert_call(model, aten.softmax.int, (scores, -1), node, node)
    replace_call(node, insert_call(model, aten.matmul.default, (weights, value), node, node))


def _computed_linear(model: GraphModule, node: Node) -> None:
    if node.target is not aten.linear.default:
        return
    weight = constant_value(model, node.args[1])
    if weight is not None and weight.dim() == 2:
        return
    if _rank(model, node.args[1]) == 1:
        value = insert_call(model, aten.matmul.default, (node.args[0], node.args[1]), node, node)
    else:
        weight = insert_call(model, aten.transpose.int, (node.args[1], 0, 1), node, node)
        value = insert_call(model, aten.matmul.default, (node.args[0], weight), node, node)
    if (bias := argument(node, 2)) is not None:
        value = insert_call(model, aten.add.Tensor, (value, bias), node, node)
    replace_call(node, value)


def _sum(model: GraphModule, node: Node) -> None:
    if node.target not in _SUMS:
        return
    added, left, right = node.args[:3]
    beta, alpha = node.kwargs.get("beta", 1), node.kwargs.get("alpha", 1)
    weight, bias = constant_value(model, right), constant_value(model, added)
    if weight is not None and bias is not None and weight.dim() == 2 and bias.dim() == 1:
        factors = weight.t() * alpha, bias * beta
        constants = [
            insert_constant(model, f"{node.name}_{name}", value.contiguous(), node, node)
            for name, value in zip(("weight", "bias"), factors)
        ]
        replace_call(node, insert_call(model, aten.linear.default, (left, *constants), node, node))
        return
    product = insert_call(model, aten.matmul.default, (left, right), node, node)
    if alpha != 1:
        product = insert_call(model, aten.mul.Tensor, (product, alpha), node, node)
    if beta == 0:
        replace_call(node, product)
        return
    if beta != 1:
        added = insert_call(model, aten.mul.Tensor, (added, beta), node, node)
    replace_call(node, insert_call(model, aten.add.Tensor, (product, added), node, node))


def _vectors(model: GraphModule, node: Node) -> None:
    if node.target in _PRODUCTS:
        node.target = aten.matmul.default
    if node.target is not aten.matmul.default:
        return
    left, right = node.args
    dims = []  # of the product, that the result does not have; the last one first
    if _rank(model, left) == 1:
        left = insert_call(model, aten.unsqueeze.default, (left, 0), node, node)
        dims.append(-2 if _rank(model, right) > 1 else -1)
    if _rank(model, right) == 1:
        right = insert_call(model, aten.unsqueeze.default, (right, -1), node, node)
        dims.append(-1)
    if not dims:
        return
    value = insert_call(model, aten.matmul.default, (left, right), node, node)
    for dim in reversed(dims):
        value = insert_call(model, aten.squeeze.dim, (value, dim), node, node)
    replace_call(node, value)


def _rank(model: GraphModule, node: Node) -> int:
    return (fake(node) if fake(node) is not None else attribute(model, node.target)).dim()


def _linear(model: GraphModule, node: Node) -> None:
    if node.target is aten.linear.default and node.args[1].op != "get_attr":
        weight = constant_value(model, node.args[1])
        assert weight is not None, f"the weights of {node.name} are no constant"
        constant = insert_constant(model, f"{node.name}_weight", weight.contiguous(), node, node)
        node.args = (node.args[0], constant, *node.args[2:])
    elif node.target is aten.matmul.default and constant_value(model, node.args[0]) is None:
        weight = constant_value(model, node.args[1])
        if weight is not None and weight.dim() == 2:
            constant = insert_constant(model, f"{node.name}_weight", weight.t().contiguous(), node, node)
            replace_call(node, insert_call(model, aten.linear.default, (node.args[0], constant), node, node))
