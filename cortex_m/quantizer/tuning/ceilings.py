"""How large the values before a clamp can become, channel by channel: the room that factors (`factors`) have below its bound.

Only what is proved counts. A range that the samples had, or that a batch norm saw in training, is exceeded by inputs to come, and an
enlarged channel would then be cut off where the float model is not.
"""

from __future__ import annotations

import math

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.match import argument
from cortex_m.quantizer.patterns import CLAMPS, clamp_bounds
from cortex_m.quantizer.tuning.equalize import Group, weight_of
from cortex_m.quantizer.tuning.replay import attribute, observed


def ceilings(model: GraphModule, groups: list[Group]) -> dict[Node, torch.Tensor]:
    """float64 [channels] for each clamp with an upper bound whose layer reads values from 0 to another clamp's bound.

    That is how depthwise convolutions follow expansions in inverted residuals: bias and positive weights then bound the outputs.
    """
    found: dict[Node, torch.Tensor] = {}
    for group in groups:
        for clamp, bound in group.clamps:
            layer = observed(model, clamp.args[0])
            if bound == math.inf or layer not in group.makers:
                continue
            source = observed(model, layer.args[0])
            low, high = clamp_bounds(source) if source.target in CLAMPS else (None, None)
            if low is None or low < 0 or high is None:
                continue
            weight = weight_of(model, layer).double().clamp(min=0).sum((2, 3)).reshape(-1)
            bias = attribute(model, observed(model, argument(layer, 2)).target).double()
            found[clamp] = bias + max(high, 0.0) * weight
    return found
