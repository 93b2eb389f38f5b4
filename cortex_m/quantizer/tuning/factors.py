"""The channel factors of a group: those that make the noise of quantization smallest where the group is read.

With factors s[c], the noise that reaches the readers of a group, layers with weights W, has two parts:

    activations   sum over tensors t:  step_t^2 * sum_c |W[:, c]|^2 / s[c]^2,  step_t = range of (s * t) / 255
    weights       sum over outputs o:  step_o^2 * sum_c (s[c] x[c])^2,         step_o = max_c |W[o, c] / s[c]| / 127

Larger factors for narrow channels use the steps of the tensor better, but leave the readers' weights with a wider
spread. The sum is minimized over log s by gradient descent: cheap, as only per-channel statistics enter.

A channel may also change its sign where nothing clamps the group: if every channel's longer tail points up, the range
of the tensor is little more than one tail. A clamp from 0 to b demands s > 0, and it commutes with s > 1 only while no value lies
between b / s[c] and b: there channels are only enlarged, and only where they have a ceiling (`ceilings`), until that meets b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.tuning.equalize import Group, weight_of
from cortex_m.quantizer.tuning.replay import observed

# Part of the weights' noise that compensated rounding (`rounding`) leaves: 6 dB less than rounding to nearest.
WEIGHT_NOISE_LEFT = 0.25

_STEPS = 120
_FIRST_RATE, _LAST_RATE = 0.1, 0.002
# Factors are powers of 2^(1/64): what the last bits of a sum decide is rounded away.
_FACTORS_AN_OCTAVE = 64


@dataclass
class ChannelStatistics:
    """Over the calibration samples, for each channel of a tensor: smallest, largest, mean of squares."""

    low: torch.Tensor
    high: torch.Tensor
    square: torch.Tensor

    def scaled(self, scale: torch.Tensor) -> tuple[float, float]:
        """(low, high) of the whole tensor when its channels are multiplied by `scale`."""
        ends = torch.stack([self.low * scale, self.high * scale])
        return float(ends.min()), float(ends.max())


def channel_factors(
    model: GraphModule,
    group: Group,
    groups: list[Group],
    statistics: dict[Node, ChannelStatistics],
    ceilings: dict[Node, torch.Tensor],
) -> torch.Tensor | None:
    """s[c] for the channels of `group`; None if nothing of it is quantized or it has no channels in common.

    Args:
        groups: all groups; a depthwise reader's own readers are looked up there.
        statistics: of the nodes whose value is quantized.
        ceilings: [channels] for clamps: no value before the clamp is larger. Channels of other clamps keep s = 1.
    """
    tensors = [statistics[node] for node in group.tensors if node in statistics]
    if not tensors or any(tensor.low.shape != tensors[0].low.shape for tensor in tensors):
        return None
    low = torch.stack([tensor.low for tensor in tensors]).clamp(max=0)
    high = torch.stack([tensor.high for tensor in tensors]).clamp(min=0)
    sign = torch.ones_like(low[0])
    smallest, largest = torch.full_like(sign, -torch.inf), torch.full_like(sign, torch.inf)
    for clamp, bound in group.clamps:
        if bound < torch.inf:
            ceiling = ceilings.get(clamp, torch.full_like(sign, torch.inf))
            room = bound / ceiling.clamp(min=1e-12)
            smallest, largest = torch.zeros_like(sign), torch.minimum(largest, room.clamp(min=1).log())
    if not group.clamps:
        sign = torch.where(high.amax(0) + low.amin(0) < 0, -1.0, 1.0)
        low, high = torch.where(sign < 0, -high, low), torch.where(sign < 0, -low, high)
    dead = (high.amax(0) == 0) & (low.amin(0) == 0)
    smallest[dead], largest[dead] = 0.0, 0.0

    spreads = []
    for reader in group.readers:
        weight, source = weight_of(model, reader).double(), observed(model, reader.args[0])
        # A depthwise layer has one input a channel: its weight's step follows the factor.
        if weight.shape[2] > 1 and source in statistics:
            square = statistics[source].square * weight.shape[3]
            spreads.append((weight.abs().amax(3), square.view(weight.shape[0], weight.shape[2])))
    importance = sum(_importance(model, reader, groups) for reader in group.readers)
    logs = _minimize(_Noise(low, high, importance, spreads), smallest, largest)
    # Towards 1 at a bound, which is then still kept.
    octaves = (logs / math.log(2) * _FACTORS_AN_OCTAVE).round()
    octaves = torch.minimum(octaves, (largest / math.log(2) * _FACTORS_AN_OCTAVE).floor())
    return torch.where(dead, 1.0, torch.exp2(octaves / _FACTORS_AN_OCTAVE) * sign).float()


def _importance(model: GraphModule, reader: Node, groups: list[Group]) -> torch.Tensor:
    """[channels]: power that noise of power one in a channel has in the outputs of `reader`, summed over these.

    A depthwise layer's outputs are not comparable with each other, so theirs are weighted in the same way.
    """
    weight = weight_of(model, reader).double()
    power = weight.square().sum(3)
    if weight.shape[2] == 1:
        next_readers = [after for group in groups if reader in group.tensors for after in group.readers]
        dense = [weight_of(model, after).double().square().sum((1, 3)).reshape(-1) for after in next_readers]
        if dense:
            power = power * sum(dense).view(power.shape)
    return power.sum(1).reshape(-1)


@dataclass
class _Noise:
    """The sum that is minimized, and its gradient, as functions of log s.

    Attributes:
        low, high: [tensors, channels].
        importance: [channels].
        spreads: for each dense reader, largest absolute weights [groups, outputs, inputs] and the inputs' mean
            squares, taps included, [groups, inputs].
    """

    low: torch.Tensor
    high: torch.Tensor
    importance: torch.Tensor
    spreads: list[tuple[torch.Tensor, torch.Tensor]]

    def value_and_gradient(self, logs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scale = logs.exp()
        top, top_at = (scale * self.high).max(1)
        bottom, bottom_at = (scale * self.low).min(1)
        steps = (top - bottom) / 255
        power, passed = steps.square().sum(), self.importance / scale.square()
        value = power * passed.sum()
        gradient = -2 * power * passed
        # Only the channels at the ends of a tensor's range widen its step.
        gradient.index_add_(0, top_at, 2 * steps * top / 255 * passed.sum())
        gradient.index_add_(0, bottom_at, -2 * steps * bottom / 255 * passed.sum())
        for spread, square in self.spreads:
            by_group = scale.view(square.shape)
            widest, widest_at = (spread / by_group[:, None]).max(2)
            errors = (widest / 127).square() * WEIGHT_NOISE_LEFT
            signal = by_group.square() * square
            error, total = errors.sum(1, keepdim=True), signal.sum(1, keepdim=True)
            value = value + (error * total).sum()
            slope = 2 * error * signal
            slope.scatter_add_(1, widest_at, -2 * errors * total)
            gradient += slope.reshape(-1)
        return value, gradient


def _minimize(noise: _Noise, smallest: torch.Tensor, largest: torch.Tensor) -> torch.Tensor:
    """log s[c] in [smallest, largest]: Adam (Kingma and Ba, 2014) on the logarithm of the noise, from s = 1."""
    logs = torch.zeros_like(noise.importance)
    momentum, variance = torch.zeros_like(logs), torch.zeros_like(logs)
    for step in range(1, _STEPS + 1):
        value, gradient = noise.value_and_gradient(logs)
        gradient /= value + 1e-30
        momentum += 0.1 * (gradient - momentum)
        variance += 0.001 * (gradient.square() - variance)
        rate = _FIRST_RATE * (1 - step / _STEPS) + _LAST_RATE
        direction = momentum / (1 - 0.9**step) / ((variance / (1 - 0.999**step)).sqrt() + 1e-8)
        logs = torch.minimum(torch.maximum(logs - rate * direction, smallest), largest)
    return logs
