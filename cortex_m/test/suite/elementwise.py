"""quantized_add, quantized_mul, quantized_div, minimum and maximum: two operands that broadcast."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from hypothesis import strategies as st

from cortex_m.test.suite.case import Case, with_order
from cortex_m.test.suite.oracle import clamp, factors, oracle, requantize
from cortex_m.test.suite.parameters import output_range, requantization

Make = Callable[..., Case]


@oracle("quantized_add")
def quantized_add(
    self, self_zero_point, self_multiplier, self_shift, other, other_zero_point, other_multiplier, other_shift,
    output_zero_point, output_multiplier, output_shift, activation_min, activation_max,
):  # fmt: skip
    a = requantize((self.astype(np.int64) - self_zero_point) * 2**20, self_multiplier, self_shift)
    b = requantize((other.astype(np.int64) - other_zero_point) * 2**20, other_multiplier, other_shift)
    out = requantize(a + b, output_multiplier, output_shift) + output_zero_point
    return clamp(out, activation_min, activation_max)


@oracle("quantized_mul")
def quantized_mul(self, self_zero_point, other, other_zero_point, output_zero_point, output_multiplier, output_shift):
    product = (self.astype(np.int64) - self_zero_point) * (other.astype(np.int64) - other_zero_point)
    return clamp(requantize(product, output_multiplier, output_shift) + output_zero_point, -128, 127)


@oracle("quantized_div")
def quantized_div(self, self_zero_point, other, other_zero_point, output_zero_point, output_scale):
    numerator = (self.astype(np.int64) - self_zero_point).astype(np.float64)
    denominator = (other.astype(np.int64) - other_zero_point).astype(np.float64)
    # A float64 quotient rounds to float32 as the exact one does: 53 >= 2 * 24 + 2. The product is exact in float64.
    quotient = (numerator / np.where(denominator == 0, 1, denominator)).astype(np.float32).astype(np.float64)
    scaled = (quotient * np.float64(np.float32(output_scale))).astype(np.float32).astype(np.float64)
    nearest = np.sign(scaled) * np.floor(np.minimum(np.abs(scaled), 1e6) + 0.5)
    limits = np.iinfo(self.dtype)
    out = np.where(denominator == 0, 0, nearest).astype(np.int64) + output_zero_point
    return clamp(out, limits.min, limits.max, self.dtype)


@oracle("minimum")
def minimum(self, other):
    return np.where(self < other, self, other)


@oracle("maximum")
def maximum(self, other):
    return np.where(self > other, self, other)


def _pair(factor: float) -> tuple[int, int]:
    multiplier, shift = factors(factor)
    return int(multiplier), int(shift)


def added(
    name: str, seed: int, a: torch.Tensor, b: torch.Tensor, *, scales: tuple[float, float] = (0.03, 0.05),
    subtract: bool = False, relu: bool = False, kind: str = "example",
) -> Case:  # fmt: skip
    """self and other of these scales; the output's scale makes room for their sum."""
    rng = np.random.default_rng(seed)
    zeros = [int(v) for v in rng.integers(-60, 61, 2)]
    twice = 2 * max(scales)
    out_scale = float(np.sqrt(scales[0] ** 2 + scales[1] ** 2)) * rng.uniform(1.2, 2.0)
    first, second = _pair(scales[0] / twice), _pair(scales[1] / twice)
    if subtract:
        second = (-second[0], second[1])
    sign = -1 if subtract else 1
    middle = scales[0] * (a.double().mean() - zeros[0]) + sign * scales[1] * (b.double().mean() - zeros[1])
    zero = int(np.clip(rng.integers(-20, 21) - float(middle) / out_scale, -128, 127))
    output = _pair(twice / (out_scale * 2**20))
    arguments = (zeros[0], *first, b.numpy(), zeros[1], *second, zero, *output)
    low, high = output_range(quantized_add(a.numpy(), *arguments, -128, 127), relu)
    return Case("quantized_add", name, (a, zeros[0], *first, b, zeros[1], *second, zero, *output, low, high), kind)


def multiplied(name: str, seed: int, a: torch.Tensor, b: torch.Tensor, *, kind: str = "example") -> Case:
    rng = np.random.default_rng(seed)
    zeros = [int(v) for v in rng.integers(-60, 61, 2)]
    product = (a.numpy().astype(np.int64) - zeros[0]) * (b.numpy().astype(np.int64) - zeros[1])
    multipliers, shifts, zero = requantization(product.reshape(-1, 1), rng)
    return Case("quantized_mul", name, (a, zeros[0], b, zeros[1], zero, int(multipliers[0]), int(shifts[0])), kind)


def divided(name: str, seed: int, a: torch.Tensor, b: torch.Tensor, *, kind: str = "example") -> Case:
    """The output scale puts three fifths of the quotients within a third of the range."""
    rng = np.random.default_rng(seed)
    limits = torch.iinfo(a.dtype)
    zeros = [int(v) for v in rng.integers(limits.min // 2, limits.max // 2, 2)]
    denominator = b.numpy().astype(np.int64) - zeros[1]
    quotient = (a.numpy().astype(np.int64) - zeros[0]) / np.where(denominator == 0, 1e9, denominator)
    scale = float(limits.max / 3 / max(np.quantile(np.abs(quotient), 0.6), 1e-3))
    return Case("quantized_div", name, (a, zeros[0], b, zeros[1], int(rng.integers(-20, 21)), scale), kind)


def _least(name: str, seed: int, a: torch.Tensor, b: torch.Tensor, *, kind: str = "example") -> Case:
    return Case("minimum", name, (a, b), kind)


def _greatest(name: str, seed: int, a: torch.Tensor, b: torch.Tensor, *, kind: str = "example") -> Case:
    return Case("maximum", name, (a, b), kind)


_MAKERS: tuple[tuple[Make, torch.dtype], ...] = (
    (added, torch.int8), (multiplied, torch.int8), (divided, torch.int8), (divided, torch.int16), (_least, torch.int8),
    (_greatest, torch.int8),
)  # fmt: skip


def _values(rng: np.random.Generator, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    limits = torch.iinfo(dtype)
    return torch.tensor(rng.integers(limits.min, limits.max + 1, tuple(shape)), dtype=dtype)


def _operands(
    seed: int, shapes: tuple[Sequence[int], Sequence[int]], dtype: torch.dtype = torch.int8,
    orders: tuple[Sequence[int] | None, Sequence[int] | None] = (None, None),
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    rng = np.random.default_rng(seed)
    made = [_values(rng, shape, dtype) for shape in shapes]
    return tuple(t if order is None else with_order(t, tuple(order)) for t, order in zip(made, orders))


_BROADCASTS = (
    ((2, 3, 4, 5), (1, 3, 1, 1)), ((1, 3, 1, 1), (2, 3, 4, 5)), ((2, 3, 4, 5), (5,)), ((2, 3, 4, 5), (4, 1)),
    ((2, 1, 4, 1), (1, 3, 1, 5)), ((2, 3, 4, 5), (1,)), ((1, 1, 1, 1), (2, 3, 4, 5)), ((3, 17), (17,)), ((3, 17), (3, 1)),
    ((6, 1), (1, 33)), ((2, 3, 4, 5), (2, 1, 1, 5)), ((), (3, 4)), ((3, 4), ()), ((2, 1, 3, 1, 4), (2, 1, 1, 2, 4)),
)  # fmt: skip


def _examples(make: Make, dtype: torch.dtype) -> Iterator[Case]:
    suffix = "" if dtype == torch.int8 else f", {dtype}"
    for count in (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 100):
        yield make(f"{count} values{suffix}", count, *_operands(count, ((count,), (count,)), dtype))
    for shape in ((3, 5), (2, 3, 4), (2, 3, 4, 5)):
        yield make(f"shape {shape}{suffix}", 1, *_operands(1, (shape, shape), dtype))
    image = (2, 3, 4, 5)
    for orders in (((0, 2, 3, 1), (0, 2, 3, 1)), ((3, 2, 1, 0), (3, 2, 1, 0)), ((0, 1, 2, 3), (0, 2, 3, 1))):
        yield make(f"dim orders {orders}{suffix}", 2, *_operands(2, (image, image), dtype, orders))
    for shapes in _BROADCASTS:
        yield make(f"{shapes[0]} with {shapes[1]}{suffix}", 3, *_operands(3, shapes, dtype))
    for small in ((1, 3, 1, 1), (2, 1, 4, 1), (1, 1, 4, 5)):
        yield make(
            f"{small} with a channels_last image{suffix}", 4, *_operands(4, (small, image), dtype, (None, (0, 2, 3, 1)))
        )


def cases() -> Iterator[Case]:
    for make, dtype in _MAKERS:
        yield from _examples(make, dtype)
        if dtype == torch.int8:
            every = torch.arange(-128, 128, dtype=torch.int8)
            for seed in (5, 6):
                yield make(f"all pairs, {seed}", seed, every.reshape(256, 1), every.reshape(1, 256), kind="exhaustive")
            grid = torch.meshgrid(every, every, indexing="ij")
            yield make("all pairs, equal shapes", 7, *(t.contiguous() for t in grid), kind="exhaustive")
    a, b = _operands(8, ((60,), (60,)))
    for scales in ((0.01, 1.0), (1.0, 0.01), (0.02, 0.02), (3e-5, 2e-5)):
        yield added(f"scales {scales}", 9, a, b, scales=scales)
        yield added(f"scales {scales}, subtracted", 9, a, b, scales=scales, subtract=True)
    yield added("relu", 10, a, b, relu=True)
    every = torch.arange(-128, 128, dtype=torch.int8)
    yield added(
        "all pairs, subtracted", 11, every.reshape(256, 1), every.reshape(1, 256), subtract=True, kind="exhaustive"
    )


@st.composite
def _drawn(draw, make: Make, dtype: torch.dtype) -> Case:
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    ones = [draw(st.sampled_from([(False, False)] * 3 + [(True, False), (False, True)])) for _ in shape]
    shapes = [[1 if one[i] else size for size, one in zip(shape, ones)] for i in (0, 1)]
    shapes[1] = shapes[1][draw(st.integers(0, len(shape))) if draw(st.booleans()) else 0 :]
    orders = [draw(st.permutations(range(len(s)))) for s in shapes]
    changes = {}
    if make is added:
        changes["scales"] = tuple(draw(st.floats(-8, 3).map(lambda e: 2.0**e)) for _ in range(2))
        changes |= dict(subtract=draw(st.booleans()), relu=draw(st.booleans()))
    seed = draw(st.integers(0, 2**32 - 1))
    pairs = (shapes[0], shapes[1]), (orders[0], orders[1])
    return make(f"seed {seed}", seed, *_operands(seed, pairs[0], dtype, pairs[1]), **changes)


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn(make, dtype), 40) for make, dtype in _MAKERS]
