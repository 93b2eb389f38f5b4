"""Finds the patterns of the table in a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch.fx import Graph, Node

from cortex_m.quantizer.match import Match
from cortex_m.quantizer.patterns import BY_HEAD, Pattern, common, reason_without_pattern, tail
from cortex_m.quantizer.quantization_configs import CortexMQuantizationConfig


@dataclass(frozen=True)
class Refusal:
    """A node that stays float, and why."""

    node: Node
    reason: str


def _fusable_tail(pattern: Pattern, head: Node) -> Node | None:
    if len(head.users) != 1:
        return None
    (user,) = head.users
    if user.target not in pattern.tails or user.args[0] is not head:
        return None
    return user if tail(user) is None else None


def find_matches(
    graph: Graph, config_of: Callable[[Pattern], CortexMQuantizationConfig]
) -> tuple[list[Match], list[Refusal]]:
    """All matches in graph order, and a refusal for every other call in the graph.

    A head takes the activation that follows it; each node belongs to at most one match.
    """
    matches: list[Match] = []
    refusals: list[Refusal] = []
    taken: set[Node] = set()
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr", "output") or node in taken:
            continue
        pattern = BY_HEAD.get(node.target) if node.op == "call_function" else None
        if pattern is None:
            refusals.append(Refusal(node, reason_without_pattern(node)))
            continue
        match = Match(pattern, node, _fusable_tail(pattern, node), config_of(pattern))
        reason = common(match) or pattern.check(match)
        if reason is not None:
            refusals.append(Refusal(node, reason))
            continue
        taken.update(match.nodes)
        matches.append(match)
    return matches, refusals
