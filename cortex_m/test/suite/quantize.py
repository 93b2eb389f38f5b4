"""quantize_per_tensor, dequantize_per_tensor and their twins that change the layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from hypothesis import strategies as st

from cortex_m.test.suite.case import Case, with_order
from cortex_m.test.suite.oracle import oracle

_SPECIAL = "infinities and values beyond the range are its point"


@oracle("quantize_per_tensor")
def quantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    # The product of two float32 is exact in float64; the conversion back rounds it once.
    inverse = np.float64(np.float32(1 / np.float64(np.float32(scale))))
    with np.errstate(over="ignore", invalid="ignore"):
        product = (input.astype(np.float64) * inverse).astype(np.float32).astype(np.float64)
    steps = np.where(np.isnan(product), 0.0, np.clip(product, -1e6, 1e6))
    integer = np.rint(steps).astype(np.int64) + zero_point
    return np.clip(integer, quant_min, quant_max).astype(np.int8 if dtype == torch.int8 else np.int16)


@oracle("dequantize_per_tensor")
def dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    exact = (input.astype(np.int64) - zero_point) * np.float64(np.float32(scale))
    return exact.astype(np.float32)


@oracle("quantize_to_nhwc")
def quantize_to_nhwc(input, *args, **kwargs):
    return quantize_per_tensor(input, *args, **kwargs).transpose(0, 2, 3, 1)


@oracle("dequantize_from_nhwc")
def dequantize_from_nhwc(input, *args, **kwargs):
    return dequantize_per_tensor(input, *args, **kwargs).transpose(0, 3, 1, 2)


def _range(dtype: torch.dtype) -> tuple[int, int]:
    return torch.iinfo(dtype).min, torch.iinfo(dtype).max


def quantized(
    op: str, name: str, seed: int, shape: Sequence[int], *, scale: float = 0.037, zero_point: int | None = None,
    dtype: torch.dtype = torch.int8, order: Sequence[int] | None = None, limits: tuple[int, int] | None = None,
) -> Case:  # fmt: skip
    """A quantization of floats, or a dequantization of integers, of the whole range."""
    rng = np.random.default_rng(seed)
    low, high = limits or _range(dtype)
    zero = int(rng.integers(low, high + 1)) if zero_point is None else zero_point
    integers = rng.integers(low, high + 1, tuple(shape))
    if op.startswith("de"):
        x = torch.tensor(integers, dtype=dtype)
    else:
        x = torch.tensor((integers - zero + rng.uniform(-0.49, 0.49, np.shape(integers))) * scale, dtype=torch.float32)
    if order is not None:
        x = with_order(x, tuple(order))
    return Case(op, name, (x, scale, zero, low, high, dtype))


def special_floats() -> np.ndarray:
    """Each exponent with the smallest, a middle and the largest mantissa, both signs; zeros, infinities, NaNs."""
    exponents = np.arange(256, dtype=np.uint32) << 23
    mantissas = np.array([0, 1, 0x200000, 0x400000, 0x555555, 0x7FFFFF], np.uint32)
    bits = (exponents[:, None] | mantissas).reshape(-1)
    return np.concatenate([bits, bits | np.uint32(1 << 31)]).view(np.float32)


def _edges() -> Iterator[Case]:
    """Every exponent of a float, and every tie between two steps."""
    for dtype in (torch.int8, torch.int16):
        low, high = _range(dtype)
        for scale, zero in ((1.0, 0), (0.037, -17), (2.0**-20, 5), (3e30, 1)):
            values = torch.from_numpy(special_floats())
            yield Case(
                "quantize_per_tensor", f"special floats to {dtype}, scale {scale}", (values, scale, zero, low, high, dtype),
                "exhaustive", saturates=_SPECIAL if scale < 1e-3 else None,
            )  # fmt: skip
        ties = torch.arange(-300, 301, dtype=torch.float32) / 2
        beside = torch.cat([ties, torch.nextafter(ties, torch.tensor(1e9)), torch.nextafter(ties, torch.tensor(-1e9))])
        for zero in (0, 1, -100):
            arguments = (beside * 0.25, 0.25, zero, low, high, dtype)
            yield Case("quantize_per_tensor", f"ties to {dtype}, zero point {zero}", arguments, "exhaustive")
        every = torch.arange(low, high + 1, dtype=torch.int32).to(dtype)
        for scale, zero in ((0.037, -17), (2.0**-125, low), (1.0 / 3, high)):
            arguments = (every, scale, zero, low, high, dtype)
            yield Case("dequantize_per_tensor", f"all {dtype}, scale {scale}", arguments, "exhaustive")


def cases() -> Iterator[Case]:
    for op in ("quantize_per_tensor", "dequantize_per_tensor"):
        for dtype in (torch.int8, torch.int16):
            for shape in ((), (1,), (5,), (16,), (3, 7), (2, 3, 5), (2, 3, 4, 5), (2, 1, 3, 2, 2)):
                yield quantized(op, f"{dtype} {shape}", 1, shape, dtype=dtype)
            for order in ((0, 2, 3, 1), (3, 1, 0, 2)):
                yield quantized(op, f"{dtype}, dim order {order}", 2, (2, 3, 4, 5), dtype=dtype, order=order)
            for count in (15, 17, 31, 33, 63, 65):
                yield quantized(op, f"{count} values of {dtype}", count, (count,), dtype=dtype)
            yield quantized(op, f"narrow range of {dtype}", 3, (40,), dtype=dtype, limits=(-100, 90))
    for op in ("quantize_to_nhwc", "dequantize_from_nhwc"):
        nchw = op.startswith("quantize")
        for dtype in (torch.int8, torch.int16):
            for shape in ((1, 3, 4, 5), (2, 1, 3, 3), (2, 16, 1, 1), (1, 17, 2, 3)):
                yield quantized(op, f"{dtype} {shape}", 4, shape, dtype=dtype)
            if nchw:
                for order in ((0, 2, 3, 1), (3, 1, 0, 2)):
                    yield quantized(op, f"{dtype}, dim order {order}", 5, (2, 3, 4, 5), dtype=dtype, order=order)
    yield from _edges()


@st.composite
def _drawn(draw, op: str, dtype: torch.dtype) -> Case:
    whole = op.endswith("tensor")
    shape = draw(st.lists(st.integers(1, 6), min_size=0 if whole else 4, max_size=4))
    seed = draw(st.integers(0, 2**32 - 1))
    scale = draw(st.floats(-100, 100).map(lambda exponent: 2.0**exponent))
    order = draw(st.permutations(range(len(shape)))) if op != "dequantize_from_nhwc" else None
    return quantized(op, f"seed {seed}", seed, shape, scale=scale, dtype=dtype, order=order)


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    ops = ("quantize_per_tensor", "dequantize_per_tensor", "quantize_to_nhwc", "dequantize_from_nhwc")
    return [(_drawn(op, dtype), 10) for op in ops for dtype in (torch.int8, torch.int16)]
