"""Weights and biases of the int8 layers, one after the other, float and int8 model side by side.

When a layer's turn comes, the int8 model is rounded up to its input, so that its error is the one that it will have. The layer's
weights are rounded to the nearest step or with compensation (`rounding`), and the mean of what its outputs then lack goes
into its bias (Nagel et al., "A white paper on neural network quantization", 2021, arXiv:2106.08295, section 3.4). Each of the two stays
only if the worst of the samples that it was not made from comes closer to the float model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.match import argument
from cortex_m.quantizer.observers import PerChannelWeightObserver
from cortex_m.quantizer.patterns import CLAMPS, clamp_bounds
from cortex_m.quantizer.tuning.bias import smallest_scales
from cortex_m.quantizer.tuning.exact import compute, on_grid
from cortex_m.quantizer.tuning.replay import Samples, activation_observer, attribute, observed, replay
from cortex_m.quantizer.tuning.rounding import columns, round_weights

aten = torch.ops.aten

LAYERS = (aten.conv2d.default, aten.linear.default)
# Corrections have so few bits that the last ones of a sum do not show.
_CORRECTION_BITS = 16


@dataclass
class Kept:
    """How many layers got each of the two, of how many."""

    layers: int = 0
    rounded: int = 0
    corrected: int = 0


@dataclass(frozen=True)
class _Layer:
    """One layer and the values around it: of the float model, and of the int8 model up to its input."""

    node: Node
    weight: torch.nn.Parameter
    bias: torch.nn.Parameter
    observer: PerChannelWeightObserver
    inputs: list[torch.Tensor]
    wanted: list[torch.Tensor]
    bounds: tuple[float | None, float | None]

    def output(self, weight: torch.Tensor, sample: int) -> torch.Tensor:
        """What the layer gives for one sample with `weight`, before bias and clamp."""
        return compute(self.node.target, (self.inputs[sample], weight, None, *self.node.args[3:]), {})

    def clamped(self, value: torch.Tensor) -> torch.Tensor:
        return value if self.bounds == (None, None) else value.clamp(*self.bounds)


def tune_layers(model: GraphModule, inputs: Samples, fit: list[int], held_out: list[int]) -> Kept:
    """Changes weights, biases and weight scales of all layers that are quantized per channel.

    Args:
        fit: the samples that weights and means are made from. held_out: those that judge.
    """
    names = {node.target for node in model.graph.nodes if node.op == "get_attr"}
    constants = {name: attribute(model, name).detach().clone() for name in names}
    floats, rounded = replay(model, inputs, constants=constants), replay(model, inputs, quantized=True)
    kept = Kept()
    for (node, real), (_, values) in zip(floats, rounded, strict=True):
        if (observer := activation_observer(model, node)) is None:
            continue
        for user in node.users:
            if user.target in LAYERS and user.args[0] is node:
                layer = _layer(model, user, real, values, constants)
                if layer is not None:
                    _tune(layer, float(observer.calculate_qparams()[0]), fit, held_out, kept)
    return kept


def _layer(
    model: GraphModule,
    node: Node,
    real: list[torch.Tensor],
    values: list[torch.Tensor],
    constants: dict[str, torch.Tensor],
) -> _Layer | None:
    weight_node, bias_node = node.args[1], argument(node, 2)
    observer = model.get_submodule(weight_node.target) if weight_node.op == "call_module" else None
    if not isinstance(observer, PerChannelWeightObserver) or bias_node is None:
        return None
    names = [observed(model, used).target for used in (weight_node, bias_node)]
    weight, bias = (constants[name] for name in names)
    wanted = [compute(node.target, (x, weight, bias, *node.args[3:]), {}) for x in real]
    bounds: tuple[float | None, float | None] = (None, None)
    if len(node.users) == 1 and (user := next(iter(node.users))).target in CLAMPS:
        bounds = clamp_bounds(user)
    return _Layer(node, attribute(model, names[0]), attribute(model, names[1]), observer, values, wanted, bounds)


def _tune(layer: _Layer, input_scale: float, fit: list[int], held_out: list[int], kept: Kept) -> None:
    limit = layer.observer.quant_max
    scale = layer.weight.flatten(1).abs().amax(1) / limit
    scale = torch.maximum(scale, smallest_scales(layer.bias, input_scale, len(layer.bias)))
    x = columns(layer.node, layer.weight, [layer.inputs[sample] for sample in fit])
    steps = scale.double().view(-1, *[1] * (layer.weight.dim() - 1))
    weights = [
        (layer.weight.double() / steps).round() * steps,
        round_weights(layer.weight, scale, x, limit).double(),
    ]
    zero = torch.zeros_like(layer.bias, dtype=torch.float64)
    best, best_error = (0, zero), math.inf
    for index, weight in enumerate(weights):
        out = {sample: layer.output(weight, sample) for sample in (*fit, *held_out)}
        for correction in (zero, _lacking(layer, out, fit)):
            # Something as good as what is simpler is not better.
            if (error := _worst(layer, out, held_out, correction)) < 0.999 * best_error:
                best, best_error = (index, correction), error
    index, correction = best
    layer.observer.tuned = scale
    layer.weight.data.copy_(weights[index])
    layer.bias.data.add_(correction.to(layer.bias.dtype))
    kept.layers += 1
    kept.rounded += index
    kept.corrected += bool(correction.any())


def _per_channel(layer: _Layer, vector: torch.Tensor) -> torch.Tensor:
    return vector if layer.node.target is aten.linear.default else vector.view(-1, 1, 1)


def _lacking(layer: _Layer, out: dict[int, torch.Tensor], fit: list[int]) -> torch.Tensor:
    """[channels]: mean over samples and places of what the outputs lack, where no clamp hides it."""
    channel = -1 if layer.node.target is aten.linear.default else 1
    total = torch.zeros(len(layer.bias), dtype=torch.float64)
    places = torch.zeros_like(total)
    low, high = layer.bounds
    for sample in fit:
        wanted = layer.wanted[sample]
        error = wanted - out[sample] - _per_channel(layer, layer.bias.double())
        seen = torch.ones_like(wanted, dtype=torch.bool)
        if low is not None:
            seen &= wanted > low
        if high is not None:
            seen &= wanted < high
        dims = [dim for dim in range(wanted.dim()) if dim != channel % wanted.dim()]
        total += (error * seen).sum(dims)
        places += seen.sum(dims)
    return on_grid(total / places.clamp(min=1), _CORRECTION_BITS)[0]


def _worst(layer: _Layer, out: dict[int, torch.Tensor], samples: list[int], correction: torch.Tensor) -> float:
    """The largest ratio of noise to signal of a sample."""
    ratios = []
    offset = _per_channel(layer, layer.bias.double() + correction)
    for sample in samples:
        wanted = layer.clamped(layer.wanted[sample])
        noise = (layer.clamped(out[sample] + offset) - wanted).square().sum()
        ratios.append(float(noise / wanted.square().sum().clamp(min=1e-30)))
    return max(ratios)
