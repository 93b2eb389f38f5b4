"""What happens with the calibration samples between prepare_pt2e and the end of convert_pt2e.

    1. equalize    rescale the channels of the tensors between layers     (`equalize`, `factors`)
    2. rounding    round weights against the outputs, mean error to bias  (`rounding`)

Both work on the float model's own values; nothing is trained. The samples are those that the prepared model was
called with. Without them, or with a graph that cannot be replayed (a buffer changed in place), the plain ranges of
the observers stand, and `summary` says so.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.joins import settle_ranges
from cortex_m.quantizer.match import argument
from cortex_m.quantizer.observers import ActivationObserver, PerChannelWeightObserver
from cortex_m.quantizer.ranges import NarrowRange, narrow_ranges, require_numbers
from cortex_m.quantizer.state import reset_state
from cortex_m.quantizer.tuning.bias import leave_room, smallest_scales
from cortex_m.quantizer.tuning.equalize import find_groups, rescale
from cortex_m.quantizer.tuning.factors import ChannelStatistics, channel_factors
from cortex_m.quantizer.tuning.replay import attribute, observed, recorded_inputs, replay
from cortex_m.quantizer.tuning.rounding import columns, round_weights

aten = torch.ops.aten

Samples = dict[Node, list[torch.Tensor]]

# Samples that rounding looks at; all of the recorded ones count for the channel statistics.
MAX_SAMPLES = 16


class Tuner:
    """Tunes one prepared model, once.

    enabled: False only makes sure that biases fit.
    state: what buffers that the model changes hold at first, by name; tuning ends with these values in them again, so that
        the program begins as the model did, whatever calibration has left there.

    Attributes:
        summary: one sentence: what was done, or why nothing.
        narrow_ranges: tensors that use few of the 256 integers.
        channel_factors: what the channels (dimension 1) of a node's value were multiplied by, by the node's name.
    """

    def __init__(self, enabled: bool = True, state: dict[str, torch.Tensor] | None = None) -> None:
        self.enabled = enabled
        self._state = state or {}
        self.summary = "not converted yet"
        self.channel_factors: dict[str, torch.Tensor] = {}
        self.narrow_ranges: list[NarrowRange] = []
        self._done = False

    def tune(self, model: GraphModule) -> None:
        """Puts better parameters into the observers of `model` and changes its weights; does nothing twice."""
        if self._done:
            return
        self._done = True
        with torch.no_grad():
            require_numbers(model)
            settle_ranges(model)
            self.summary = self._tune(model)
            self.narrow_ranges = narrow_ranges(model)
            leave_room(model)
            reset_state(model, self._state)

    def _tune(self, model: GraphModule) -> str:
        if not self.enabled:
            return "plain ranges: tuning is off"
        inputs = recorded_inputs(model)
        if not inputs or not next(iter(inputs.values())):
            return "plain ranges: there are no recorded calibration samples"
        if any(_writes(node) for node in model.graph.nodes):
            return "plain ranges: the model changes a buffer in place, so samples cannot be replayed"
        groups, factors = _equalize(model, inputs)
        settle_ranges(model)  # again: equalization has set all ranges anew
        self.channel_factors = {node.name: factor for node, factor in factors.items()}
        layers = _round_layers(model, inputs)
        count = len(next(iter(inputs.values())))
        return f"tuned on {count} samples, {groups} channel groups equalized, {layers} layers rounded"


def _writes(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)


def _activation_observer(model: GraphModule, node: Node) -> ActivationObserver | None:
    module = model.get_submodule(node.target) if node.op == "call_module" else None
    return module if isinstance(module, ActivationObserver) else None


def _equalize(model: GraphModule, inputs: Samples) -> tuple[int, dict[Node, torch.Tensor]]:
    """Rescales all groups that gain from it and sets the observers' ranges to match; their number, and all factors."""
    groups = find_groups(model)
    quantized = {observed(model, node) for node in model.graph.nodes if _activation_observer(model, node) is not None}
    wanted = {node for group in groups for node in group.tensors if node in quantized}
    wanted |= {clamp for group in groups for clamp, _ in group.clamps}
    statistics = _channel_statistics(model, inputs, wanted)
    # All factors come from the weights as they are, then all weights change.
    found = [(group, channel_factors(model, group, groups, quantized, statistics)) for group in groups]
    scaled: dict[Node, torch.Tensor] = {}
    for group, scale in found:
        if scale is None:
            continue
        rescale(model, group, scale)
        scaled.update((node, scale) for node in group.tensors)
    _set_ranges(model, statistics, scaled)
    return sum(scale is not None for _, scale in found), scaled


def _channel_statistics(model: GraphModule, inputs: Samples, wanted: set[Node]) -> dict[Node, ChannelStatistics]:
    found: dict[Node, ChannelStatistics] = {}
    count = len(next(iter(inputs.values())))
    for index in range(count):
        for node, (value,) in replay(model, {node: [values[index]] for node, values in inputs.items()}):
            if node not in wanted:
                continue
            dims = [0, *range(2, value.dim())]
            new = ChannelStatistics(value.amin(dims), value.amax(dims), value.square().mean(dims) / count)
            if (old := found.get(node)) is not None:
                new.low, new.high = torch.minimum(new.low, old.low), torch.maximum(new.high, old.high)
                new.square += old.square
            found[node] = new
    return found


def _set_ranges(
    model: GraphModule, statistics: dict[Node, ChannelStatistics], scaled: dict[Node, torch.Tensor]
) -> None:
    """The ranges of rescaled tensors into their observers, which saw the values as they were."""
    ranges: dict[ActivationObserver, list[tuple[float, float]]] = {}
    for node in model.graph.nodes:
        if (observer := _activation_observer(model, node)) is None:
            continue
        source = observed(model, node)
        plain = (float(observer.min_val), float(observer.max_val))
        ranges.setdefault(observer, []).append(statistics[source].scaled(scaled[source]) if source in scaled else plain)
    for observer, found in ranges.items():
        observer.tuned = (min(low for low, _ in found), max(high for _, high in found))


def _round_layers(model: GraphModule, inputs: Samples) -> int:
    """Rounds the weights of all layers that are quantized per channel; their number."""
    count = len(next(iter(inputs.values())))
    picked = sorted({index * count // min(count, MAX_SAMPLES) for index in range(min(count, MAX_SAMPLES))})
    rounded = 0
    for node, values in replay(model, {node: [all_[i] for i in picked] for node, all_ in inputs.items()}):
        if (observer := _activation_observer(model, node)) is None:
            continue
        for layer in node.users:
            if layer.target in (aten.conv2d.default, aten.linear.default) and layer.args[0] is node:
                rounded += _round_layer(model, layer, observer, values)
    return rounded


def _round_layer(model: GraphModule, layer: Node, activation: ActivationObserver, values: list[torch.Tensor]) -> bool:
    """Rounds the weight of `layer`, whose input has `values`; False if it is not quantized per channel."""
    observer_node = layer.args[1]
    observer = model.get_submodule(observer_node.target) if observer_node.op == "call_module" else None
    if not isinstance(observer, PerChannelWeightObserver):
        return False
    weight = attribute(model, observed(model, observer_node).target)
    bias = attribute(model, observed(model, argument(layer, 2)).target)
    input_scale = float(activation.calculate_qparams()[0])
    smallest = smallest_scales(bias, input_scale, len(bias))
    scale = torch.maximum(weight.flatten(1).abs().amax(1) / observer.quant_max, smallest)
    rounded, error = round_weights(weight, scale, columns(layer, weight, values), observer.quant_max)
    observer.tuned = scale
    weight.data.copy_(rounded)
    bias.data.sub_(error)
    return True
