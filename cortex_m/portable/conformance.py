"""Compares a portable kernel with PyTorch's CPU kernel of the same operator. For tests."""

from __future__ import annotations

import random

import pytest
import torch

from cortex_m.portable import kernel_library

DTYPES = [torch.float32, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]


def make(sizes, dtype: torch.dtype = torch.float32, seed: int = 0, scale: float = 3.0, order=None) -> torch.Tensor:
    """Random, signed where the type is, wide for integers; its dimensions in `order` in memory."""
    generator = torch.Generator().manual_seed(seed + 7919 * len(tuple(sizes)))
    if dtype == torch.float32:
        tensor = torch.randn(sizes, generator=generator) * scale
    elif dtype == torch.bool:
        tensor = torch.randint(0, 2, tuple(sizes), generator=generator).bool()
    else:
        info = torch.iinfo(dtype)
        low, high = max(info.min, -(2**40)), min(info.max, 2**40)
        tensor = torch.randint(low, high, tuple(sizes), generator=generator, dtype=torch.int64).to(dtype)
    return tensor if order is None else kernel_library.with_layout(tensor, order)


def orders(rank: int) -> list[tuple[int, ...]]:
    """Memory orders worth a try: logical, channels last, and one that is neither."""
    logical = tuple(range(rank))
    if rank < 2:
        return [logical]
    last = (0, *range(2, rank), 1) if rank > 2 else (1, 0)
    mixed = list(logical)
    random.Random(rank).shuffle(mixed)
    return list(dict.fromkeys([logical, last, tuple(mixed)]))


def _as_list(result) -> list[torch.Tensor]:
    return [result] if isinstance(result, torch.Tensor) else list(result)


def check(name: str, reference, *args, layouts: bool = True, tolerance=None, out_list: bool = False, **kwargs) -> None:
    """The kernel gives what `reference`, a PyTorch function of the same arguments, gives.

    Args:
      name: of the kernel, "aten::add.out".
      reference: called with args and kwargs; its results say what the out tensors are.
      layouts: also try inputs and out tensors in other memory orders.
      tolerance: None for equality to the bit, else a function of the float64 results' index that gives the allowed absolute
        error as a tensor (see `ulp`).
    """
    expected = _as_list(reference(*args, **kwargs))
    tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
    ranks = {tensor.dim() for tensor in tensors} | {tensor.dim() for tensor in expected}
    variants: list[tuple[int | None, int | None]] = [(None, None)]
    if layouts and max(ranks, default=0) > 1:
        variants += [(0, 1), (1, 0), (1, 2)]  # of `orders`: inputs and out tensors alike and unlike
    for in_variant, out_variant in variants:
        laid_out = list(args)
        if in_variant is not None:
            laid_out = [_relayout(arg, in_variant) for arg in args]
        outs = [
            kernel_library.empty_out(
                result.shape, result.dtype, None if out_variant is None else _pick(orders(result.dim()), out_variant)
            )
            for result in expected
        ]
        actual = kernel_library.call(name, *laid_out, outs=outs, out_list=out_list, **kwargs)
        for index, (got, want) in enumerate(zip(actual, expected, strict=True)):
            what = f"{name} result {index}, layouts {in_variant} {out_variant}"
            if tolerance is None or not want.is_floating_point():
                assert kernel_library.same_bits(got, want.contiguous()), f"{what}: {_first_difference(got, want)}"
            else:
                _close(got, want, tolerance, what)


def _close(got: torch.Tensor, want: torch.Tensor, tolerance, what: str) -> None:
    assert got.shape == want.shape and got.dtype == want.dtype, what
    finite = want.isfinite()
    special = _first_difference(got[~finite], want[~finite])
    assert kernel_library.same_bits(got[~finite], want[~finite]), f"{what}: infinities or NaNs differ: {special}"
    allowed = tolerance(want) if callable(tolerance) else tolerance
    error = (got.double() - want.double()).abs()
    wrong = ~(error <= allowed) & finite
    assert not bool(wrong.any()), f"{what}: {_first_difference(got[wrong], want[wrong])}"


def _first_difference(got: torch.Tensor, want: torch.Tensor) -> str:
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} {tuple(got.shape)} instead of {want.dtype} {tuple(want.shape)}"
    for index, (one, other) in enumerate(zip(got.reshape(-1), want.reshape(-1), strict=True)):
        if not kernel_library.same_bits(one, other):
            return f"element {index} is {one.item()!r} instead of {other.item()!r}"
    return "no difference"


def ulp(count: float, floor: float = 0.0):
    """A tolerance of `count` units in the last place of a float32 result, and at least `floor` absolutely."""

    def allowed(want: torch.Tensor) -> torch.Tensor:
        magnitude = want.double().abs().clamp(min=2.0**-126)
        return (count * 2.0 ** (magnitude.log2().floor() - 23)).clamp(min=floor)

    return allowed


def _pick(choices, index: int):
    return choices[index % len(choices)]


def _relayout(value, variant: int):
    if isinstance(value, torch.Tensor):
        return kernel_library.with_layout(value, _pick(orders(value.dim()), variant + 1))
    if isinstance(value, list) and any(isinstance(item, torch.Tensor) for item in value):
        return [_relayout(item, variant) for item in value]
    return value


def refuses(name: str, *args, outs, match: str, **kwargs) -> None:
    """The kernel refuses the call with a sentence that contains `match`, and writes nothing outside its out tensors."""
    with pytest.raises(kernel_library.KernelError, match=match):
        kernel_library.call(name, *args, outs=outs, **kwargs)
