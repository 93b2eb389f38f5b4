"""Weights packed for a core's kernel by the kernel library itself, built for the host."""

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import torch

from cortex_m.host import locate
from cortex_m.target_config import Backend

_Int4 = ctypes.c_int32 * 4
_Int2 = ctypes.c_int32 * 2


class Packed(NamedTuple):
    """The constant of a packed operator, what it is packed as, and the bytes of scratch that the operator needs."""

    packed: torch.Tensor  # int8 [bytes]
    packing: int
    scratch_bytes: int


def pack_convolution(
    backend: Backend, input_nhwc: Sequence[int], weight: torch.Tensor, output_nhwc: Sequence[int], stride: Sequence[int],
    padding: Sequence[int], dilation: Sequence[int], input_offset: int, bias: torch.Tensor | None,
    multipliers: torch.Tensor, shifts: torch.Tensor, depthwise: bool = False,
) -> Packed | None:  # fmt: skip
    """The weights of a convolution packed for the kernel of an instruction set; None where the plain operator is to be taken.

    weight: int8 [C_OUT, KH, KW, C_IN / groups], or [1, KH, KW, C_OUT] of a depthwise one. bias, multipliers, shifts: int32 [C_OUT].
    """
    kernels = locate.load("nn", "libcortex_m_nn.so", "CORTEX_M_NN_LIBRARY")
    weight = weight.contiguous()
    tensors = [
        None if tensor is None else tensor.to(torch.int32).contiguous() for tensor in (bias, multipliers, shifts)
    ]
    weights, biases, *factors = (
        None if tensor is None else ctypes.c_void_p(tensor.data_ptr()) for tensor in (weight, *tensors)
    )
    packed_bytes, scratch_bytes = ctypes.c_int32(), ctypes.c_int32()
    geometry = (
        int(backend), _Int4(*input_nhwc), _Int4(*weight.shape), _Int4(*output_nhwc), _Int2(*padding), _Int2(*stride),
        _Int2(*dilation),
    )  # fmt: skip
    sizes = (ctypes.byref(packed_bytes), ctypes.byref(scratch_bytes))
    if depthwise:
        packing = kernels.cortex_m_nn_plan_packed_depthwise_conv(*geometry, *sizes)
        write = kernels.cortex_m_nn_write_packed_depthwise_conv
    else:
        packing = kernels.cortex_m_nn_plan_packed_conv(*geometry, *sizes)
        write = kernels.cortex_m_nn_write_packed_conv
    if packing == 0:
        return None
    packed = torch.zeros(packed_bytes.value, dtype=torch.int8)
    write.restype = ctypes.c_bool
    fits = write(
        _Int4(*weight.shape),
        ctypes.c_int32(input_offset),
        weights,
        biases,
        *factors,
        ctypes.c_void_p(packed.data_ptr()),
    )
    return Packed(packed, packing, scratch_bytes.value) if fits else None


def pack_linear(
    backend: Backend, weights: torch.Tensor, bias: torch.Tensor | None, multipliers: torch.Tensor, shifts: torch.Tensor
) -> Packed | None:
    """The same for a linear layer. weights: int8 [N, K]. bias, with the input offset's share, multipliers, shifts: int32 [N]."""
    kernels = locate.load("nn", "libcortex_m_nn.so", "CORTEX_M_NN_LIBRARY")
    channels, depth = weights.shape
    packed_bytes, scratch_bytes = ctypes.c_int32(), ctypes.c_int32()
    sizes = (ctypes.c_int32(depth), ctypes.c_int32(channels))
    packing = kernels.cortex_m_nn_plan_packed_linear(
        int(backend), *sizes, ctypes.byref(packed_bytes), ctypes.byref(scratch_bytes)
    )
    if packing == 0:
        return None
    tensors = [
        None if tensor is None else tensor.to(torch.int32).contiguous() for tensor in (bias, multipliers, shifts)
    ]
    tensors = [weights.contiguous(), *tensors, torch.zeros(packed_bytes.value, dtype=torch.int8)]
    write = kernels.cortex_m_nn_write_packed_linear
    write.restype = ctypes.c_bool
    fits = write(*sizes, *(None if tensor is None else ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors))
    return Packed(tensors[-1], packing, scratch_bytes.value) if fits else None
