"""Scratch sizes by the names of CMSIS-NN's Python bindings.

    convolve_wrapper_buffer_size(
        Backend.MVE, DataType.A8W8, input_nhwc=[1, 8, 8, 16], filter_nhwc=[8, 3, 3, 16], output_nhwc=[1, 8, 8, 8],
        padding_hw=[1, 1], stride_hw=[1, 1], dilation_hw=[1, 1],
    )

All sizes are bytes, and the answer of the C function that the device asks too, built for this machine
(`cortex_m.host.library`; it needs no device). The kernels take int8 activations and weights, DataType.A8W8: another
data type is a ValueError, and so are sizes that no kernel takes. Zero points and clamps do not enter: no kernel's
scratch depends on them.
"""

import enum
from collections.abc import Sequence

from cortex_m.host import library
from cortex_m.target_config import Backend, CortexM, CortexMTargetConfig

__all__ = [
    "Backend",
    "CortexM",
    "DataType",
    "avgpool_buffer_size",
    "convolve_wrapper_buffer_size",
    "depthwise_conv_wrapper_buffer_size",
    "fully_connected_buffer_size",
    "resolve_backend",
    "transpose_conv_buffer_size",
    "transpose_conv_reverse_conv_buffer_size",
]


class DataType(enum.IntEnum):
    """Bits of activations and weights."""

    A8W4 = 0
    A8W8 = 1
    A16W8 = 2


def resolve_backend(cpu: CortexM) -> Backend:
    """The widest instruction set of a core that the kernels use."""
    return CortexMTargetConfig(cpu).backend


def _require_int8(data_type: DataType) -> None:
    if DataType(data_type) is not DataType.A8W8:
        raise ValueError(f"no kernel takes {DataType(data_type).name}; only A8W8")


def convolve_wrapper_buffer_size(
    backend: Backend, data_type: DataType, *, input_nhwc: Sequence[int], filter_nhwc: Sequence[int],
    output_nhwc: Sequence[int], padding_hw: Sequence[int], stride_hw: Sequence[int], dilation_hw: Sequence[int],
    input_offset: int = 0, output_offset: int = 0, activation_min: int = -128, activation_max: int = 127,
) -> int:  # fmt: skip
    """Of arm_convolve_wrapper_s8; filter_nhwc is {C_OUT, KH, KW, C_IN / groups}."""
    _require_int8(data_type)
    return library.convolve_scratch_size(
        backend, input_nhwc, filter_nhwc, output_nhwc, stride_hw, padding_hw, dilation_hw
    )


def depthwise_conv_wrapper_buffer_size(
    backend: Backend, data_type: DataType, *, input_nhwc: Sequence[int], filter_nhwc: Sequence[int],
    output_nhwc: Sequence[int], padding_hw: Sequence[int], stride_hw: Sequence[int], dilation_hw: Sequence[int],
    ch_mult: int, input_offset: int = 0, output_offset: int = 0, activation_min: int = -128,
    activation_max: int = 127,
) -> int:  # fmt: skip
    """Of arm_depthwise_conv_wrapper_s8.

    filter_nhwc: {1, KH, KW, C_OUT} as the kernel takes it, or {C_OUT, KH, KW, 1}.
    ch_mult: outputs for each input channel.
    """
    _require_int8(data_type)
    outer, height, width, inner = filter_nhwc
    if outer != 1:
        if inner != 1:
            raise ValueError(
                f"a depthwise filter is {{1, KH, KW, C_OUT}} or {{C_OUT, KH, KW, 1}}, not {tuple(filter_nhwc)}"
            )
        inner = outer
    return library.depthwise_conv_scratch_size(
        backend, input_nhwc, (1, height, width, inner), output_nhwc, stride_hw, padding_hw, dilation_hw, ch_mult
    )


def fully_connected_buffer_size(backend: Backend, data_type: DataType, *, filter_nhwc: Sequence[int]) -> int:
    """Of arm_fully_connected_s8 and arm_batch_matmul_s8; filter_nhwc is {depth, -, -, outputs}, the middle two unused."""
    _require_int8(data_type)
    return library.batch_matmul_scratch_size(backend, filter_nhwc[0], filter_nhwc[3])


def transpose_conv_buffer_size(
    backend: Backend, data_type: DataType, *, input_nhwc: Sequence[int], filter_nhwc: Sequence[int],
    output_nhwc: Sequence[int], padding_hw: Sequence[int], stride_hw: Sequence[int], dilation_hw: Sequence[int],
    padding_offsets_hw: Sequence[int] = (0, 0), input_offset: int = 0, output_offset: int = 0,
    activation_min: int = -128, activation_max: int = 127,
) -> int:  # fmt: skip
    """The scratch of cortex_m::quantized_transpose_conv2d; filter_nhwc is {C_OUT, KH, KW, C_IN / groups}."""
    _require_int8(data_type)
    return library.transpose_conv_scratch_size(
        backend, input_nhwc, filter_nhwc, output_nhwc, stride_hw, padding_hw, dilation_hw, padding_offsets_hw
    )


def transpose_conv_reverse_conv_buffer_size(
    backend: Backend, data_type: DataType, *, input_nhwc: Sequence[int], filter_nhwc: Sequence[int],
    padding_hw: Sequence[int], stride_hw: Sequence[int], dilation_hw: Sequence[int] = (1, 1),
    padding_offsets_hw: Sequence[int] = (0, 0),
) -> int:  # fmt: skip
    """The output scratch of cortex_m::quantized_transpose_conv2d."""
    _require_int8(data_type)
    images, *spatial, _ = input_nhwc
    channels, *kernel, _ = filter_nhwc
    height, width = (
        (size - 1) * stride - 2 * padding + dilation * (taps - 1) + offset + 1
        for size, stride, padding, dilation, taps, offset in zip(
            spatial, stride_hw, padding_hw, dilation_hw, kernel, padding_offsets_hw
        )
    )
    return library.transpose_conv_output_scratch_size(
        backend, input_nhwc, filter_nhwc, (images, height, width, channels), stride_hw, padding_hw, dilation_hw,
        padding_offsets_hw,
    )  # fmt: skip


def avgpool_buffer_size(backend: Backend, data_type: DataType, *, dim_dst_width: int, ch_src: int) -> int:
    """Of arm_avgpool_s8."""
    _require_int8(data_type)
    return library.avg_pool_scratch_size(backend, dim_dst_width, ch_src)
