"""packed_conv2d_nhwc, packed_depthwise_conv2d_nhwc and packed_linear: the cases of the plain operators that a packing takes, with packed weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from cortex_m.host.packing import pack_convolution, pack_linear
from cortex_m.target_config import Backend
from cortex_m.test.suite import convolution, linear
from cortex_m.test.suite.case import Case, Scratch, int32, named_arguments, reference
from cortex_m.test.suite.oracle import clamp, oracle, requantize

_PACKED = {
    "quantized_conv2d_nhwc": "packed_conv2d_nhwc",
    "quantized_depthwise_conv2d_nhwc": "packed_depthwise_conv2d_nhwc",
}


def _finish(sums, weight_sums, biases, multipliers, shifts, input_offset, output_offset, low, high):
    """The plain convolution's formula, with the input offset taken out of the bias again."""
    sums = sums + np.array(biases) - input_offset * weight_sums
    return clamp(requantize(sums, multipliers, shifts) + output_offset, low, high)


@oracle("packed_conv2d_nhwc")
def packed_conv2d_nhwc(
    input, packed, packing, output_channels, kernel_size, stride, padding, dilation, input_offset, output_offset,
    activation_min, activation_max,
):  # fmt: skip
    depth = kernel_size[0] * kernel_size[1] * input.shape[3]
    assert packing == 1 and output_channels % 2 == 0
    data = packed.tobytes()
    rows, biases, multipliers, shifts = [], [], [], []
    for _ in range(output_channels // 2):
        pair: list[bytes] = [b"", b""]
        for _ in range(0, depth, 16):
            pair = [row + data[16 * i : 16 * i + 16] for i, row in enumerate(pair)]
            data = data[32:]
        rows += [np.frombuffer(row[:depth], np.int8) for row in pair]
        assert not any(row[depth:].strip(b"\0") for row in pair)
        numbers = np.frombuffer(data[:24], "<i4").tolist()
        biases, multipliers, shifts = biases + numbers[:2], multipliers + numbers[2:4], shifts + numbers[4:]
        data = data[24:]
    assert data == b""
    weight = np.stack(rows).reshape(output_channels, *kernel_size, -1)
    sums = convolution.accumulate(input, weight, input_offset, (stride, padding, dilation))
    weight_sums = weight.astype(np.int64).sum(axis=(1, 2, 3))
    return _finish(
        sums, weight_sums, biases, multipliers, shifts, input_offset, output_offset, activation_min, activation_max
    )


@oracle("packed_depthwise_conv2d_nhwc")
def packed_depthwise_conv2d_nhwc(
    input, packed, packing, output_channels, kernel_size, stride, padding, dilation, input_offset, output_offset,
    activation_min, activation_max,
):  # fmt: skip
    assert packing == 2 and list(kernel_size) == [3, 3]
    data = packed.tobytes()
    weight = np.zeros((1, 3, 3, output_channels), np.int8)
    parameters = np.zeros((3, output_channels), np.int64)
    for first in range(0, output_channels, 16):
        for tap in range(9):
            weight[0, tap // 3, tap % 3, first : first + 16] = np.frombuffer(data[:16], np.int8)
            data = data[16:]
        for start in (0, 2, 1, 3):
            for kind in range(3):
                parameters[kind, first + start : first + 16 : 4] = np.frombuffer(data[:16], "<i4")
                data = data[16:]
    assert data == b""
    sums = convolution.accumulate_depthwise(input, weight, input_offset, (stride, padding, dilation))
    weight_sums = weight.astype(np.int64).sum(axis=(0, 1, 2))
    return _finish(sums, weight_sums, *parameters, input_offset, output_offset, activation_min, activation_max)


@oracle("packed_linear")
def packed_linear(input, packed, packing, output_channels, output_offset, activation_min, activation_max):
    assert packing == 3
    depth, data = input.shape[-1], packed.tobytes()
    weights = np.zeros((output_channels, depth + 3), np.int64)
    parameters = np.zeros((3, output_channels), np.int64)
    for first in range(0, output_channels, 4):
        for value in range(0, depth, 4):
            # Values and channels of the eight halves.
            for place in ((0, 0), (2, 0), (0, 2), (2, 2), (1, 0), (3, 0), (1, 2), (3, 2)):
                half, data = int.from_bytes(data[:2], "little", signed=True), data[2:]
                second = (half + 128) % 256 - 128
                weights[first + place[1] : first + place[1] + 2, value + place[0]] = (half - second) // 256, second
        for kind in range(3):
            parameters[kind, first : first + 4] = np.frombuffer(data[:16], "<i4")
            data = data[16:]
    assert data == b"" and not weights[:, depth:].any()
    sums = np.einsum("...k,nk->...n", input.astype(np.int64), weights[:, :depth])
    assert np.abs(sums[..., ::2]).max() < 2**23
    bias, multipliers, shifts = parameters
    return clamp(requantize(sums + bias, multipliers, shifts) + output_offset, activation_min, activation_max)


def packed_linear_of(plain: Case) -> Case | None:
    """The same call with packed weights, the input offset in the bias; None where the kernel library packs nothing."""
    given = named_arguments(plain)
    weights = given["weights"]
    bias = given["input_offset"] * weights.numpy().astype(np.int64).sum(1)
    if given["bias"] is not None:
        bias = bias + given["bias"].numpy()
    made = pack_linear(Backend.DSP, weights, int32(bias), given["requantize_multipliers"], given["requantize_shifts"])
    if made is None:
        return None
    arguments = (
        given["input"], made.packed, made.packing, len(weights), given["output_offset"], given["activation_min"],
        given["activation_max"], Scratch(lambda backend: made.scratch_bytes),
    )  # fmt: skip
    return Case("packed_linear", plain.name, arguments, plain.kind, saturates=plain.saturates, backends=(Backend.DSP,))


def packed(plain: Case) -> Case | None:
    """The same call with packed weights; None where the kernel library packs nothing."""
    given = named_arguments(plain)
    depthwise = "depthwise" in plain.op
    if depthwise and given["depth_multiplier"] != 1:
        return None
    stride, padding, dilation = (given[name] for name in ("stride", "padding", "dilation"))
    output = reference(plain).shape
    made = pack_convolution(
        Backend.MVE, given["input"].shape, given["weight"], output, stride, padding, dilation, given["input_offset"], given["bias"],
        given["requantize_multipliers"], given["requantize_shifts"], depthwise,
    )  # fmt: skip
    if made is None:
        return None
    arguments = (
        given["input"], made.packed, made.packing, output[3], list(given["weight"].shape[1:3]), stride, padding, dilation,
        given["input_offset"], given["output_offset"], given["activation_min"], given["activation_max"],
        Scratch(lambda backend: made.scratch_bytes),
    )  # fmt: skip
    return Case(
        _PACKED[plain.op], plain.name, arguments, plain.kind, saturates=plain.saturates, backends=(Backend.MVE,)
    )


def cases() -> Iterator[Case]:
    for depth in (1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 70):
        for outputs, rows in ((4, ()), (8, (2,)), (12, (1, 3))):
            for relu in (False, True):
                plain = linear.linear(
                    f"{depth} to {outputs}, relu {relu}", 500 + depth, rows=rows, depth=depth, outputs=outputs, form="per_channel",
                    relu=relu, bias=outputs != 8,
                )  # fmt: skip
                case = packed_linear_of(plain)
                assert case is not None
                yield case
    for plain in convolution.cases():
        if plain.op in _PACKED and "no scratch" not in plain.name:
            case = packed(plain)
            if case is not None:
                yield case
    depthwise: list[tuple[int, dict[str, Any]]] = [
        (16, {}),
        (16, dict(padding=(1, 1))),
        (48, dict(padding=(1, 1), stride=(2, 2), size=(9, 8))),
        (32, dict(padding=(2, 1), dilation=(2, 1), size=(5, 7))),
        (32, dict(padding=(2, 2), size=(1, 1))),
        (16, dict(padding=(0, 2), stride=(1, 3), size=(4, 9), batch=2)),
        (64, dict(padding=(1, 1), size=(3, 3), offset=128, relu=True)),
        (16, dict(padding=(1, 1), size=(3, 3), offset=-127, bias=False)),
    ]
    for seed, (channels, changes) in enumerate(depthwise):
        case = packed(
            convolution.convolution(
                f"{channels} channels, {changes}", 400 + seed, channels=channels, depth_multiplier=1, **changes
            )
        )
        assert case is not None
        yield case


@st.composite
def _drawn(draw, depthwise: bool) -> Case:
    kernel = (3, 3) if depthwise else draw(st.sampled_from([(1, 1), (3, 3), (2, 5), (1, 4)]))
    changes = (
        dict(channels=16 * draw(st.integers(1, 3)), depth_multiplier=1)
        if depthwise
        else dict(channels=draw(st.integers(1, 36)), outputs=2 * draw(st.integers(1, 12)))
    )
    size = (kernel[0] + draw(st.integers(1, 6)), kernel[1] + draw(st.integers(1, 6)))
    seed = draw(st.integers(0, 2**32 - 1))
    case = packed(
        convolution.convolution(
            f"seed {seed}", seed, size=size, kernel=kernel, stride=(draw(st.integers(1, 2)), 1),
            padding=(draw(st.integers(0, kernel[0] - 1)), draw(st.integers(0, 2))),
            batch=draw(st.sampled_from([1, 1, 2])), bias=draw(st.booleans()), relu=draw(st.booleans()), **changes,
        )
    )  # fmt: skip
    if case is None:
        reject()  # a factor of one half or more is not packed
    return case


@st.composite
def _drawn_linear(draw) -> Case:
    seed = draw(st.integers(0, 2**32 - 1))
    plain = linear.linear(
        f"seed {seed}", seed, rows=tuple(draw(st.lists(st.integers(1, 4), max_size=3))), depth=draw(st.integers(1, 80)),
        outputs=4 * draw(st.integers(1, 10)), form="per_channel", bias=draw(st.booleans()), relu=draw(st.booleans()),
    )  # fmt: skip
    case = packed_linear_of(plain)
    if case is None:
        reject()  # a factor of one half or more is not packed
    return case


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn(depthwise), 30) for depthwise in (False, True)] + [(_drawn_linear(), 30)]
