"""Resampling of images by fixed weights as layers that int8 has: linear along the columns, then along the rows.

    adaptive_avg_pool2d with windows of different sizes      each output is a mean over its window
    linear, bilinear and bicubic interpolation               each output is a sum of a few inputs a dimension

Which weights these are, the operator itself tells: it is run on an image of the unit vectors.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.editing import insert_call, insert_constant, replace_call
from cortex_m.quantizer.match import fake

aten = torch.ops.aten

_INTERPOLATIONS = (
    aten.upsample_linear1d.vec,
    aten.upsample_linear1d.default,
    aten.upsample_bilinear2d.vec,
    aten.upsample_bilinear2d.default,
    aten.upsample_bicubic2d.vec,
    aten.upsample_bicubic2d.default,
)
_ADAPTIVE = aten.adaptive_avg_pool2d.default


def make_resampling_linear(model: GraphModule) -> None:
    """Does the above in place, for signals [N, C, L] and images [N, C, H, W] of static shape."""
    for node in list(model.graph.nodes):
        if node.target not in (*_INTERPOLATIONS, _ADAPTIVE) or not isinstance(node.args[0], Node):
            continue
        before, after = fake(node.args[0]), fake(node)
        if before is None or before.dim() not in (3, 4) or any(not isinstance(size, int) for size in before.shape):
            continue
        sizes = list(zip(before.shape[2:], after.shape[2:]))
        if node.target is _ADAPTIVE and all(have % want == 0 for have, want in sizes):
            continue  # a pool with windows of one size
        value = node.args[0]
        for dim in reversed(range(2, before.dim())):
            value = _along(model, node, value, dim)
        replace_call(node, value)


def _weights(node: Node, dim: int) -> torch.Tensor:
    """[outputs, inputs] of the operator along `dim`: along the others, its input is constant."""
    shape = list(fake(node.args[0]).shape)
    size = shape[dim]
    units = torch.eye(size).view([1, size, *(size if each == dim else 1 for each in range(2, len(shape)))])
    with torch.no_grad():
        outputs = node.target(units.expand(1, size, *shape[2:]).contiguous(), *node.args[1:], **node.kwargs)
    outputs = outputs[0].movedim(dim - 1, 1)
    return outputs.reshape(size, outputs.shape[1], -1)[..., 0].t().contiguous()


def _along(model: GraphModule, node: Node, value: Node, dim: int) -> Node:
    weights = _weights(node, dim)
    if torch.equal(weights, torch.eye(*weights.shape)):
        return value
    constant = insert_constant(model, f"{node.name}_weights_{dim}", weights, node, node)
    is_last = dim == fake(value).dim() - 1
    if not is_last:
        value = insert_call(model, aten.transpose.int, (value, dim, -1), node, node)
    value = insert_call(model, aten.linear.default, (value, constant), node, node)
    return value if is_last else insert_call(model, aten.transpose.int, (value, dim, -1), node, node)
