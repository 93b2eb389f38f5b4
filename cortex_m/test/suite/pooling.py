"""quantized_avg_pool2d and quantized_max_pool2d, in both layouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from cortex_m.host import library
from cortex_m.test.suite.case import Case, Scratch, channels_last, int8
from cortex_m.test.suite.oracle import clamp, divide_half_away, oracle
from cortex_m.test.suite.parameters import output_range

Pair = tuple[int, int]


def pooled_size(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """Counts windows one by one, as PyTorch's documentation says which ones there are."""
    span = dilation * (kernel - 1) + 1
    count = 0
    while True:
        begin = count * stride - padding
        fits = begin + span <= size + padding
        # ceil_mode lets a window reach beyond the padded input if it begins inside the input or the padding before it.
        if not fits and not (ceil_mode and count > 0 and begin < size and begin + span - stride < size + padding):
            return count
        count += 1


def window_slices(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> list[list[int]]:
    """For each window along an axis, the positions inside the input."""
    return [
        [p for k in range(kernel) if 0 <= (p := i * stride - padding + k * dilation) < size]
        for i in range(pooled_size(size, kernel, stride, padding, dilation, ceil_mode))
    ]


@oracle("quantized_avg_pool2d_nhwc")
def avg_pool2d_nhwc(input, kernel_size, stride, padding, ceil_mode, zero_point, multiplier, shift):
    rows = window_slices(input.shape[1], kernel_size[0], stride[0], padding[0], 1, ceil_mode)
    columns = window_slices(input.shape[2], kernel_size[1], stride[1], padding[1], 1, ceil_mode)
    x = input.astype(np.int64)
    out = [
        [divide_half_away(x[:, row][:, :, column].sum(axis=(1, 2)), len(row) * len(column)) for column in columns]
        for row in rows
    ]
    return np.array(out).transpose(2, 0, 1, 3).astype(np.int8)


@oracle("quantized_avg_pool2d")
def avg_pool2d(input, **arguments):
    return avg_pool2d_nhwc(input.transpose(0, 2, 3, 1), **arguments).transpose(0, 3, 1, 2)


def avg_pool(
    name: str, seed: int, *, size: Pair = (6, 7), channels: int = 5, kernel: Pair = (2, 2), stride: Pair | None = None,
    padding: Pair = (0, 0), ceil_mode: bool = False, batch: int = 1, nhwc: bool = True,
    order: tuple[int, ...] | None = None, low: int = -128, high: int = 127,
) -> Case:  # fmt: skip
    rng = np.random.default_rng(seed)
    x = int8(rng, (batch, *size, channels), low, high)
    stride = stride or kernel
    width = pooled_size(size[1], kernel[1], stride[1], padding[1], 1, ceil_mode)
    if not nhwc:
        x = channels_last(x.permute(0, 3, 1, 2))
    arguments = (
        x, list(kernel), list(stride), list(padding), ceil_mode, int(rng.integers(-128, 128)), 1 << 30, -5,
        Scratch(lambda backend: library.avg_pool_scratch_size(backend, output_width=width, channels=channels)),
    )  # fmt: skip
    orders = {} if order is None else {"input": order}
    return Case("quantized_avg_pool2d" + ("_nhwc" if nhwc else ""), name, arguments, orders=orders)


@oracle("quantized_max_pool2d_nhwc")
def max_pool2d_nhwc(
    input,
    kernel_size,
    stride,
    padding,
    dilation,
    ceil_mode,
    input_zero_point,
    output_zero_point,
    activation_min,
    activation_max,
):
    rows, columns = (
        window_slices(input.shape[1 + i], kernel_size[i], stride[i], padding[i], dilation[i], ceil_mode) for i in (0, 1)
    )
    out = np.array([[input[:, row][:, :, column].max(axis=(1, 2)) for column in columns] for row in rows])
    return clamp(out.transpose(2, 0, 1, 3), activation_min, activation_max)


@oracle("quantized_max_pool2d")
def max_pool2d(input, **arguments):
    return max_pool2d_nhwc(input.transpose(0, 2, 3, 1), **arguments).transpose(0, 3, 1, 2)


def max_pool(
    name: str, seed: int, *, size: Pair = (6, 7), channels: int = 5, kernel: Pair = (2, 2), stride: Pair | None = None,
    padding: Pair = (0, 0), dilation: Pair = (1, 1), ceil_mode: bool = False, batch: int = 1, nhwc: bool = True,
    order: tuple[int, ...] | None = None, low: int = -128, high: int = 127, relu: bool = False,
) -> Case:  # fmt: skip
    rng = np.random.default_rng(seed)
    x = int8(rng, (batch, *size, channels), low, high)
    window = (list(kernel), list(stride or kernel), list(padding), list(dilation), ceil_mode)
    limits = output_range(max_pool2d_nhwc(x.numpy(), *window, 0, 0, -128, 127), relu)
    if not nhwc:
        x = channels_last(x.permute(0, 3, 1, 2))
    zero = int(rng.integers(-128, 128))
    arguments = (x, *window, zero, zero, *limits)
    orders = {} if order is None else {"input": order}
    return Case("quantized_max_pool2d" + ("_nhwc" if nhwc else ""), name, arguments, orders=orders)


_GEOMETRIES: dict[str, dict[str, Any]] = {
    "2x2": {},
    "3x3 stride 2 padded": dict(kernel=(3, 3), stride=(2, 2), padding=(1, 1)),
    "whole input": dict(kernel=(6, 7)),
    "whole rows": dict(kernel=(1, 7)),
    "whole columns": dict(kernel=(6, 1)),
    "3x2 overlapping": dict(kernel=(3, 2), stride=(1, 1)),
    "stride larger than the kernel": dict(kernel=(1, 2), stride=(3, 4)),
    "ceil_mode": dict(kernel=(3, 3), stride=(2, 2), ceil_mode=True, size=(6, 8)),
    "ceil_mode padded": dict(kernel=(3, 3), stride=(2, 2), padding=(1, 1), ceil_mode=True),
    "ceil_mode whose last window would begin in the padding": dict(
        kernel=(2, 2), stride=(2, 2), padding=(1, 1), ceil_mode=True, size=(5, 5)
    ),
    "1x1": dict(kernel=(1, 1)),
    "batch": dict(batch=3),
    "ties": dict(kernel=(1, 2), low=-3, high=3, size=(8, 8)),
    "negative": dict(low=-128, high=-100),
    "large": dict(size=(40, 40), kernel=(40, 40), channels=3, low=-90, high=80),
}


_MAX_POOLS: dict[str, dict[str, Any]] = {
    "dilated": dict(kernel=(2, 3), stride=(1, 2), dilation=(2, 2), size=(8, 9)),
    "dilated with padding": dict(kernel=(3, 3), stride=(1, 1), padding=(1, 1), dilation=(1, 3), size=(5, 9)),
    "dilated with ceil_mode": dict(kernel=(2, 2), stride=(3, 2), dilation=(2, 1), ceil_mode=True, size=(9, 8)),
    "relu": dict(relu=True),
    "relu, dilated": dict(kernel=(2, 2), stride=(1, 1), dilation=(2, 2), relu=True),
}


def cases() -> Iterator[Case]:
    for seed, (name, changes) in enumerate(_GEOMETRIES.items()):
        for nhwc in (True, False):
            yield avg_pool(name, seed, nhwc=nhwc, **changes)
            yield max_pool(name, seed, nhwc=nhwc, **changes)
    for name, changes in _MAX_POOLS.items():
        for nhwc in (True, False):
            yield max_pool(name, 40, nhwc=nhwc, **changes)
    for channels in (1, 2, 3, 4, 7, 8, 15, 16, 17, 33):
        yield max_pool(
            f"{channels} channels", 50 + channels, channels=channels, kernel=(3, 2), stride=(2, 2), padding=(1, 1)
        )
        yield avg_pool(
            f"{channels} channels", 50 + channels, channels=channels, kernel=(3, 2), stride=(2, 2), padding=(1, 1)
        )
    for order in ((0, 2, 1, 3), (1, 0, 2, 3)):
        yield avg_pool(f"one channel, dim order {order}", 80, channels=1, nhwc=False, order=order)
        yield max_pool(f"one channel, dim order {order}", 80, channels=1, nhwc=False, order=order)
    for order in ((0, 1, 2, 3), (3, 2, 1, 0)):
        yield avg_pool(f"one pixel, dim order {order}", 81, size=(1, 1), kernel=(1, 1), nhwc=False, order=order)
        yield max_pool(f"one pixel, dim order {order}", 81, size=(1, 1), kernel=(1, 1), nhwc=False, order=order)


@st.composite
def _drawn(draw, average: bool, nhwc: bool) -> Case:
    kernel = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    padding = tuple(draw(st.integers(0, k // 2)) for k in kernel)
    size = tuple(max(1, k - 2 * p) + draw(st.integers(0, 9)) for k, p in zip(kernel, padding))
    stride = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    ceil_mode = draw(st.booleans())
    changes: dict[str, Any] = {}
    if not average:
        # A window between padding and the gaps of a dilation may hold no input: no valid call.
        def touches(dilation: Pair) -> bool:
            axes = zip(size, kernel, stride, padding, dilation)
            windows = [window_slices(*axis, ceil_mode) for axis in axes]
            return all(axis and all(axis) for axis in windows)

        changes["dilation"] = draw(st.sampled_from([d for d in [(1, 1), (2, 1), (1, 3), (2, 2)] if touches(d)]))
        changes["relu"] = draw(st.booleans())
    seed = draw(st.integers(0, 2**32 - 1))
    return (avg_pool if average else max_pool)(
        f"seed {seed}", seed, size=size, channels=draw(st.integers(1, 36)), kernel=kernel, stride=stride, padding=padding,
        ceil_mode=ceil_mode, batch=draw(st.sampled_from([1, 1, 2])), nhwc=nhwc, **changes,
    )  # fmt: skip


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn(average, nhwc), 25) for average in (True, False) for nhwc in (False, True)]
