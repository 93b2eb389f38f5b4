"""How close a model comes to another on samples: the measures by which tuning keeps or undoes what it does."""

from __future__ import annotations

import math

import torch
from torch.fx import GraphModule

from cortex_m.quantizer.tuning.replay import Samples, outputs

# Two float models whose outputs are as far apart as this compute the same: what is left is the rounding of `exact` and of float32.
SAME_DB = 60.0
# How far beyond the samples the two are compared.
SCALES = (1.0, 2.0)

Outputs = list[list[torch.Tensor]]


def quality_db(wanted: Outputs, given: Outputs) -> list[float]:
    """For each sample the SQNR of the output that is worst, in dB, in steps of 0.01; inf for equal ones."""
    return [min(map(_sqnr_db, some, others), default=math.inf) for some, others in zip(wanted, given, strict=True)]


def _sqnr_db(wanted: torch.Tensor, given: torch.Tensor) -> float:
    noise, signal = float((wanted - given).square().sum()), float(wanted.square().sum())
    if noise == 0.0:
        return math.inf
    return round(10 * math.log10(signal / noise), 2) if signal > 0.0 else -math.inf


def scaled(samples: Samples, factor: float) -> Samples:
    """The same samples, their floating-point values multiplied by `factor`."""
    return {
        node: [value * factor if value.is_floating_point() else value for value in values]
        for node, values in samples.items()
    }


class SameFunction:
    """Whether a float model still computes what it did when this was made: on the samples, and on twice their values."""

    def __init__(self, model: GraphModule, samples: Samples) -> None:
        self._model = model
        self._cases = [scaled(samples, factor) for factor in SCALES]
        self._wanted = [outputs(model, case) for case in self._cases]

    def holds(self) -> bool:
        return all(
            min(quality_db(wanted, outputs(self._model, case)), default=math.inf) >= SAME_DB
            for wanted, case in zip(self._wanted, self._cases)
        )
