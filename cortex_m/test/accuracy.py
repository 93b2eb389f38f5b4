"""How close the outputs of a program are to those of its float model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Accuracy:
    """Over all samples.

    sqnr_db: ratio of signal to quantization noise, 10 log10(sum f^2 / sum (f - d)^2) with f of the float model and d of the
        device, of each output; inf if they are equal.
    top1_agreement: part of the places at which the largest channel of the first output is the float model's, 0 to 1. An
        output [N, C, ...] has N x ... places, an output [C] has one.
    samples: how many there were.
    """

    sqnr_db: tuple[float, ...]
    top1_agreement: float
    samples: int

    @property
    def worst_sqnr_db(self) -> float:
        return min(self.sqnr_db)


def measure(pairs: Sequence[tuple[Sequence[np.ndarray], Sequence[np.ndarray]]]) -> Accuracy:
    """`pairs`: for each sample the float model's outputs and the device's, as real numbers, in their logical shapes.

    Raises ValueError if there is none.
    """
    if not pairs:
        raise ValueError("there are no samples with outputs of the float model")
    noise = [0.0] * len(pairs[0][0])
    signal = [0.0] * len(noise)
    same = places = 0
    for floats, values in pairs:
        for i, (real, got) in enumerate(zip(floats, values)):
            real, got = real.astype(np.float64), got.astype(np.float64)
            signal[i] += float(np.square(real).sum())
            noise[i] += float(np.square(real - got).sum())
        channel = 0 if floats[0].ndim == 1 else 1
        equal = floats[0].argmax(channel) == values[0].argmax(channel)
        same, places = same + int(np.sum(equal)), places + int(np.size(equal))
    return Accuracy(tuple(map(_decibels, signal, noise)), same / places, len(pairs))


def _decibels(signal: float, noise: float) -> float:
    if noise == 0.0:
        return math.inf
    return 10 * math.log10(signal / noise) if signal > 0.0 else -math.inf
