"""pad and transpose."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import strategies as st

from cortex_m.test.suite.case import Case, int8, with_order
from cortex_m.test.suite.oracle import oracle


@oracle("transpose")
def transpose(input, perm):
    return np.transpose(input, perm)


@oracle("pad")
def pad(input, pre_pad, post_pad, pad_value):
    """The counts are in memory order: NumPy's strides say which dimension is where."""
    rank = input.ndim
    order = sorted(range(rank), key=lambda dim: -input.strides[dim])
    pre, post = pre_pad[4 - rank :], post_pad[4 - rank :]
    widths = [(pre[order.index(dim)], post[order.index(dim)]) for dim in range(rank)]
    return np.pad(input, widths, constant_values=pad_value)


def padded(
    name: str, seed: int, shape: Sequence[int], pre: Sequence[int], post: Sequence[int], value: int,
    order: Sequence[int] | None = None,
) -> Case:  # fmt: skip
    """shape in logical order, pre and post in memory order."""
    x = int8(np.random.default_rng(seed), tuple(shape))
    if order is not None:
        x = with_order(x, tuple(order))
    lead = [0] * (4 - len(shape))
    return Case("pad", name, (x, [*lead, *pre], [*lead, *post], value))


def transposed(
    name: str, seed: int, shape: Sequence[int], perm: Sequence[int], order: Sequence[int] | None = None
) -> Case:
    x = int8(np.random.default_rng(seed), tuple(shape))
    if order is not None:
        x = with_order(x, tuple(order))
    return Case("transpose", name, (x, list(perm)))


def cases() -> Iterator[Case]:
    for rank in (1, 2, 3, 4):
        shape = (3, 5, 4, 7)[-rank:]
        for axis in range(rank):
            pre, post = [0] * rank, [0] * rank
            pre[axis], post[axis] = 2, 3
            yield padded(f"rank {rank}, axis {axis}", rank, shape, pre, post, -7)
        yield padded(f"rank {rank}, all axes", rank, shape, range(1, rank + 1), range(rank, 0, -1), 100)
        yield padded(f"rank {rank}, nothing", rank, shape, [0] * rank, [0] * rank, 1)
        for perm in itertools.permutations(range(rank)):
            yield transposed(f"{shape} to {perm}", rank, shape, perm)
    yield padded("channels_last", 5, (2, 3, 4, 5), (0, 1, 0, 0), (0, 0, 1, 0), -128, (0, 2, 3, 1))
    yield padded("any dim order", 5, (2, 3, 4, 5), (0, 0, 0, 1), (0, 0, 0, 0), 127, (2, 0, 3, 1))
    yield padded("different counts in any dim order", 5, (2, 3, 4, 5), (1, 0, 2, 3), (0, 1, 1, 0), -9, (2, 0, 3, 1))
    for width in (1, 2, 15, 16, 17, 33, 64):
        yield padded(f"rows of {width}", width, (2, 3, width), (0, 1, 0), (0, 0, 1), 9)
        yield transposed(f"matrix 3 by {width}", width, (3, width), (1, 0))
        yield transposed(f"matrices {width} by 16", width, (2, width, 16), (0, 2, 1))
    for perm in itertools.permutations(range(4)):
        yield transposed(f"channels_last to {perm}", 6, (2, 3, 4, 5), perm, (0, 2, 3, 1))
    yield transposed("sizes of 1", 7, (1, 6, 1, 5), (3, 2, 1, 0))


@st.composite
def _drawn_pad(draw) -> Case:
    rank = draw(st.integers(1, 4))
    shape = draw(st.tuples(*[st.integers(1, 9)] * rank))
    counts = st.tuples(*[st.integers(0, 4)] * rank)
    # Sizes of 1 would leave it open which dimension a count in memory order is for.
    order = draw(st.permutations(range(rank))) if min(shape) > 1 else None
    seed = draw(st.integers(0, 2**32 - 1))
    return padded(f"seed {seed}", seed, shape, draw(counts), draw(counts), draw(st.integers(-127, 126)), order)


@st.composite
def _drawn_transpose(draw) -> Case:
    rank = draw(st.integers(1, 4))
    shape = draw(st.tuples(*[st.integers(1, 20)] * rank).filter(lambda s: np.prod(s) <= 3000))
    seed = draw(st.integers(0, 2**32 - 1))
    return transposed(
        f"seed {seed}", seed, shape, draw(st.permutations(range(rank))), draw(st.permutations(range(rank)))
    )


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn_pad(), 40), (_drawn_transpose(), 40)]
