"""Node finders: which nodes of a model a quantizer may quantize.

    CortexMQuantizer(node_finder=ModuleNameNodeFinder(["features", "head.conv"]))     # these modules only
    CortexMQuantizer(node_finder=~ModuleTypeNodeFinder(torch.nn.Softmax))             # everything but softmax

A finder yields nodes in graph order. `~finder` finds what `finder` does not. Finders see the graph after preparation
(`cortex_m.quantizer.prepare`), with the names that the quantizer's report prints.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from torch.fx import GraphModule, Node


class NodeFinder(ABC):
    """Selects nodes of a graph."""

    @abstractmethod
    def finds(self, node: Node) -> bool:
        """Whether `node` is one of them."""

    def find_nodes(self, model: GraphModule) -> Iterator[Node]:
        """The selected nodes of `model` in graph order."""
        return (node for node in model.graph.nodes if self.finds(node))

    def __invert__(self) -> NodeFinder:
        return _Inverted(self)


class _Inverted(NodeFinder):
    def __init__(self, finder: NodeFinder):
        self._finder = finder

    def finds(self, node: Node) -> bool:
        return not self._finder.finds(node)

    def __invert__(self) -> NodeFinder:
        return self._finder

    def __str__(self) -> str:
        return f"everything but {self._finder}"


def _as_list(one_or_more: Any) -> list[Any]:
    several = isinstance(one_or_more, (list, tuple, set, frozenset))
    return list(one_or_more) if several else [one_or_more]


def _join(values: Sequence[Any]) -> str:
    return ", ".join(str(value) for value in values)


class GlobalNodeFinder(NodeFinder):
    """All nodes."""

    def finds(self, node: Node) -> bool:
        return True

    def __str__(self) -> str:
        return "all nodes"


class InputNodeFinder(NodeFinder):
    """The inputs of the graph."""

    def finds(self, node: Node) -> bool:
        return node.op == "placeholder"

    def __str__(self) -> str:
        return "graph inputs"


class OutputNodeFinder(NodeFinder):
    """The output node of the graph."""

    def finds(self, node: Node) -> bool:
        return node.op == "output"

    def __str__(self) -> str:
        return "graph outputs"


class NodeNameNodeFinder(NodeFinder):
    """Nodes with one of these names.

    Args:
        names: one name ("conv2d_1"), or several.
    """

    def __init__(self, names: str | Sequence[str]):
        self._names = [str(name) for name in _as_list(names)]

    def finds(self, node: Node) -> bool:
        return node.name in self._names

    def __str__(self) -> str:
        return f"nodes named {_join(self._names)}"


class NodeTargetNodeFinder(NodeFinder):
    """Nodes that call one of these targets.

    Args:
        targets: one target (torch.ops.aten.conv2d.default), or several.
    """

    def __init__(self, targets: Any):
        self._targets = _as_list(targets)

    def finds(self, node: Node) -> bool:
        return any(node.target == target for target in self._targets)

    def __str__(self) -> str:
        return f"calls of {_join(self._targets)}"


def _modules(node: Node) -> list[tuple[str, str]]:
    """(path, qualified class name) of the modules around `node`, outermost first."""
    stack = node.meta.get("nn_module_stack") or {}
    return [(path, kind if isinstance(kind, str) else _qualified(kind)) for path, kind in stack.values()]


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


class ModuleNameNodeFinder(NodeFinder):
    """Nodes that a module of one of these paths makes, or a module inside it.

    Args:
        module_names: one path as `named_modules()` gives it ("features.0"), or several.
    """

    def __init__(self, module_names: str | Sequence[str]):
        self._names = [str(name) for name in _as_list(module_names)]

    def finds(self, node: Node) -> bool:
        return any(path in self._names for path, _ in _modules(node))

    def __str__(self) -> str:
        return f"modules named {_join(self._names)}"


class ModuleTypeNodeFinder(NodeFinder):
    """Nodes that a module of one of these classes makes, or a module inside it.

    Args:
        module_types: one class or its qualified name (torch.nn.Conv2d, "torch.nn.modules.conv.Conv2d"), or several.
    """

    def __init__(self, module_types: type | str | Sequence[type | str]):
        self._types = [kind if isinstance(kind, str) else _qualified(kind) for kind in _as_list(module_types)]

    def finds(self, node: Node) -> bool:
        return any(kind in self._types for _, kind in _modules(node))

    def __str__(self) -> str:
        return f"modules of type {_join(self._types)}"
