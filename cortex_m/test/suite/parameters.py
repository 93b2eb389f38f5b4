"""Parameters of a call that put its outputs where they tell something: signed, spread, not at the rails."""

from __future__ import annotations

import numpy as np

from cortex_m.test.suite.oracle import factors


def requantization(sums: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """(multipliers, shifts, output offset): one pair for each index of the last dimension, each with a spread of its own.

    A channel's outputs deviate by 20 to 60 steps from its mean, less if the mean would leave the range; half of all lie
    above the middle.
    """
    channels = sums.reshape(-1, sums.shape[-1]).astype(np.float64)
    deviation = channels.std(axis=0) + 1.0
    # The output offset can make up for a mean of at most about 100 steps.
    real = np.minimum(rng.uniform(20, 60, channels.shape[1]) / deviation, 90 / (np.abs(channels.mean(axis=0)) + 1.0))
    multipliers, shifts = factors(real)
    offset = int(np.clip(rng.integers(-20, 21) - round(float(np.median(channels * real))), -128, 127))
    return multipliers, shifts, offset


def output_range(outputs: np.ndarray, relu: bool) -> tuple[int, int]:
    """activation_min and activation_max: the whole range, or with relu one that a third of the outputs fall out of.

    Few or equal outputs, of which more would, get the whole range.
    """
    outputs = np.asarray(outputs, np.float64)  # quantiles of int8 overflow
    low = int(np.clip(np.quantile(outputs, 0.25), -128, 126))
    high = int(np.clip(np.quantile(outputs, 0.95), low + 1, 127))
    inside = np.mean((outputs > low) & (outputs < high))
    return (low, high) if relu and inside > 0.5 else (-128, 127)
