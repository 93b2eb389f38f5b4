"""Which nodes of an exported graph share memory, and which change it in place."""

from __future__ import annotations

from torch._ops import OpOverload
from torch.fx import GraphModule, Node


def is_in_place(node: Node) -> bool:
    """Whether `node` writes to its first argument."""
    if not isinstance(node.target, OpOverload) or not node.target._schema.arguments:
        return False
    alias = node.target._schema.arguments[0].alias_info
    return alias is not None and alias.is_write


def viewed(node: Node) -> Node | None:
    """The tensor that `node` is a view of, or that it changed in place; None if it has memory of its own."""
    if not isinstance(node.target, OpOverload) or not node.args or not isinstance(node.args[0], Node):
        return None
    returns = node.target._schema.returns
    return node.args[0] if returns and returns[0].alias_info is not None else None


def memory_owner(node: Node) -> Node:
    """The node whose memory the value of `node` lies in."""
    while (base := viewed(node)) is not None:
        node = base
    return node


def derives_from(node: Node, ancestor: Node) -> bool:
    """Whether `node` is `ancestor`, or a view of it by a chain of views."""
    while node is not None and node is not ancestor:
        node = viewed(node)
    return node is not None


def state(model: GraphModule) -> set[str]:
    """Names of the parameters and buffers that the graph changes."""
    written = (memory_owner(node) for node in model.graph.nodes if is_in_place(node))
    return {owner.target for owner in written if owner.op == "get_attr"}
