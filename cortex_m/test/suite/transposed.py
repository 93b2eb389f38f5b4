"""quantized_transpose_conv2d, in both layouts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from cortex_m.host import library
from cortex_m.test.suite.case import Case, Scratch, channels_last, int8, int32
from cortex_m.test.suite.oracle import clamp, oracle, requantize
from cortex_m.test.suite.parameters import output_range, requantization

Pair = tuple[int, int]


def accumulate(
    x: np.ndarray, weight: np.ndarray, offset: int, stride: Pair, padding: Pair, output_padding: Pair, dilation: Pair
) -> np.ndarray:
    """Each input value scatters to the outputs it meets. x [N, H, W, C], weight [O, kH, kW, C / groups]; [N, oH, oW, O]."""
    n, h, w, c = x.shape
    o, kh, kw, depth = weight.shape
    groups = c // depth
    oh, ow = (
        (size - 1) * stride[i] - 2 * padding[i] + dilation[i] * (k - 1) + 1 + output_padding[i]
        for i, (size, k) in enumerate(((h, kh), (w, kw)))
    )
    values = (x.astype(np.int64) + offset).reshape(n, h, w, groups, depth)
    taps = weight.astype(np.int64).reshape(groups, o // groups, kh, kw, depth)
    sums = np.zeros((n, oh, ow, o), np.int64)
    for y, z, ky, kx in itertools.product(range(h), range(w), range(kh), range(kw)):
        row = y * stride[0] - padding[0] + ky * dilation[0]
        column = z * stride[1] - padding[1] + kx * dilation[1]
        if 0 <= row < oh and 0 <= column < ow:
            sums[:, row, column] += np.einsum("ngc,goc->ngo", values[:, y, z], taps[:, :, ky, kx]).reshape(n, o)
    return sums


@oracle("quantized_transpose_conv2d_nhwc")
def transpose_conv2d_nhwc(
    input, weight, bias, stride, padding, output_padding, dilation, input_offset, output_offset,
    requantize_multipliers, requantize_shifts, activation_min, activation_max,
):  # fmt: skip
    sums = accumulate(input, weight, input_offset, stride, padding, output_padding, dilation)
    total = sums if bias is None else sums + bias.astype(np.int64)
    return clamp(
        requantize(total, requantize_multipliers, requantize_shifts) + output_offset, activation_min, activation_max
    )


@oracle("quantized_transpose_conv2d")
def transpose_conv2d(input, **arguments):
    return transpose_conv2d_nhwc(input.transpose(0, 2, 3, 1), **arguments).transpose(0, 3, 1, 2)


def transposed_convolution(
    name: str, seed: int, *, size: Pair = (4, 5), channels: int = 3, outputs: int = 4, kernel: Pair = (3, 3),
    stride: Pair = (2, 2), padding: Pair = (0, 0), output_padding: Pair = (0, 0), dilation: Pair = (1, 1), groups: int = 1,
    batch: int = 1, offset: int | None = None, bias: bool = True, relu: bool = False, nhwc: bool = True,
    order: tuple[int, ...] | None = None,
) -> Case:  # fmt: skip
    rng = np.random.default_rng(seed)
    x = int8(rng, (batch, *size, channels))
    weight = int8(rng, (outputs, *kernel, channels // groups), -127)
    input_offset = int(rng.integers(-127, 129)) if offset is None else offset
    geometry = (list(stride), list(padding), list(output_padding), list(dilation))
    sums = accumulate(x.numpy(), weight.numpy(), input_offset, stride, padding, output_padding, dilation)
    values = None
    if bias:
        values = rng.integers(-1, 2, outputs) * (1 + np.abs(sums).max() // 4) + rng.integers(-50, 51, outputs)
        sums = sums + values
    multipliers, shifts, output_offset = requantization(sums, rng)
    low, high = output_range(requantize(sums, multipliers, shifts) + output_offset, relu)
    dims = dict(
        input_nhwc=tuple(x.shape), filter_dims=tuple(weight.shape), output_nhwc=sums.shape,
        stride=stride, padding=padding, dilation=dilation, output_padding=output_padding,
    )  # fmt: skip
    if not nhwc:
        x = channels_last(x.permute(0, 3, 1, 2))
    arguments = (
        x, weight, None if values is None else int32(values), *geometry, input_offset, output_offset,
        int32(multipliers), int32(shifts), low, high,
        Scratch(lambda backend: library.transpose_conv_scratch_size(backend, **dims)),
        Scratch(lambda backend: library.transpose_conv_output_scratch_size(backend, **dims)),
    )  # fmt: skip
    orders = {} if order is None else {"input": order}
    return Case("quantized_transpose_conv2d" + ("_nhwc" if nhwc else ""), name, arguments, orders=orders)


_GEOMETRIES: dict[str, dict[str, Any]] = {
    "3x3 stride 2": {},
    "3x3 stride 2 padded": dict(padding=(1, 1)),
    "3x3 stride 2 padded, output padded": dict(padding=(1, 1), output_padding=(1, 1)),
    "4x4 stride 2 padded": dict(kernel=(4, 4), padding=(1, 1)),
    "2x2 stride 2": dict(kernel=(2, 2)),
    "3x3": dict(stride=(1, 1)),
    "1x1": dict(kernel=(1, 1), stride=(1, 1)),
    "1x1 stride 3, which leaves outputs that nothing meets": dict(kernel=(1, 1), stride=(3, 3)),
    "unequal": dict(kernel=(2, 5), stride=(1, 3), padding=(0, 2), output_padding=(0, 1)),
    "dilated": dict(dilation=(2, 2), stride=(1, 1)),
    "dilated with stride": dict(dilation=(3, 2), stride=(2, 3), padding=(2, 1), output_padding=(2, 1)),
    "padding that cuts most of it": dict(padding=(2, 2)),
    "one pixel": dict(size=(1, 1)),
    "one row": dict(size=(1, 9), kernel=(1, 4), stride=(1, 2)),
    "batch": dict(batch=3),
    "without bias": dict(bias=False),
    "relu": dict(relu=True),
    "zero point -128": dict(offset=128),
    "zero point 127": dict(offset=-127),
    "many channels": dict(channels=20, padding=(1, 1)),
    "many channels, stride 3": dict(channels=20, stride=(3, 3)),
}


def cases() -> Iterator[Case]:
    for seed, (name, changes) in enumerate(_GEOMETRIES.items()):
        for nhwc in (True, False):
            yield transposed_convolution(name, seed, nhwc=nhwc, **{"channels": 5, "outputs": 6, **changes})
    for channels in (1, 2, 4, 8, 15, 16, 17, 33):
        for outputs, stride in ((1, (1, 1)), (5, (2, 2)), (8, (2, 1))):
            yield transposed_convolution(
                f"{channels} channels to {outputs}, stride {stride}", 50 + channels,
                channels=channels, outputs=outputs, stride=stride, size=(3, 4), padding=(1, 0),
            )  # fmt: skip
    for channels, outputs, groups in ((4, 4, 2), (6, 9, 3), (8, 8, 8), (32, 16, 4)):
        yield transposed_convolution(
            f"{groups} groups of {channels} to {outputs}", groups, channels=channels, outputs=outputs, groups=groups
        )
    for order in ((0, 2, 1, 3), (1, 0, 2, 3)):
        yield transposed_convolution(f"one channel, dim order {order}", 8, nhwc=False, channels=1, order=order)


@st.composite
def _drawn(draw, nhwc: bool) -> Case:
    kernel = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    stride = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    dilation = draw(st.sampled_from([(1, 1)] * 4 + [(2, 1), (1, 3), (2, 2)]))
    output_padding = tuple(draw(st.integers(0, max(stride[i], dilation[i]) - 1)) for i in (0, 1))
    size = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    whole = [(size[i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + output_padding[i] for i in (0, 1)]
    padding = tuple(draw(st.integers(0, min(kernel[i], whole[i] // 2))) for i in (0, 1))
    groups = draw(st.sampled_from([1, 1, 1, 2, 3]))
    seed = draw(st.integers(0, 2**32 - 1))
    return transposed_convolution(
        f"seed {seed}", seed, size=size, channels=groups * draw(st.integers(1, 24 // groups)),
        outputs=groups * draw(st.integers(1, 9 // groups)), kernel=kernel, stride=stride, padding=padding,
        output_padding=output_padding, dilation=dilation, groups=groups, batch=draw(st.sampled_from([1, 1, 2])),
        bias=draw(st.booleans()), relu=draw(st.booleans()), nhwc=nhwc,
    )  # fmt: skip


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn(nhwc), 30) for nhwc in (False, True)]
