"""packed_conv2d_nhwc: quantized_conv2d_nhwc on weights that are packed for a core's kernel, read from the packed bytes.

    acc[n, y, x, o] = bias[o] + sum over kernel rows, columns and channels of input * weight
    out             = clamp(requantize(acc, multiplier[o], shift[o]) + output_offset, activation_min, activation_max)

The packed bias is bias + input_offset * sum(weight). It counts on every tap, so what a window touches outside the input is the
zero point, -input_offset.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from cortex_m.ops.reference.fixed_point import requantize
from cortex_m.ops.reference.registry import fake, reference

PAIRS_OF_16 = 1  # cortex_m_nn_packing of cortex_m/nn/additional.h


class Unpacked(NamedTuple):
    weight: torch.Tensor  # int8 [O, kH, kW, C]
    bias: torch.Tensor  # int32 [O], the input offset's share in it
    multipliers: torch.Tensor  # int32 [O]
    shifts: torch.Tensor  # int32 [O]


def unpack(packed: torch.Tensor, packing: int, output_channels: int, kernel: Sequence[int], channels: int) -> Unpacked:
    """What the bytes of `packed`, int8 [bytes], hold. Raises ValueError for another size, rank or packing."""
    depth = kernel[0] * kernel[1] * channels
    vectors = -(-depth // 16)
    if packing != PAIRS_OF_16 or output_channels < 1 or output_channels % 2 != 0:
        raise ValueError(f"packing {packing} of {output_channels} output channels is none that is known")
    pairs = output_channels // 2
    if packed.shape != (pairs * (32 * vectors + 24),) or packed.dtype != torch.int8:
        raise ValueError(f"{packed.dtype} {tuple(packed.shape)} does not hold {output_channels} channels of depth {depth}")
    blocks = packed.reshape(pairs, -1)
    rows = blocks[:, : 32 * vectors].reshape(pairs, vectors, 2, 16).transpose(1, 2).reshape(output_channels, 16 * vectors)
    parameters = blocks[:, 32 * vectors :].contiguous().view(torch.int32).reshape(pairs, 3, 2)
    bias, multipliers, shifts = (parameters[:, i].reshape(-1) for i in range(3))
    return Unpacked(rows[:, :depth].reshape(output_channels, *kernel, channels), bias, multipliers, shifts)


@reference("packed_conv2d_nhwc")
def packed_conv2d_nhwc(
    input, packed, packing, output_channels, kernel_size, stride, padding, dilation, input_offset, output_offset,
    activation_min, activation_max, scratch,
):  # fmt: skip
    """input int8 [N, H, W, C], packed int8 [bytes]; int8 [N, oH, oW, output_channels]."""
    weight, bias, multipliers, shifts = unpack(packed, packing, output_channels, kernel_size, input.shape[3])
    rows, columns = padding
    x = torch.nn.functional.pad(
        input.permute(0, 3, 1, 2).to(torch.float64), (columns, columns, rows, rows), value=float(-input_offset)
    )
    sums = torch.nn.functional.conv2d(x, weight.permute(0, 3, 1, 2).to(torch.float64), None, stride, 0, dilation)
    acc = sums.permute(0, 2, 3, 1).to(torch.int64) + bias.to(torch.int64)
    out = requantize(acc, multipliers.to(torch.int64), shifts.to(torch.int64)) + output_offset
    return out.clamp(activation_min, activation_max).to(torch.int8).contiguous()


@fake("packed_conv2d_nhwc")
def packed_conv2d_nhwc_fake(
    input, packed, packing, output_channels, kernel_size, stride, padding, dilation, input_offset, output_offset,
    activation_min, activation_max, scratch,
):  # fmt: skip
    height, width = (
        (input.shape[1 + i] + 2 * padding[i] - dilation[i] * (kernel_size[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)
    )
    return input.new_empty((input.shape[0], height, width, output_channels))
