"""Writes PT2E annotations for the matches of a graph.

Where a tensor's scale comes from:
  - an output of its own kind (`Output.OWN`, `Output.SOFTMAX`): one observer after the pattern's last node;
  - an input that a quantized pattern produced shares that observer;
  - an input from elsewhere (graph input, constant, float operator) is quantized on its way in: one observer for all
    quantized users of the tensor, and the float users go on reading the float tensor;
  - patterns with `Output.SHARED` that touch each other form a cluster with one observer, and so do comparisons with them.
    What joins several tensors (cat) leaves those that others read, too, their own scale, and takes a copy in that of the
    cluster; where the ranges turn out to be alike, there is no copy (`joins`).
Graph outputs get no observer: whatever is quantized last is dequantized, and nothing else happens to it.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch.fx import Graph, Node
from torchao.quantization.pt2e.quantizer import (
    QuantizationAnnotation,
    QuantizationSpecBase,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from cortex_m.quantizer.masks import headroom
from cortex_m.quantizer.match import Match, fake
from cortex_m.quantizer.pattern_matcher import Refusal, is_annotated
from cortex_m.quantizer.patterns import Output
from cortex_m.quantizer.patterns.masks import masked_length
from cortex_m.quantizer.quantization_configs import (
    SOFTMAX_OUTPUT_FIXED_QSPEC,
    masked_qspec,
    own_qspec,
    recorded_input_qspec,
)
from cortex_m.quantizer.tuning.tuner import Tuner

_EQUALITY = (torch.ops.aten.eq.Tensor, torch.ops.aten.ne.Tensor)
_SHARING = (Output.SHARED, Output.NONE)
_NO_NEIGHBOUR = "it stands between float operators only"


class _Clusters:
    """Disjoint sets of matches that must share one scale."""

    def __init__(self, matches: list[Match]):
        self._parent = {match.head: match.head for match in matches}

    def find(self, head: Node) -> Node:
        while self._parent[head] is not head:
            head = self._parent[head]
        return head

    def union(self, a: Node, b: Node) -> None:
        self._parent[self.find(b)] = self.find(a)


def _cluster(matches: list[Match]) -> list[list[Match]]:
    """The matches with a shared output, grouped by direct connection; each group in graph order.

    What a join reads beside others stays apart from it.
    """
    shared = [match for match in matches if match.pattern.output in _SHARING]
    by_last = {match.last: match for match in shared}
    clusters = _Clusters(shared)
    for match in shared:
        for source in match.activations():
            apart = len(set(match.activations())) > 1 and len(source.users) > 1
            if source in by_last and not (apart and match.pattern.output is Output.SHARED):
                clusters.union(by_last[source].head, match.head)
    groups: dict[Node, list[Match]] = {}
    for match in shared:
        groups.setdefault(clusters.find(match.head), []).append(match)
    return list(groups.values())


def _is_worth_int8(group: list[Match], producers: set[Node], consumers: set[Node]) -> bool:
    """Whether one of these matches computes something or stands beside a layer that is quantized anyway."""
    return any(
        not match.pattern.needs_neighbour
        or any(source in producers for source in match.activations())
        or any(user in consumers for user in match.last.users)
        for match in group
    )


def _annotation(node: Node) -> QuantizationAnnotation:
    return node.meta.setdefault(Q_ANNOTATION_KEY, QuantizationAnnotation(_annotated=True))


def _output_qspec(node: Node) -> QuantizationSpecBase | None:
    """The specification of the value of `node`, seen through sharing; None if it stays float."""
    annotation = node.meta.get(Q_ANNOTATION_KEY)
    qspec = annotation.output_qspec if annotation is not None else None
    while isinstance(qspec, SharedQuantizationSpec):
        edge = qspec.edge_or_node
        if isinstance(edge, Node):
            qspec = edge.meta[Q_ANNOTATION_KEY].output_qspec
        else:
            qspec = edge[1].meta[Q_ANNOTATION_KEY].input_qspec_map[edge[0]]
    return qspec


def _can_share(source: Node, wanted: QuantizationSpecBase) -> bool:
    """Whether `source` is quantized, by whomever, to the integers that its user wants."""
    qspec = _output_qspec(source)
    return qspec is not None and all(
        getattr(qspec, name, None) == getattr(wanted, name) for name in ("dtype", "quant_min", "quant_max")
    )


def _set_inputs(match: Match) -> None:
    inputs = _annotation(match.head).input_qspec_map
    for source in match.activations():
        wanted = match.config.input_activation
        inputs[source] = SharedQuantizationSpec(source) if _can_share(source, wanted) else wanted
    if match.source is not None:
        readers = [node for node in match.nodes if match.source in node.all_input_nodes]
        first = inputs.pop(match.source)
        for index, node in enumerate(readers):
            shared = first if index == 0 else SharedQuantizationSpec((match.source, readers[0]))
            _annotation(node).input_qspec_map[match.source] = shared
    if not match.pattern.weighted:
        return
    weight, bias = match.argument(1), match.argument(2)
    per_channel, spread = match.config.per_channel, None
    inputs[weight] = match.config.weight
    if per_channel:
        inputs[weight] = replace(match.config.weight, ch_axis=match.pattern.weight_axis(match))
        if match.pattern.spread_scales is not None:
            spread = match.pattern.spread_scales(match)
    if bias is not None and match.config.bias is not None:
        inputs[bias] = match.config.bias(match.head, match.argument(0), weight, per_channel, spread)


def _close(match: Match, output: QuantizationSpecBase | None) -> None:
    for node in match.nodes:
        _annotation(node)
    _annotation(match.last).output_qspec = output


class _SharedRoot:
    """Gives every edge and output of one cluster the same scale.

    The scale is the producer's where the cluster continues one quantized tensor. Where several meet (cat), it is a
    common one: producers that nobody else reads take it over, fixed ones (softmax) and those with other readers are
    requantized.
    """

    def __init__(self, group: list[Match], quantized: set[Node], training: bool):
        inside = {match.last for match in group}
        nodes = {node for match in group for node in match.nodes}
        sources = [source for match in group for source in match.activations() if source not in inside]
        self._producer = sources[0] if len(set(sources)) == 1 and sources[0] in quantized else None
        self._root: SharedQuantizationSpec | None = None
        self._first = group[0].config.input_activation
        self._writers: set[Node] = set()
        apart = {source for source in sources if any(user not in nodes for user in source.users)}
        if self._producer is None and apart and not training:
            self._first = own_qspec(self._first)
            self._writers = quantized.intersection(sources) - apart

    def annotate(self, match: Match) -> None:
        for source in match.activations():
            inputs = _annotation(match.head).input_qspec_map
            if source in self._writers and _annotation(source).output_qspec == match.config.output_activation:
                _annotation(source).output_qspec = self._first
            if source in inputs:
                continue
            if self._root is not None:
                inputs[source] = self._root
            elif self._producer is not None:
                inputs[source] = self._root = SharedQuantizationSpec(self._producer)
            else:
                inputs[source] = self._first
                self._root = SharedQuantizationSpec((source, match.head))
        _close(match, None if match.pattern.output is Output.NONE else self._root)


def _own_output(match: Match) -> QuantizationSpecBase:
    if match.pattern.output is Output.SOFTMAX:
        return SOFTMAX_OUTPUT_FIXED_QSPEC
    if match.pattern.output is Output.MASKED:
        return masked_qspec(match.config.output_activation, headroom(masked_length(match)))
    return match.config.output_activation


def _comparison_of_unrounded(group: list[Match], producers: set[Node]) -> str | None:
    """Why a cluster stays float that asks whether numbers are equal: none of them would be rounded without it."""
    equal = next((match.head for match in group if match.head.target in _EQUALITY), None)
    inside = {match.last for match in group}
    if equal is None or any(s in producers - inside for match in group for s in match.activations()):
        return None
    return f"'{equal.name}' compares it exactly, with values that no int8 layer has made: in int8, unequal ones would be equal"


def annotate(matches: list[Match], training: bool = False) -> tuple[list[Match], list[Refusal]]:
    """Annotates the graph; returns the matches that are quantized, and refusals for those that are not worth it."""
    groups = _cluster(matches)
    groups += [[match] for match in matches if match.pattern.output not in _SHARING]
    layers = [match for match in matches if not match.pattern.needs_neighbour]
    producers, consumers = {match.last for match in layers}, {node for match in layers for node in match.nodes}
    refusals: list[Refusal] = []
    worth: list[list[Match]] = []
    # A group beside one that is worth it is so too: again, until none is added.
    while len(now := [group for group in groups if _is_worth_int8(group, producers, consumers)]) > len(worth):
        worth = now
        producers.update(match.last for group in worth for match in group)
        consumers.update(node for group in worth for match in group for node in match.nodes)
    for group in groups:
        reason = _comparison_of_unrounded(group, producers) if group in worth else _NO_NEIGHBOUR
        if reason is not None:
            refusals.extend(Refusal(match.head, reason) for match in group)

    refused = {refusal.node for refusal in refusals}
    kept = [match for match in matches if match.head not in refused]
    own = {match.last for match in kept if match.pattern.output not in _SHARING}
    roots: dict[Node, _SharedRoot] = {}
    for group in groups:
        if group[0].pattern.output in _SHARING and group[0].head not in refused:
            root = _SharedRoot(group, own, training)
            roots.update((match.head, root) for match in group)
    # Graph order, so that a producer's specification stands when its users are annotated.
    for match in kept:
        if match.head in roots:
            roots[match.head].annotate(match)
            continue
        _set_inputs(match)
        _close(match, _own_output(match))
    return kept, refusals


def record_inputs(graph: Graph, tuner: Tuner) -> None:
    """Puts an InputRecorder behind each graph input that no other quantizer has annotated."""
    for node in graph.nodes:
        if node.op == "placeholder" and fake(node) is not None and not is_annotated(node):
            _annotation(node).output_qspec = recorded_input_qspec(tuner)
