"""Finds activation_min and activation_max among the arguments of a cortex_m call, by the names in its schema."""

from torch.fx import Node

from cortex_m.passes.qparams import torch_op


def _positions(node: Node) -> tuple[int, int] | None:
    op = torch_op(node)
    if op is None or op.namespace != "cortex_m":
        return None
    names = [argument.name for argument in op._schema.arguments]
    if "activation_min" not in names or "activation_max" not in names:
        return None
    return names.index("activation_min"), names.index("activation_max")


def activation_bounds(node: Node) -> tuple[int, int] | None:
    """(activation_min, activation_max) of a call that has them, else None."""
    positions = _positions(node)
    return None if positions is None else (node.args[positions[0]], node.args[positions[1]])


def set_activation_bounds(node: Node, low: int, high: int) -> None:
    """Replaces both bounds of a call that has them."""
    positions = _positions(node)
    assert positions is not None, f"{node.name} has no bounds"
    low_at, high_at = positions
    args = list(node.args)
    args[low_at], args[high_at] = low, high
    node.args = tuple(args)


def tighten(node: Node, low: int, high: int) -> bool:
    """Narrows the bounds of the op that makes a value; False if it has none. The caller knows that nobody else reads it."""
    current = activation_bounds(node)
    if current is None:
        return False
    set_activation_bounds(node, *(min(max(bound, low), high) for bound in current))
    return True
