"""What the samples say of each tensor, and the ranges of the observers that follow from it.

The observers themselves saw the values in float32, as this machine's kernels compute them; measured again in exact arithmetic
(`exact`) they are the same on every machine, and so is the program.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.joins import settle_ranges
from cortex_m.quantizer.observers import ActivationObserver, MaskedObserver
from cortex_m.quantizer.tuning.factors import ChannelStatistics
from cortex_m.quantizer.tuning.replay import Samples, activation_observer, count, observed, replay, select


def channel_statistics(model: GraphModule, inputs: Samples) -> dict[Node, ChannelStatistics]:
    """Of every node whose value is quantized; channels are dim 1. Nodes of fewer dims count as one channel."""
    wanted = {observed(model, node) for node in model.graph.nodes if activation_observer(model, node) is not None}
    found: dict[Node, ChannelStatistics] = {}
    size = count(inputs)
    for index in range(size):
        for node, (value,) in replay(model, select(inputs, [index])):
            if node not in wanted:
                continue
            value = value if value.dim() > 1 else value.reshape(1, 1, -1)
            dims = [0, *range(2, value.dim())]
            new = ChannelStatistics(value.amin(dims), value.amax(dims), value.square().mean(dims) / size)
            if (old := found.get(node)) is not None:
                new.low, new.high = torch.minimum(new.low, old.low), torch.maximum(new.high, old.high)
                new.square += old.square
            found[node] = new
    return found


def set_ranges(
    model: GraphModule, statistics: dict[Node, ChannelStatistics], factors: Mapping[Node, torch.Tensor], complete: bool
) -> None:
    """The ranges of all tensors, channels multiplied by their `factors`, into their observers; those of joins are settled.

    complete: whether the statistics are of all samples that the observers saw. If not, the observers' own ranges count too:
      larger values may have been among the rest.
    """
    ranges: dict[ActivationObserver, list[tuple[float, float]]] = {}
    for node in model.graph.nodes:
        observer = activation_observer(model, node)
        source = observed(model, node)
        # What a mask lets through is known to the observer of masked scores alone.
        if observer is None or isinstance(observer, MaskedObserver) or source not in statistics:
            continue
        channels = statistics[source]
        factor = factors.get(source)
        low, high = channels.scaled(torch.ones_like(channels.low) if factor is None else factor.double())
        if not complete and factor is None:
            low, high = min(low, float(observer.min_val)), max(high, float(observer.max_val))
        ranges.setdefault(observer, []).append((low, high))
    for observer, found in ranges.items():
        observer.tuned = (min(low for low, _ in found), max(high for _, high in found))
    settle_ranges(model)
