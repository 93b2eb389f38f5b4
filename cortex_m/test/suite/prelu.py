"""quantized_prelu: a slope for each channel, channels innermost in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from hypothesis import strategies as st

from cortex_m.test.suite.case import Case, int8, int32, with_order
from cortex_m.test.suite.oracle import clamp, factors, oracle, requantize


@oracle("quantized_prelu")
def quantized_prelu(
    input, dim, input_zero_point, output_zero_point, multiplier, shift, negative_multipliers, negative_shifts
):  # fmt: skip
    rows = np.moveaxis(input, dim, -1).astype(np.int64) - input_zero_point
    above = requantize(np.maximum(rows, 0), multiplier, shift)
    below = requantize(np.minimum(rows, 0), negative_multipliers, negative_shifts)
    return clamp(np.moveaxis(above + below, -1, dim) + output_zero_point, -128, 127)


def sloped(
    name: str, seed: int, shape: Sequence[int], dim: int = -1, order: Sequence[int] | None = None,
    *, slopes: Sequence[float] | None = None, ratio: float = 0.7, x: torch.Tensor | None = None, kind: str = "example",
) -> Case:  # fmt: skip
    """slopes: one for each index of dim, or drawn; ratio: of the input's scale to the output's."""
    rng = np.random.default_rng(seed)
    if x is None:
        x = int8(rng, tuple(shape))
    if order is not None:
        x = with_order(x, tuple(order))
    drawn = rng.uniform(-0.7, 1.3, x.shape[dim]) if slopes is None else slopes
    multiplier, shift = (int(value) for value in factors(ratio))
    multipliers, shifts = factors(np.asarray(drawn) * ratio)
    zeros = [int(value) for value in rng.integers(-20, 21, 2)]
    return Case("quantized_prelu", name, (x, dim, *zeros, multiplier, shift, int32(multipliers), int32(shifts)), kind)


def cases() -> Iterator[Case]:
    for channels in (1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33):
        yield sloped(f"{channels} channels", channels, (6, channels))
    for shape in ((9,), (2, 3, 5), (2, 3, 4, 5), (2, 1, 3, 2, 6)):
        yield sloped(f"shape {shape}", 1, shape)
        yield sloped(f"shape {shape}, last dim by its number", 2, shape, len(shape) - 1)
    yield sloped("channels of a channels_last image", 3, (2, 6, 3, 4), 1, (0, 2, 3, 1))
    yield sloped("dim 1 of one pixel", 4, (2, 6, 1, 1), 1)
    yield sloped("another dim innermost", 5, (5, 2, 3), 0, (1, 2, 0))
    for ratio in (0.01, 0.5, 1.0, 1.6):
        yield sloped(f"scales {ratio} to 1", 6, (20, 6), slopes=[0.25, -0.5, 0.0, 1.4, 1.0, 1e-4], ratio=ratio)
    every = torch.arange(-128, 128, dtype=torch.int8)[:, None].expand(256, 7).contiguous()
    for seed, ratio in ((7, 0.43), (8, 0.97)):
        yield sloped(f"all values, {ratio}", seed, (), x=every, ratio=ratio, kind="exhaustive")


@st.composite
def _drawn(draw) -> Case:
    rank = draw(st.integers(1, 4))
    shape = draw(st.tuples(*[st.integers(1, 6)] * (rank - 1), st.integers(4, 20)))
    seed = draw(st.integers(0, 2**32 - 1))
    return sloped(f"seed {seed}", seed, shape, ratio=draw(st.floats(0.05, 0.7)))


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn(), 30)]
