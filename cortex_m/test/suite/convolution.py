"""quantized_conv2d and quantized_depthwise_conv2d, in both layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from cortex_m.host import library
from cortex_m.test.suite.case import Case, Scratch, channels_last, int8, int32
from cortex_m.test.suite.oracle import clamp, oracle, requantize
from cortex_m.test.suite.parameters import output_range, requantization

Pair = tuple[int, int]


def windows(x: np.ndarray, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair) -> np.ndarray:
    """[N, H, W, C] to [N, oH, oW, kH, kW, C], zeros where a window leaves the input."""
    x = np.pad(x, ((0, 0), (padding[0],) * 2, (padding[1],) * 2, (0, 0)))
    spans = [dilation[i] * (kernel[i] - 1) + 1 for i in (0, 1)]
    view = np.lib.stride_tricks.sliding_window_view(x, spans, axis=(1, 2))
    view = view[:, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]
    return view.transpose(0, 1, 2, 4, 5, 3)


def accumulate(x: np.ndarray, weight: np.ndarray, offset: int, geometry: tuple[Pair, Pair, Pair]) -> np.ndarray:
    """x [N, H, W, C], weight [O, kH, kW, C / groups]; the sums [N, oH, oW, O]."""
    view = windows(x.astype(np.int64) + offset, weight.shape[1:3], *geometry)
    groups = x.shape[3] // weight.shape[3]
    view = view.reshape(*view.shape[:5], groups, weight.shape[3])
    weight = weight.astype(np.int64).reshape(groups, -1, *weight.shape[1:])
    sums = np.einsum("nyxhwgc,gohwc->nyxgo", view, weight)
    return sums.reshape(*sums.shape[:3], -1)


def accumulate_depthwise(
    x: np.ndarray, weight: np.ndarray, offset: int, geometry: tuple[Pair, Pair, Pair]
) -> np.ndarray:
    """x [N, H, W, C], weight [1, kH, kW, C * multiplier]; the sums [N, oH, oW, C * multiplier]."""
    multiplier = weight.shape[3] // x.shape[3]
    view = windows(x.astype(np.int64) + offset, weight.shape[1:3], *geometry)
    taps = weight[0].astype(np.int64).reshape(*weight.shape[1:3], x.shape[3], multiplier)
    sums = np.einsum("nyxhwc,hwcm->nyxcm", view, taps)
    return sums.reshape(*sums.shape[:3], -1)


def _finish(sums, bias, multipliers, shifts, output_offset, low, high):
    total = sums if bias is None else sums + bias.astype(np.int64)
    return clamp(requantize(total, multipliers, shifts) + output_offset, low, high)


@oracle("quantized_conv2d_nhwc")
def conv2d_nhwc(
    input, weight, bias, stride, padding, dilation, input_offset, output_offset, requantize_multipliers,
    requantize_shifts, activation_min, activation_max,
):  # fmt: skip
    sums = accumulate(input, weight, input_offset, (stride, padding, dilation))
    return _finish(sums, bias, requantize_multipliers, requantize_shifts, output_offset, activation_min, activation_max)


@oracle("quantized_depthwise_conv2d_nhwc")
def depthwise_conv2d_nhwc(
    input, weight, bias, stride, padding, dilation, depth_multiplier, input_offset, output_offset,
    requantize_multipliers, requantize_shifts, activation_min, activation_max,
):  # fmt: skip
    assert weight.shape[3] == input.shape[3] * depth_multiplier
    sums = accumulate_depthwise(input, weight, input_offset, (stride, padding, dilation))
    return _finish(sums, bias, requantize_multipliers, requantize_shifts, output_offset, activation_min, activation_max)


@oracle("quantized_conv2d")
def conv2d(input, **arguments):
    return conv2d_nhwc(input.transpose(0, 2, 3, 1), **arguments).transpose(0, 3, 1, 2)


@oracle("quantized_depthwise_conv2d")
def depthwise_conv2d(input, **arguments):
    return depthwise_conv2d_nhwc(input.transpose(0, 2, 3, 1), **arguments).transpose(0, 3, 1, 2)


def convolution(
    name: str, seed: int, *, size: Pair = (6, 7), channels: int = 3, outputs: int = 4, kernel: Pair = (3, 3),
    stride: Pair = (1, 1), padding: Pair = (0, 0), dilation: Pair = (1, 1), groups: int = 1, batch: int = 1,
    depth_multiplier: int | None = None, offset: int | None = None, bias: bool = True, relu: bool = False,
    nhwc: bool = True, order: tuple[int, ...] | None = None, weight_limit: int = 127, scratch: bool = True,
) -> Case:  # fmt: skip
    """A case with parameters of the size that its own sums ask for. With depth_multiplier, a depthwise one.

    scratch: False for none at all, which quantized_conv2d can do with, but slowly.
    """
    rng = np.random.default_rng(seed)
    x = int8(rng, (batch, *size, channels))
    input_offset = int(rng.integers(-127, 129)) if offset is None else offset
    geometry = (list(stride), list(padding), list(dilation))
    if depth_multiplier is None:
        weight = int8(rng, (outputs, *kernel, channels // groups), -weight_limit, weight_limit)
        sums = accumulate(x.numpy(), weight.numpy(), input_offset, (stride, padding, dilation))
    else:
        outputs = channels * depth_multiplier
        weight = int8(rng, (1, *kernel, outputs), -weight_limit, weight_limit)
        sums = accumulate_depthwise(x.numpy(), weight.numpy(), input_offset, (stride, padding, dilation))
    values = None
    if bias:
        values = rng.integers(-1, 2, outputs) * (1 + np.abs(sums).max() // 4) + rng.integers(-50, 51, outputs)
        sums = sums + values
    multipliers, shifts, output_offset = requantization(sums, rng)
    low, high = output_range(requantize(sums, multipliers, shifts) + output_offset, relu)
    dims: dict[str, Any] = dict(
        input_nhwc=tuple(x.shape), filter_dims=tuple(weight.shape), output_nhwc=sums.shape,
        stride=stride, padding=padding, dilation=dilation,
    )  # fmt: skip
    op = "quantized_conv2d"
    size_function: Callable[..., int] = library.convolve_scratch_size
    if depth_multiplier is not None:
        op, size_function = "quantized_depthwise_conv2d", library.depthwise_conv_scratch_size
        dims["depth_multiplier"] = depth_multiplier
    if not nhwc:
        x = channels_last(x.permute(0, 3, 1, 2))
    arguments = (
        x, weight, None if values is None else int32(values), *geometry,
        *(() if depth_multiplier is None else (depth_multiplier,)),
        input_offset, output_offset, int32(multipliers), int32(shifts), low, high,
        Scratch(lambda backend: size_function(backend, **dims) if scratch else 0),
    )  # fmt: skip
    orders = {} if order is None else {"input": order}
    return Case(op + ("_nhwc" if nhwc else ""), name, arguments, orders=orders)


_GEOMETRIES: dict[str, dict[str, Any]] = {
    "3x3": {},
    "3x3 padded": dict(padding=(1, 1)),
    "3x3 stride 2": dict(stride=(2, 2), padding=(1, 1), size=(7, 8)),
    "1x1": dict(kernel=(1, 1)),
    "1x1 stride 2": dict(kernel=(1, 1), stride=(2, 2)),
    "1x1 padded": dict(kernel=(1, 1), padding=(1, 2)),
    "5x5 larger than the input": dict(kernel=(5, 5), padding=(2, 2), size=(3, 2)),
    "kernel of the whole input": dict(kernel=(6, 7)),
    "2x4 with unequal strides and padding": dict(kernel=(2, 4), stride=(3, 1), padding=(0, 2)),
    "stride larger than the kernel": dict(kernel=(2, 2), stride=(3, 4), size=(9, 10)),
    "dilated": dict(dilation=(2, 2), padding=(2, 2)),
    "unequally dilated": dict(kernel=(2, 3), dilation=(3, 1), size=(8, 6)),
    "one row": dict(size=(1, 19), kernel=(1, 5), padding=(0, 2)),
    "one row, stride 4": dict(size=(1, 20), kernel=(1, 4), stride=(1, 4)),
    "one column": dict(size=(13, 1), kernel=(3, 1)),
    "one pixel": dict(size=(1, 1), kernel=(1, 1)),
    "batch": dict(batch=3, padding=(1, 1), size=(4, 5)),
    "without bias": dict(bias=False),
    "relu": dict(relu=True, padding=(1, 1)),
    "zero point -128": dict(offset=128, padding=(1, 1)),
    "zero point 127": dict(offset=-127, padding=(1, 1)),
    "no zero point": dict(offset=0, padding=(1, 1)),
    "factors above 1": dict(kernel=(1, 1), channels=1, weight_limit=1, offset=0),
}


def cases() -> Iterator[Case]:
    for seed, (name, changes) in enumerate(_GEOMETRIES.items()):
        for nhwc in (True, False):
            yield convolution(name, seed, nhwc=nhwc, **{"channels": 5, "outputs": 6, **changes})
            yield convolution(
                f"{name}, no scratch", seed, nhwc=nhwc, scratch=False, **{"channels": 5, "outputs": 6, **changes}
            )
            yield convolution(name, 100 + seed, nhwc=nhwc, depth_multiplier=1, **{"channels": 6, **changes})
    # Around the widths of vectors and of unrolled loops.
    for channels in (1, 2, 3, 4, 7, 8, 15, 16, 17, 24, 32, 33):
        for outputs, kernel in ((1, (1, 1)), (4, (2, 2)), (7, (3, 3)), (8, (1, 1))):
            yield convolution(
                f"{channels} channels to {outputs}, {kernel[0]}x{kernel[1]}", 200 + channels,
                channels=channels, outputs=outputs, kernel=kernel, size=(4, 5), padding=(kernel[0] // 2, 0),
            )  # fmt: skip
        for kernel, multiplier in (((3, 3), 1), ((2, 5), 1), ((3, 3), 2), ((1, 1), 3), ((4, 4), 1)):
            yield convolution(
                f"{channels} channels times {multiplier}, {kernel[0]}x{kernel[1]}", 300 + channels,
                channels=channels, depth_multiplier=multiplier, kernel=kernel, size=(6, 5), padding=(1, 0),
            )  # fmt: skip
    for channels, outputs, groups in ((4, 4, 2), (6, 9, 3), (8, 8, 8), (32, 16, 4), (3, 6, 3), (10, 5, 5)):
        yield convolution(
            f"{groups} groups of {channels} to {outputs}", groups, channels=channels, outputs=outputs, groups=groups
        )
    # A depth whose sums are large.
    yield convolution("deep", 7, channels=256, outputs=3, kernel=(3, 3), size=(3, 4))
    # Sizes of 1 leave the dim order open, and exporters write any (ds_cnn's input is 1, 1, 49, 10 as 0, 2, 1, 3).
    for order in ((0, 2, 1, 3), (0, 1, 2, 3), (1, 0, 2, 3), (2, 0, 3, 1)):
        yield convolution(
            f"one channel, dim order {order}", 8, nhwc=False, channels=1, size=(9, 6), kernel=(4, 3), order=order
        )
    for order in ((0, 1, 2, 3), (2, 3, 1, 0), (3, 0, 1, 2)):
        yield convolution(
            f"one pixel, dim order {order}", 9, nhwc=False, channels=9, size=(1, 1), kernel=(1, 1), order=order
        )
        yield convolution(
            f"one pixel, dim order {order}",
            9,
            nhwc=False,
            channels=9,
            size=(1, 1),
            kernel=(1, 1),
            order=order,
            depth_multiplier=1,
        )


def _pairs(low: int, high: int) -> st.SearchStrategy[Pair]:
    return st.tuples(st.integers(low, high), st.integers(low, high))


@st.composite
def _drawn(draw, depthwise: bool, nhwc: bool) -> Case:
    kernel = draw(_pairs(1, 5))
    padding = (draw(st.integers(0, kernel[0])), draw(st.integers(0, kernel[1])))
    dilation = draw(st.sampled_from([(1, 1)] * 4 + [(2, 1), (1, 3), (2, 2)]))
    spans = [dilation[i] * (kernel[i] - 1) + 1 for i in (0, 1)]
    size = tuple(max(1, spans[i] - 2 * padding[i]) + draw(st.integers(0, 7)) for i in (0, 1))
    changes: dict[str, Any] = {}
    if depthwise:
        changes["depth_multiplier"] = draw(st.sampled_from([1, 1, 1, 2, 3, 5]))
        channels = draw(st.integers(1, 36))
    else:
        groups = draw(st.sampled_from([1, 1, 1, 1, 2, 3]))
        channels = groups * draw(st.integers(1, 36 // groups))
        changes |= dict(groups=groups, outputs=groups * draw(st.integers(1, 12 // groups)))
    seed = draw(st.integers(0, 2**32 - 1))
    return convolution(
        f"seed {seed}", seed, size=size, channels=channels, kernel=kernel, stride=draw(_pairs(1, 3)), padding=padding,
        dilation=dilation, batch=draw(st.sampled_from([1, 1, 2])), bias=draw(st.booleans()), relu=draw(st.booleans()),
        nhwc=nhwc, **changes,
    )  # fmt: skip


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn(depthwise, nhwc), 30) for depthwise in (False, True) for nhwc in (False, True)]
