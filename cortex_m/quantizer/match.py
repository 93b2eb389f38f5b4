"""`Match`: a pattern found in a graph, and what checks ask of its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Node

if TYPE_CHECKING:
    from cortex_m.quantizer.patterns import Pattern
    from cortex_m.quantizer.quantization_configs import CortexMQuantizationConfig


@dataclass(frozen=True)
class Match:
    """`pattern` found in the chain `nodes`: its head, and what is fused into it (batch norm, activation).

    With a `source` the nodes are no chain but the part of the graph that makes a function of that one tensor.
    """

    pattern: Pattern
    nodes: tuple[Node, ...]
    config: CortexMQuantizationConfig
    source: Node | None = None

    @property
    def head(self) -> Node:
        return self.nodes[0]

    @property
    def last(self) -> Node:
        """The node whose value leaves the pattern."""
        return self.nodes[-1]

    def argument(self, position: int) -> Any:
        """The head's argument, or its schema's default where the call leaves it out."""
        return argument(self.head, position)

    def activations(self) -> list[Any]:
        """The activation arguments, lists flattened: nodes, or numbers where the model has a scalar."""
        if self.source is not None:
            return [self.source]
        found: list[Any] = []
        for position in self.pattern.activations:
            value = self.argument(position)
            found.extend(value if isinstance(value, (list, tuple)) else [value])
        return found


def argument(node: Node, position: int) -> Any:
    """Argument `position` of a call to an ATen overload, or the schema's default."""
    if position < len(node.args):
        return node.args[position]
    return node.target._schema.arguments[position].default_value


def fake(node: Node) -> Any:  # torch.Tensor | None: which of them, the callers know from the operator
    """The fake tensor that export left on the node; None if its value is not one tensor."""
    value = node.meta.get("val")
    return value if isinstance(value, torch.Tensor) else None
