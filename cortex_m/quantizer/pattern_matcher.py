"""Finds the patterns of the table in a graph.

A pattern is a chain of calls: each but the last has the next as its only user. Longer chains are tried first; where
one is refused, the shorter ones have their turn. Each node belongs to at most one accepted pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, Node
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from cortex_m.quantizer.match import Match, fake
from cortex_m.quantizer.node_finders import NodeFinder
from cortex_m.quantizer.patterns import (
    BATCH_NORMALIZED,
    PATTERNS,
    TABLE,
    TRAINING_PATTERNS,
    Pattern,
    common,
    judge_table,
    reason_without_pattern,
    tail,
)
from cortex_m.quantizer.quantization_configs import CortexMQuantizationConfig
from cortex_m.quantizer.tables import find_parts
from cortex_m.quantizer_reporter import PREVIOUS_ANNOTATION

aten = torch.ops.aten

Chain = tuple[Node, ...]
SupportDict = Mapping[tuple[Any, ...], Any]


def chains_of_table(qat: bool = False) -> dict[tuple[Any, ...], Pattern]:
    """The pattern table by chains of targets; with `qat` also what exists in training only: batch norm, dropout."""
    chains: dict[tuple[Any, ...], Pattern] = {}
    for pattern in (*PATTERNS, *(TRAINING_PATTERNS if qat else ())):
        for head in pattern.heads:
            bodies: list[tuple[Any, ...]] = [(head,)]
            if qat and head in BATCH_NORMALIZED:
                bodies.append((head, aten.batch_norm.default))
            for body in bodies:
                chains[body] = pattern
                chains.update({(*body, tail): pattern for tail in pattern.tails})
    return chains


@dataclass(frozen=True)
class Refusal:
    """A node that stays float, and why; `chosen` where the user wanted it so."""

    node: Node
    reason: str
    chosen: bool = False


@dataclass(frozen=True)
class PatternMatchResult:
    """A chain that a matcher decided about.

    Attributes:
        pattern: its nodes.
        accepted: whether it can be quantized.
        message: why not.
    """

    pattern: list[Node]
    accepted: bool
    message: str | None = None


class PatternMatcher:
    """Matches a graph against a table of patterns.

    Args:
        support_dict: chains of targets -> what decides about them: a `Pattern`, or an object with
            `check_pattern(nodes) -> bool` and `check_quantization_config(nodes, config) -> bool`. None means the
            table of this package.
        support_dict_name: how reports call the table.
    """

    def __init__(self, support_dict: SupportDict | None = None, support_dict_name: str | None = None):
        self.support_dict = chains_of_table() if support_dict is None else dict(support_dict)
        self.support_dict_name = support_dict_name or "cortex_m.quantizer.patterns.PATTERNS"
        self._longest = max(map(len, self.support_dict), default=0)
        self._matched: set[Node] = set()

    def find_pattern_matches(
        self, nodes: Iterable[Node], quantization_config: CortexMQuantizationConfig | None
    ) -> Iterator[PatternMatchResult]:
        """Decides about every chain of `nodes`, given in graph order, that starts a pattern.

        A node that this matcher has accepted before, or that is annotated, is refused. Without a config nothing is
        quantized: each node is accepted by itself, to stay in float. The graph's inputs and outputs are no patterns.
        """
        nodes = list(nodes)
        allowed = set(nodes)
        before = set(self._matched)
        for node in nodes:
            if (node.target,) not in self.support_dict or node in self._matched - before:
                continue
            if node in before or is_annotated(node):
                yield PatternMatchResult([node], False, PREVIOUS_ANNOTATION)
                continue
            chain, message = self.decide(node, quantization_config, allowed)
            if message is None:
                self._matched.update(chain)
            yield PatternMatchResult(list(chain), message is None, message)

    def decide(
        self, head: Node, config: CortexMQuantizationConfig | None, allowed: Container[Node]
    ) -> tuple[Chain, str | None]:
        """The longest chain of `allowed` nodes from `head` that is accepted, and None; or `head` and why it is refused."""
        if config is None:
            return (head,), None
        message = None
        for chain in self._chains(head, allowed):
            entry = self.support_dict.get(tuple(node.target for node in chain))
            if entry is None:
                continue
            message = _judge(entry, chain, config)
            if message is None:
                return chain, None
        return (head,), message

    def _chains(self, head: Node, allowed: Container[Node]) -> Iterator[Chain]:
        chain = [head]
        while len(chain) < self._longest and len(chain[-1].users) == 1:
            (user,) = chain[-1].users
            if user not in allowed or is_annotated(user) or user.op != "call_function" or user.args[0] is not chain[-1]:
                break
            chain.append(user)
        for length in range(len(chain), 0, -1):
            yield tuple(chain[:length])


def is_annotated(node: Node) -> bool:
    """Whether a quantizer has decided about `node` already."""
    annotation = node.meta.get(Q_ANNOTATION_KEY)
    return annotation is not None and annotation._annotated


def _judge(entry: Any, chain: Chain, config: CortexMQuantizationConfig) -> str | None:
    """Why `chain` is refused; None if it is accepted."""
    if isinstance(entry, Pattern):
        match = Match(entry, chain, config)
        if (
            any(node.target is aten.batch_norm.default for node in chain)
            and fake(chain[0]).dim() != fake(chain[0].args[1]).dim()
        ):
            return "the norm is not over the channels of the layer before it"
        fused = len(chain) > 1 and chain[-1].target in entry.tails
        return common(match) or (tail(chain[-1]) if fused else None) or entry.check(match)
    if not entry.check_pattern(list(chain)):
        return "Tried annotating unsupported configuration of operators"
    if not entry.check_quantization_config(list(chain), config):
        return "Tried annotating unsupported quantization config"
    return None


def _touches_float(node: Node) -> bool:
    tensors = [fake(other) for other in (node, *node.all_input_nodes)]
    return any(tensor is None or tensor.is_floating_point() for tensor in tensors)


def _table_parts(
    graph: Graph,
    matcher: PatternMatcher,
    config_of: Callable[[Pattern], CortexMQuantizationConfig],
    wanted: Container[Node],
) -> dict[Node, Match]:
    """The match of each node that is part of a function of one tensor."""

    def free(node: Node) -> bool:
        return node in wanted and not is_annotated(node)

    def absorbed(node: Node) -> Chain:
        pattern = matcher.support_dict.get((node.target,))
        if not free(node) or not isinstance(pattern, Pattern):
            return ()
        chain, reason = matcher.decide(node, config_of(pattern), wanted)
        return () if reason else chain[1:]

    if TABLE not in matcher.support_dict.values():
        return {}
    found = [Match(TABLE, part.nodes, config_of(TABLE), part.source) for part in find_parts(graph, free, absorbed)]
    return {node: match for match in found for node in match.nodes}


def find_matches(
    graph: Graph,
    matcher: PatternMatcher,
    config_of: Callable[[Pattern], CortexMQuantizationConfig],
    finder: NodeFinder,
) -> tuple[list[Match], list[Refusal]]:
    """All matches in graph order, and a refusal for every other call in the graph on float data.

    Args:
        config_of: how the layers of a pattern are quantized.
        finder: nodes that it does not find stay float.
    """
    matches: list[Match] = []
    refusals: list[Refusal] = []
    taken: set[Node] = set()
    wanted = {node for node in graph.nodes if finder.finds(node)}
    parts = _table_parts(graph, matcher, config_of, wanted)
    for node in graph.nodes:
        if node in parts and node not in taken:
            match = parts[node]
            reason = judge_table(match)
            taken.update(match.nodes)
            if reason is None:
                matches.append(match)
            else:
                refusals.extend(Refusal(other, reason) for other in match.nodes)
        if node.op in ("placeholder", "get_attr", "output") or node in taken or not _touches_float(node):
            continue
        pattern = matcher.support_dict.get((node.target,)) if node.op == "call_function" else None
        if is_annotated(node):
            refusals.append(Refusal(node, PREVIOUS_ANNOTATION, chosen=True))
        elif node not in wanted:
            refusals.append(Refusal(node, f"only {finder} are quantized", chosen=True))
        elif pattern is None:
            refusals.append(Refusal(node, reason_without_pattern(node)))
        else:
            config = config_of(pattern)
            chain, reason = matcher.decide(node, config, wanted)
            if reason is not None:
                refusals.append(Refusal(node, reason))
                continue
            taken.update(chain)
            matches.append(Match(pattern, chain, config))
    return matches, refusals
