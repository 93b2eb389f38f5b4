"""quantized_batch_matmul."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import strategies as st

from cortex_m.host import library
from cortex_m.test.suite.case import Case, Scratch, int8
from cortex_m.test.suite.oracle import clamp, oracle, requantize
from cortex_m.test.suite.parameters import requantization


@oracle("quantized_batch_matmul")
def quantized_batch_matmul(
    lhs, lhs_zero_point, rhs_transposed, rhs_zero_point, output_zero_point, output_multiplier, output_shift
):
    """The zero points of the operands are negated, whatever they are called."""
    left, right = lhs.astype(np.int64) + lhs_zero_point, rhs_transposed.astype(np.int64) + rhs_zero_point
    sums = np.einsum("...mk,...nk->...mn", left, right)
    return clamp(requantize(sums, output_multiplier, output_shift) + output_zero_point, -128, 127)


def matmul(
    name: str, seed: int, left_batch: Sequence[int], rows: int, depth: int, columns: int,
    right_batch: Sequence[int] | None = None, zero_points: tuple[int, int] | None = None,
) -> Case:  # fmt: skip
    rng = np.random.default_rng(seed)
    left = int8(rng, (*left_batch, rows, depth))
    right = int8(rng, (*(left_batch if right_batch is None else right_batch), columns, depth))
    offsets = zero_points or tuple(int(v) for v in rng.integers(-60, 61, 2))
    sums = np.einsum(
        "...mk,...nk->...mn", left.numpy().astype(np.int64) + offsets[0], right.numpy().astype(np.int64) + offsets[1]
    )
    multipliers, shifts, zero = requantization(sums.reshape(-1, 1), rng)
    scratch = Scratch(lambda backend: library.batch_matmul_scratch_size(backend, depth, columns))
    arguments = (left, offsets[0], right, offsets[1], zero, int(multipliers[0]), int(shifts[0]), scratch)
    return Case("quantized_batch_matmul", name, arguments)


def cases() -> Iterator[Case]:
    for depth in (1, 2, 3, 7, 8, 15, 16, 17, 33, 64):
        for rows, columns in ((1, 1), (3, 4), (5, 7), (2, 18)):
            yield matmul(f"{rows} by {depth} by {columns}", depth, (2,), rows, depth, columns)
    yield matmul("four dimensions", 1, (2, 3), 4, 9, 5)
    for left, right in (((1,), (3,)), ((3,), (1,)), ((2, 1), (1, 3)), ((1, 3), (2, 3)), ((2, 3), (1, 1))):
        yield matmul(f"batches {left} and {right}", 2, left, 3, 11, 4, right)
    for zero_points in ((128, 128), (-127, -127), (-127, 128), (0, 0)):
        yield matmul(f"minus zero points {zero_points}", 3, (1,), 6, 20, 6, zero_points=zero_points)
    yield matmul("deep", 4, (1,), 3, 900, 3)
    yield matmul("wide", 5, (1,), 2, 6, 140)


@st.composite
def _drawn(draw) -> Case:
    batch = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    left = [size if draw(st.booleans()) else 1 for size in batch]
    right = [size if other == 1 else draw(st.sampled_from([1, size])) for size, other in zip(batch, left)]
    seed = draw(st.integers(0, 2**32 - 1))
    rows, depth, columns = draw(st.tuples(st.integers(1, 9), st.integers(1, 60), st.integers(1, 20)))
    return matmul(f"seed {seed}", seed, left, rows, depth, columns, right)


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn(), 50)]
