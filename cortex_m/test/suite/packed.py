"""packed_conv2d_nhwc: the cases of quantized_conv2d_nhwc that a packing takes, with packed weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from cortex_m.host.packing import pack_convolution
from cortex_m.target_config import Backend
from cortex_m.test.suite import convolution
from cortex_m.test.suite.case import Case, Scratch, named_arguments, reference
from cortex_m.test.suite.oracle import clamp, oracle, requantize


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
    # The plain convolution's formula, with the input offset taken out of the bias again.
    sums = convolution.accumulate(input, weight, input_offset, (stride, padding, dilation))
    sums = sums + np.array(biases) - input_offset * weight.astype(np.int64).sum(axis=(1, 2, 3))
    return clamp(requantize(sums, multipliers, shifts) + output_offset, activation_min, activation_max)


def packed(plain: Case) -> Case | None:
    """The same call with packed weights; None where the kernel library packs nothing."""
    given = named_arguments(plain)
    stride, padding, dilation = (given[name] for name in ("stride", "padding", "dilation"))
    made = pack_convolution(
        Backend.MVE, given["input"].shape, given["weight"], reference(plain).shape, stride, padding, dilation,
        given["input_offset"], given["bias"], given["requantize_multipliers"], given["requantize_shifts"],
    )  # fmt: skip
    if made is None:
        return None
    channels, *kernel, _ = given["weight"].shape
    arguments = (
        given["input"], made.packed, made.packing, channels, kernel, stride, padding, dilation, given["input_offset"],
        given["output_offset"], given["activation_min"], given["activation_max"],
        Scratch(lambda backend: made.scratch_bytes),
    )  # fmt: skip
    return Case("packed_conv2d_nhwc", plain.name, arguments, plain.kind, saturates=plain.saturates, backends=(Backend.MVE,))


def cases() -> Iterator[Case]:
    for plain in convolution.cases():
        if plain.op == "quantized_conv2d_nhwc" and "no scratch" not in plain.name:
            case = packed(plain)
            if case is not None:
                yield case


@st.composite
def _drawn(draw) -> Case:
    kernel = draw(st.sampled_from([(1, 1), (3, 3), (2, 5), (1, 4)]))
    channels, outputs = draw(st.integers(1, 36)), 2 * draw(st.integers(1, 12))
    size = (kernel[0] + draw(st.integers(1, 6)), kernel[1] + draw(st.integers(1, 6)))
    seed = draw(st.integers(0, 2**32 - 1))
    case = packed(
        convolution.convolution(
            f"seed {seed}", seed, size=size, channels=channels, outputs=outputs, kernel=kernel,
            stride=(draw(st.integers(1, 2)), 1), padding=(draw(st.integers(0, kernel[0] - 1)), draw(st.integers(0, 2))),
            batch=draw(st.sampled_from([1, 1, 2])), bias=draw(st.booleans()), relu=draw(st.booleans()),
        )
    )  # fmt: skip
    assert case is not None
    return case


def draws() -> list[tuple[st.SearchStrategy[Case], int]]:
    return [(_drawn(), 40)]
