"""Finds what becomes a table: parts of a graph that are a function of one tensor, element by element.

    y = x * torch.sigmoid(x)        one part {sigmoid, mul} with the source x
    z = torch.tanh(2 * y - 1)       joins it if nothing else reads y

A value inside a part is never rounded to int8: it has no reader outside. An activation that the layer before it can take
in stays with that layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch.fx import Graph, Node

from cortex_m.ops.pointwise import POINTWISE, needs_table
from cortex_m.quantizer.match import fake


@dataclass(frozen=True)
class Part:
    """`nodes` in graph order, the last of which is a function of `source`."""

    nodes: tuple[Node, ...]
    source: Node


def is_one_element(value: object) -> bool:
    """Whether `value` is a number, or a constant of the model with one element."""
    if isinstance(value, Node):
        return value.op == "get_attr" and fake(value) is not None and fake(value).numel() == 1
    return isinstance(value, (bool, int, float))


def variables(node: Node) -> set[Node]:
    """The tensor operands of a call that are no constants of one element."""
    return {operand for operand in node.all_input_nodes if not is_one_element(operand)}


def _has_constant(node: Node) -> bool:
    """Whether one of the two operands of an arithmetic call is a constant of one element."""
    return any(is_one_element(operand) for operand in node.args[:2])


class _Search:
    def __init__(self, graph: Graph, wanted: Callable[[Node], bool], absorbed: Callable[[Node], tuple[Node, ...]]):
        self.nodes = [node for node in graph.nodes if node.op == "call_function"]
        self.wanted, self.absorbed = wanted, absorbed
        self.cuts: set[Node] = set()
        self.source: dict[Node, Node] = {}

    def run(self) -> None:
        """Cuts where a value has a reader outside its part, until nothing is left to cut."""
        while True:
            self._find_sources()
            cuts = {node for node in self.source if any(self._leaves(node, user) for user in node.users)}
            if cuts <= self.cuts:
                return
            self.cuts |= cuts

    def _find_sources(self) -> None:
        """For each node that is a function of one tensor, that tensor."""
        self.source = {}
        in_layers: set[Node] = set()
        for node in self.nodes:
            if node in in_layers or (source := self._single_source(node)) is None:
                in_layers.update(self.absorbed(node))
                continue
            self.source[node] = source

    def _single_source(self, node: Node) -> Node | None:
        if node.target not in POINTWISE or not self.wanted(node):
            return None
        sources = {self._seen_from_outside(operand) for operand in variables(node)}
        if len(sources) != 1:
            return None
        (source,) = sources
        if fake(source) is None or fake(node) is None or fake(source).dtype != torch.float32:
            return None
        return source if fake(source).shape == fake(node).shape else None

    def _seen_from_outside(self, node: Node) -> Node:
        return node if node in self.cuts else self.source.get(node, node)

    def _leaves(self, node: Node, user: Node) -> bool:
        return self.source.get(user) is not self.source[node] if node not in self.cuts else False

    def parts(self) -> Iterator[Part]:
        order = {node: index for index, node in enumerate(self.nodes)}
        for last in self.nodes:
            if last not in self.cuts or last not in self.source:
                continue
            source, found, waiting = self.source[last], set(), [last]
            while waiting:
                node = waiting.pop()
                if node is not source and node not in found:
                    found.add(node)
                    waiting.extend(variables(node))
            if any(needs_table(node.target, _has_constant(node)) for node in found):
                yield Part(tuple(sorted(found, key=order.__getitem__)), source)


def find_parts(
    graph: Graph, wanted: Callable[[Node], bool], absorbed: Callable[[Node], tuple[Node, ...]]
) -> list[Part]:
    """All parts, disjoint, in graph order of their last nodes.

    Args:
        wanted: whether a node may become int8 at all.
        absorbed: the nodes after a node that its own pattern takes in.
    """
    search = _Search(graph, wanted, absorbed)
    search.run()
    return list(search.parts())
