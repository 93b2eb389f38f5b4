"""Scratch sizes from the kernel library itself, built for the host: the predicate that the device obeys, asked for any core."""

import ctypes
import enum
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from cortex_m.host import locate
from cortex_m.target_config import Backend

_Int4 = ctypes.c_int32 * 4
_Int2 = ctypes.c_int32 * 2


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    return locate.load("nn", "libcortex_m_nn.so", "CORTEX_M_NN_LIBRARY")


def _checked(size: int, what: str) -> int:
    if size < 0:
        raise ValueError(f"no kernel takes {what}")
    return size


def convolve_scratch_size(
    backend: Backend, input_nhwc: Sequence[int], filter_dims: Sequence[int], output_nhwc: Sequence[int],
    stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int],
) -> int:  # fmt: skip
    """Bytes of scratch for a convolution; filter_dims is {C_OUT, KH, KW, C_IN / groups}. ValueError if no kernel takes it."""
    size = _library().cortex_m_nn_convolve_s8_buffer_size(
        int(backend), _Int4(*input_nhwc), _Int4(*filter_dims), _Int4(*output_nhwc),
        _Int2(*padding), _Int2(*stride), _Int2(*dilation),
    )  # fmt: skip
    return _checked(size, f"a convolution of {tuple(input_nhwc)} by {tuple(filter_dims)}")


def depthwise_conv_scratch_size(
    backend: Backend, input_nhwc: Sequence[int], filter_dims: Sequence[int], output_nhwc: Sequence[int],
    stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], depth_multiplier: int,
) -> int:  # fmt: skip
    """Bytes of scratch for a depthwise convolution; filter_dims is {1, KH, KW, C_OUT}. A batch is run image by image."""
    size = _library().cortex_m_nn_depthwise_conv_s8_buffer_size(
        int(backend), _Int4(1, *input_nhwc[1:]), _Int4(*filter_dims), _Int4(1, *output_nhwc[1:]),
        _Int2(*padding), _Int2(*stride), _Int2(*dilation), ctypes.c_int32(depth_multiplier),
    )  # fmt: skip
    return _checked(size, f"a depthwise convolution of {tuple(input_nhwc)} by {tuple(filter_dims)}")


def avg_pool_scratch_size(backend: Backend, output_width: int, channels: int) -> int:
    """Bytes of scratch for average pooling."""
    size = _library().cortex_m_nn_avgpool_s8_buffer_size(
        int(backend), ctypes.c_int32(output_width), ctypes.c_int32(channels)
    )
    return _checked(size, f"average pooling to width {output_width} with {channels} channels")


def transpose_conv_scratch_size(
    backend: Backend, input_nhwc: Sequence[int], filter_dims: Sequence[int], output_nhwc: Sequence[int],
    stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], output_padding: Sequence[int],
) -> int:  # fmt: skip
    """Bytes of scratch for a transposed convolution; filter_dims is {C_OUT, KH, KW, C_IN / groups}."""
    size = _library().cortex_m_nn_transpose_conv_s8_buffer_size(
        int(backend), _Int4(*input_nhwc), _Int4(*filter_dims), _Int4(*output_nhwc),
        _Int2(*padding), _Int2(*stride), _Int2(*dilation), _Int2(*output_padding),
    )  # fmt: skip
    return _checked(size, f"a transposed convolution of {tuple(input_nhwc)} by {tuple(filter_dims)}")


def transpose_conv_output_scratch_size(
    backend: Backend, input_nhwc: Sequence[int], filter_dims: Sequence[int], output_nhwc: Sequence[int],
    stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], output_padding: Sequence[int],
) -> int:  # fmt: skip
    """Bytes of the operator's output_scratch."""
    size = _library().cortex_m_nn_transpose_conv_s8_output_buffer_size(
        int(backend), _Int4(*input_nhwc), _Int4(*filter_dims), _Int4(*output_nhwc),
        _Int2(*padding), _Int2(*stride), _Int2(*dilation), _Int2(*output_padding),
    )  # fmt: skip
    return _checked(size, f"a transposed convolution of {tuple(input_nhwc)} by {tuple(filter_dims)}")


def batch_matmul_scratch_size(backend: Backend, depth: int, columns: int) -> int:
    """Bytes of scratch for products of matrices [M, depth] and [depth, columns]."""
    size = _library().cortex_m_nn_fully_connected_s8_buffer_size(
        int(backend), ctypes.c_int32(depth), ctypes.c_int32(columns)
    )
    return _checked(size, f"a matrix product of depth {depth} with {columns} columns")


class KernelSet(enum.IntEnum):
    """What kernels of ours are written in; a core takes one of them."""

    MVE = 0
    DSP = 1
    SCALAR = 2
    THUMB2 = 3  # scalar, with Thumb-2: Cortex-M3


def convolve_kernel(
    kernels: KernelSet, input_nhwc: Sequence[int], filter_dims: Sequence[int], output_nhwc: Sequence[int],
    stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int],
) -> str:  # fmt: skip
    """Name of the kernel for a convolution, "columns"; "" if no kernel takes it, or the kernel library is not ours."""
    return _kernel_name(
        "convolve", kernels, _Int4(*input_nhwc), _Int4(*filter_dims), _Int4(*output_nhwc),
        _Int2(*padding), _Int2(*stride), _Int2(*dilation),
    )  # fmt: skip


def depthwise_conv_kernel(
    kernels: KernelSet, input_nhwc: Sequence[int], filter_dims: Sequence[int], output_nhwc: Sequence[int],
    stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], depth_multiplier: int,
) -> str:  # fmt: skip
    """Name of the kernel for a depthwise convolution, "patches"; "" as above."""
    return _kernel_name(
        "depthwise_conv", kernels, _Int4(1, *input_nhwc[1:]), _Int4(*filter_dims), _Int4(1, *output_nhwc[1:]),
        _Int2(*padding), _Int2(*stride), _Int2(*dilation), ctypes.c_int32(depth_multiplier),
    )  # fmt: skip


def _kernel_name(function: str, kernels: KernelSet, *arguments: Any) -> str:
    call = getattr(_library(), f"cortex_m_nn_{function}_s8_kernel")
    call.restype = ctypes.c_char_p
    name = call(int(kernels), *arguments)
    return name.decode() if name else ""
