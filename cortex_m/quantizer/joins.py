"""Which tensors keep a scale of their own beside a join, decided when their ranges are known.

A join (cat, where, minimum, ...) has one scale for all that it reads. A tensor that others read, too, has an observer of its
own, and the join another: between them stands a requantization. Where both ranges are alike, one range serves both, and the
requantization goes when the model is lowered. Scores that are masked before anybody else reads them are written with the
range of what the mask lets through.
"""

from __future__ import annotations

from torch.fx import GraphModule, Node

from cortex_m.quantizer.observers import ActivationObserver, MaskedObserver

# A range that is wider by this costs half a bit: 3 dB.
ALIKE = 2.0**0.5

Range = tuple[float, float]


def settle_ranges(model: GraphModule) -> None:
    """Makes one range of those that are alike, in the observers of a prepared and calibrated graph."""
    observers = {node: _observer(model, node) for node in model.graph.nodes}
    _take_masked_ranges(observers)
    limits = {observer: observer.limits() for observer in observers.values() if observer is not None}
    together = {observer: [observer] for observer in limits}
    pairs = [
        (_wider(limits[own], limits[join]), own, join)
        for own, join in _pairs(observers)
        if not isinstance(own, MaskedObserver) and not isinstance(join, MaskedObserver)
    ]
    for _, own, join in sorted(pairs, key=lambda pair: pair[0]):
        members = together[own] + [each for each in together[join] if each not in together[own]]
        common = _union([limits[member] for member in members])
        if all(_width(common) <= ALIKE * _width(limits[member]) for member in members):
            together.update((member, members) for member in members)
    for members in together.values():
        if len(members) > 1:
            for member in members:
                member.tuned = _union([limits[each] for each in members])


def _observer(model: GraphModule, node: Node) -> ActivationObserver | None:
    module = model.get_submodule(node.target) if node.op == "call_module" else None
    return module if isinstance(module, ActivationObserver) else None


def _take_masked_ranges(observers: dict[Node, ActivationObserver | None]) -> None:
    for node, masked in observers.items():
        if isinstance(masked, MaskedObserver):
            before = node.args[0].args[0]
            own = observers.get(before)
            sharers = [other for other, observer in observers.items() if observer is own]
            if own is not None and sharers == [before] and list(before.users) == [node.args[0]]:
                own.tuned = masked.limits()


def _pairs(observers: dict[Node, ActivationObserver | None]) -> list[tuple[ActivationObserver, ActivationObserver]]:
    """Observers of one tensor: one behind the other, or beside each other on what is float."""
    behind: dict[Node, list[ActivationObserver]] = {}
    for node, observer in observers.items():
        if observer is None:
            continue
        source = node.args[0]
        if (before := observers.get(source)) is not None:
            behind.setdefault(source, [before]).append(observer)
        else:
            behind.setdefault(source, []).append(observer)
    return [
        (first, other) for found in behind.values() for first in found[:1] for other in found[1:] if other is not first
    ]


def _union(ranges: list[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _width(limits: Range) -> float:
    """Of what a scale covers: zero is always in it."""
    return max(limits[1], 0.0) - min(limits[0], 0.0)


def _wider(a: Range, b: Range) -> float:
    narrow = min(_width(a), _width(b))
    return _width(_union([a, b])) / narrow if narrow > 0 else float("inf")
