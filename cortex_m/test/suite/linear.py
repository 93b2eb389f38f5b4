"""quantized_linear and quantized_linear_per_channel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from cortex_m.test.suite.case import Case, int8, int32
from cortex_m.test.suite.oracle import clamp, oracle, requantize
from cortex_m.test.suite.parameters import output_range, requantization


def _sums(x: np.ndarray, weights: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    sums = np.einsum("...k,nk->...n", x.astype(np.int64), weights.astype(np.int64))
    return sums if bias is None else sums + bias.reshape(-1).astype(np.int64)


@oracle("quantized_linear")
def quantized_linear(
    input, weights, bias, kernel_sum, input_offset, filter_offset, output_offset, requantize_multipliers,
    requantize_shifts, activation_max, activation_min,
):  # fmt: skip
    w = weights.astype(np.int64) + filter_offset
    x = input.astype(np.int64)
    # kernel_sum = input_offset * sum(w) + bias, with the filter's own zero point of 0.
    sums = _sums(x + input_offset, w, bias) if kernel_sum is None else _sums(x, w, kernel_sum)
    scaled = requantize(sums, np.array(requantize_multipliers), np.array(requantize_shifts))
    return clamp(scaled + output_offset, activation_min, activation_max)


@oracle("quantized_linear_per_channel")
def quantized_linear_per_channel(
    input, weights, bias, input_offset, output_offset, requantize_multipliers, requantize_shifts, activation_min,
    activation_max,
):  # fmt: skip
    sums = _sums(input.astype(np.int64) + input_offset, weights, bias)
    return clamp(
        requantize(sums, requantize_multipliers, requantize_shifts) + output_offset, activation_min, activation_max
    )


def linear(
    name: str, seed: int, *, rows: tuple[int, ...] = (3,), depth: int = 16, outputs: int = 5, form: str = "one",
    offset: int | None = None, filter_offset: int = 0, bias: bool = True, relu: bool = False, weight_limit: int = 127,
) -> Case:  # fmt: skip
    """form: "one" factor for all outputs, a "list" with one each, "sum" with kernel_sum, or the op "per_channel"."""
    rng = np.random.default_rng(seed)
    x = int8(rng, (*rows, depth))
    weights = int8(rng, (outputs, depth), -weight_limit, weight_limit)
    input_offset = int(rng.integers(-127, 129)) if offset is None else offset
    w = weights.numpy().astype(np.int64) + filter_offset
    sums = _sums(x.numpy().astype(np.int64) + input_offset, w, None)
    values = rng.integers(-1, 2, outputs) * (1 + np.abs(sums).max() // 4) + rng.integers(-50, 51, outputs)
    if bias:
        sums = sums + values
    multipliers, shifts, output_offset = requantization(sums, rng)
    if form in ("one", "sum"):
        multipliers, shifts, output_offset = requantization(sums.reshape(-1, 1), rng)
    low, high = output_range(requantize(sums, multipliers, shifts) + output_offset, relu)
    constant = int32(values) if bias else None
    if form == "per_channel":
        arguments: tuple[Any, ...] = (
            x, weights, constant, input_offset, output_offset, int32(multipliers), int32(shifts), low, high
        )  # fmt: skip
        return Case("quantized_linear_per_channel", name, arguments)
    kernel_sum = None
    if form == "sum":
        kernel_sum = int32((input_offset * w.sum(axis=1) + (values if bias else 0)).reshape(1, -1))
        constant = None
    arguments = (
        x, weights, constant, kernel_sum, input_offset, filter_offset, output_offset,
        list(map(int, multipliers)), list(map(int, shifts)), high, low,
    )  # fmt: skip
    return Case("quantized_linear", name, arguments)


def cases() -> Iterator[Case]:
    for form in ("one", "list", "sum", "per_channel"):
        for depth in (1, 3, 8, 15, 16, 17, 33, 64):
            for outputs in (1, 4, 7):
                yield linear(f"{form}, {depth} to {outputs}", depth, depth=depth, outputs=outputs, form=form)
        for rows in ((), (1,), (4,), (5,), (2, 3), (2, 1, 3)):
            yield linear(f"{form}, rows {rows}", 1, rows=rows, form=form)
        yield linear(f"{form}, deep", 2, depth=700, outputs=3, form=form)
        yield linear(f"{form}, wide", 3, depth=9, outputs=130, form=form)
        yield linear(f"{form}, without bias", 4, bias=False, form=form)
        yield linear(f"{form}, relu", 5, relu=True, outputs=20, form=form)
        yield linear(f"{form}, factors above 1", 6, depth=2, weight_limit=1, offset=0, outputs=11, form=form)
        for offset in (-127, 0, 128):
            yield linear(f"{form}, input offset {offset}", 7, offset=offset, form=form)
    for filter_offset in (-127, 3, 128):
        yield linear(f"filter offset {filter_offset}", 8, filter_offset=filter_offset)


@st.composite
def _drawn(draw, form: str) -> Case:
    seed = draw(st.integers(0, 2**32 - 1))
    return linear(
        f"seed {seed}", seed, rows=tuple(draw(st.lists(st.integers(1, 4), max_size=3))), depth=draw(st.integers(1, 80)),
        outputs=draw(st.integers(1, 40)), form=form,
        bias=draw(st.booleans()), relu=draw(st.booleans()),
    )  # fmt: skip


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn(form), 20) for form in ("one", "list", "sum", "per_channel")]
