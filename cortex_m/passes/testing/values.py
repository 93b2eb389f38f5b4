"""Values of the exact oracle: what a float tensor of a quantized graph stands for, and the roundings of docs/numerics.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from cortex_m.test.suite.oracle import clamp, factors, requantize


@dataclass(frozen=True)
class Params:
    """Quantization parameters of a tensor; real = scale * (stored - zero_point)."""

    scale: float
    zero_point: int
    low: int
    high: int
    dtype: torch.dtype = torch.int8

    def nearest(self, real: float) -> int:
        """The stored integer for a bound of an activation: half even, in float64; infinities are the ends of the range."""
        if math.isinf(real):
            return self.low if real < 0 else self.high
        return min(max(round(real / self.scale) + self.zero_point, self.low), self.high)


@dataclass(frozen=True)
class Function:
    """A float64 function of one stored tensor, element by element. by_table: an operator without an int8 kernel is in it."""

    origin: Value
    apply: Callable[[torch.Tensor], torch.Tensor]
    by_table: bool


# Stored integers for parameters and real bounds of the result.
Quantizer = Callable[[Params, float, float], np.ndarray]


@dataclass(frozen=True, eq=False)
class Value:
    """A result of a node.

    real: what PyTorch gives, in float32 where it is a float. constant: it depends on no input.
    stored, params: the integers that are dequantized here. channels: (scales, axis) instead of params, one scale a channel.
    quantize: the integers it is rounded to where int8 operators compute it. function: how it depends on one stored tensor.
    items: of a node with several results.
    """

    real: Any
    constant: bool = False
    stored: Any = None  # np.ndarray | None: the rules look at `params` or `channels` first, which come with it
    params: Any = None  # Params | None
    channels: tuple[np.ndarray, int] | None = None
    quantize: Any = None  # Quantizer | None
    function: Function | None = None
    items: tuple[Value, ...] | None = None

    @property
    def difference(self) -> np.ndarray:
        """stored - zero point."""
        return self.stored - self.params.zero_point


class Record:
    """The integers that requantization must be told: `needed` are in the program, and nothing but those and `permitted` is."""

    def __init__(self) -> None:
        self.needed: set[tuple] = set()
        self.permitted: set[tuple] = set()

    def pairs(self, real: Any, needed: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """(multipliers, shifts) of real factors, noted."""
        multipliers, shifts = factors(real)
        pairs = zip(np.ravel(multipliers).tolist(), np.ravel(shifts).tolist())
        (self.needed if needed else self.permitted).update(("pair", *pair) for pair in pairs)
        return multipliers, shifts


def dequantized(stored: np.ndarray, params: Params) -> torch.Tensor:
    """float32(q - zero_point) * float32(scale), rounded to float32."""
    difference = (stored - params.zero_point).astype(np.float32)
    return torch.from_numpy(np.asarray(difference * np.float32(params.scale)))


def of_stored(stored: np.ndarray, params: Params, constant: bool = False) -> Value:
    stored = np.asarray(stored)
    return Value(dequantized(stored, params), constant, stored.astype(np.int64), params)


def quantized_float(real: torch.Tensor, params: Params) -> np.ndarray:
    """x * (1 / scale), half even, each step in float32; NaN is the zero point."""
    inverse = np.float32(1) / np.float32(params.scale)
    steps = np.rint(real.detach().numpy().astype(np.float32) * inverse).astype(np.float64)
    steps = np.where(np.isnan(steps), 0, np.clip(steps, -(2**20), 2**20)).astype(np.int64)
    return np.clip(steps + params.zero_point, params.low, params.high)


def bounded(stored: np.ndarray, params: Params, low: float, high: float) -> np.ndarray:
    return clamp(stored, params.nearest(low), params.nearest(high), np.int64)


def requantized(value: Value, params: Params, low: float, high: float, record: Record) -> np.ndarray:
    """The stored integers of `value` with other parameters: one factor, s_in / s_out, behind 20 bits of headroom."""
    source = value.params
    same = (source.scale, source.zero_point) == (params.scale, params.zero_point)
    needed = not same and not value.constant
    record.pairs(0.5, needed)
    pair = record.pairs(source.scale / (params.scale * 2.0**20), needed)
    if same:
        return bounded(value.stored, params, low, high)
    return bounded(requantize(value.difference * 2**20, *pair) + params.zero_point, params, low, high)


def table(function: Function, params: Params) -> np.ndarray:
    """The entry of each value of the origin: half away; where there is none (NaN) that of the nearest that has one."""
    origin = function.origin
    q = np.arange(-128, 128)
    reals = torch.from_numpy((q - origin.params.zero_point).astype(np.float64)) * origin.params.scale
    values = function.apply(reals).to(torch.float64).expand(256).numpy()
    defined = [index for index in range(256) if not math.isnan(values[index])]
    entries = []
    for index in range(256):
        steps = values[min(defined, key=lambda other: (abs(other - index), other))] / params.scale
        steps = min(max(steps, -1000.0), 1000.0)
        away = math.copysign(math.floor(abs(steps) + 0.5), steps)
        entries.append(min(max(int(away) + params.zero_point, params.low), params.high))
    return np.array(entries)[origin.stored + 128]


def quantized(
    value: Value, params: Params, record: Record, low: float = -math.inf, high: float = math.inf
) -> np.ndarray:
    """The integers that a quantize node behind `value` gives."""
    if value.constant:
        return bounded(quantized_float(value.real, params), params, low, high)
    if value.stored is not None and value.params is not None:
        return requantized(value, params, low, high, record)
    if value.function is not None and value.function.by_table:
        return bounded(table(value.function, params), params, low, high)
    if value.quantize is not None:
        return value.quantize(params, low, high)
    record.needed.add(("quantize", params.scale, params.zero_point, params.low, params.high))
    return bounded(quantized_float(value.real, params), params, low, high)
