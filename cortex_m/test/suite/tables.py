"""quantized_activation: a table of 256 entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from hypothesis import strategies as st

from cortex_m.test.suite.case import Case, int8, with_order
from cortex_m.test.suite.oracle import oracle


@oracle("quantized_activation")
def quantized_activation(input, lut):
    entries = dict(zip(range(-128, 128), lut.tolist()))
    return np.array([entries[value] for value in input.reshape(-1).tolist()], np.int8).reshape(input.shape)


def looked_up(name: str, seed: int, shape: Sequence[int], order: Sequence[int] | None = None) -> Case:
    """A random table, so that no two entries can be exchanged unseen."""
    rng = np.random.default_rng(seed)
    x = int8(rng, tuple(shape)) if shape else torch.tensor(-77, dtype=torch.int8)
    lut = torch.from_numpy(rng.permutation(np.arange(-128, 128)).astype(np.int8))
    return Case("quantized_activation", name, (x if order is None else with_order(x, tuple(order)), lut))


def cases() -> Iterator[Case]:
    for count in (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 65, 300):
        yield looked_up(f"{count} values", count, (count,))
    for shape in ((), (3, 5), (2, 3, 4), (2, 3, 4, 5), (2, 1, 3, 2, 2)):
        yield looked_up(f"shape {shape}", 1, shape)
    for order in ((0, 2, 3, 1), (3, 1, 0, 2)):
        yield looked_up(f"dim order {order}", 2, (2, 3, 4, 5), order)
    every = torch.arange(-128, 128, dtype=torch.int8)
    for seed in (3, 4):
        yield Case(
            "quantized_activation", f"all values, {seed}", (every, looked_up("", seed, (1,)).arguments[1]), "exhaustive"
        )


@st.composite
def _drawn(draw) -> Case:
    shape = draw(st.lists(st.integers(1, 9), max_size=4))
    seed = draw(st.integers(0, 2**32 - 1))
    return looked_up(f"seed {seed}", seed, shape, draw(st.permutations(range(len(shape)))))


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn(), 20)]
