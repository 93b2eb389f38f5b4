"""The oracles' registry and their fixed-point arithmetic, from docs/numerics.md.

Written apart from cortex_m/ops/reference, with divisions of exact integers instead of shifts and masks, so that a mistake in one
is not repeated in the other. NumPy's int64 holds every intermediate value; what a device would have to wrap is an error here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from cortex_m.ops.codegen import is_scratch

# op -> function of the schema's arguments by name, tensors as NumPy arrays; gives an array in logical order.
ORACLES: dict[str, Callable[..., np.ndarray]] = {}


def oracle(*ops: str) -> Callable:
    """Declares the decorated function as the oracle of `ops`."""

    def add(function: Callable) -> Callable:
        for op in ops:
            if op in ORACLES:
                raise ValueError(f"cortex_m::{op} has two oracles")
            ORACLES[op] = function
        return function

    return add


def expected(op: str, arguments: dict[str, Any]) -> np.ndarray:
    """The oracle's result for arguments by name."""
    given = {name: value for name, value in arguments.items() if not is_scratch(name)}
    values = {name: value.numpy() if isinstance(value, torch.Tensor) else value for name, value in given.items()}
    return ORACLES[op](**values)


def divide_half_away(value: np.ndarray, divisor: Any) -> np.ndarray:
    """value / divisor, rounded to nearest, ties away from zero; divisor > 0."""
    magnitude = (2 * np.abs(value) + divisor) // (2 * divisor)
    return np.sign(value) * magnitude


def requantize(x: np.ndarray, multiplier: Any, shift: Any) -> np.ndarray:
    """x * multiplier * 2^shift / 2^31 with the two roundings of docs/numerics.md. ValueError for what would wrap."""
    multiplier, shift = np.asarray(multiplier, np.int64), np.asarray(shift, np.int64)
    value = np.asarray(x, np.int64) * 2 ** np.maximum(shift, 0)
    if np.any(np.abs(value) >= 2**31):
        raise ValueError("a case whose accumulator wraps has no defined result")
    high = np.floor_divide(value * multiplier + 2**30, 2**31)
    return divide_half_away(high, 2 ** np.maximum(-shift, 0))


def clamp(value: np.ndarray, low: int, high: int, dtype: Any = np.int8) -> np.ndarray:
    return np.minimum(np.maximum(value, low), high).astype(dtype)


def factors(real: Any) -> tuple[np.ndarray, np.ndarray]:
    """(multipliers, shifts) that stand for real factors below 2^30, correctly rounded."""
    real = np.asarray(real, np.float64)
    mantissa, exponent = np.frexp(real)
    multiplier = np.rint(mantissa * 2.0**31).astype(np.int64)
    carried = np.abs(multiplier) == 2**31
    return np.where(carried, multiplier // 2, multiplier), np.where(carried, exponent + 1, exponent).astype(np.int64)
