"""Activations that only clamp, and so disappear into the bounds of the op before them."""

import math

import torch
from torch.fx import Node

from cortex_m.passes.qparams import torch_op

aten = torch.ops.aten

CLAMPS = (
    aten.relu.default,
    aten.relu6.default,
    aten.hardtanh.default,
    aten.clamp.default,
    aten.clamp_min.default,
    aten.clamp_max.default,
)


def clamp_bounds(node: Node) -> tuple[float, float] | None:
    """(low, high) in real values if `node` is a clamp with constant bounds, else None."""
    op = torch_op(node)
    if op not in CLAMPS:
        return None
    if op == aten.relu.default:
        return 0.0, math.inf
    if op == aten.relu6.default:
        return 0.0, 6.0
    arguments = dict(zip((argument.name for argument in op._schema.arguments), node.args)) | node.kwargs
    if op == aten.hardtanh.default:
        low, high = arguments.get("min_val", -1.0), arguments.get("max_val", 1.0)
    else:
        low, high = arguments.get("min"), arguments.get("max")
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)
