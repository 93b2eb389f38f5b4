"""packed_conv2d_nhwc, packed_depthwise_conv2d_nhwc and packed_linear: operators whose weights are packed for a core's kernel, read from
the packed bytes.

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

# cortex_m_nn_packing of cortex_m/nn/additional.h
PAIRS_OF_16 = 1
TAPS_OF_16 = 2
FOURS_OF_PAIRS = 3


class Unpacked(NamedTuple):
    weight: torch.Tensor  # int8 [O, kH, kW, C / groups]
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
        raise ValueError(
            f"{packed.dtype} {tuple(packed.shape)} does not hold {output_channels} channels of depth {depth}"
        )
    blocks = packed.reshape(pairs, -1)
    rows = (
        blocks[:, : 32 * vectors].reshape(pairs, vectors, 2, 16).transpose(1, 2).reshape(output_channels, 16 * vectors)
    )
    parameters = blocks[:, 32 * vectors :].contiguous().view(torch.int32).reshape(pairs, 3, 2)
    bias, multipliers, shifts = (parameters[:, i].reshape(-1) for i in range(3))
    return Unpacked(rows[:, :depth].reshape(output_channels, *kernel, channels), bias, multipliers, shifts)


# Channels of 16 in the order of their parameters.
_LANES = [lane + 4 * i for lane in (0, 2, 1, 3) for i in range(4)]


def unpack_depthwise(packed: torch.Tensor, packing: int, channels: int, kernel: Sequence[int]) -> Unpacked:
    """The same for a depthwise convolution; weight [C, kH, kW, 1]."""
    if packing != TAPS_OF_16 or channels < 1 or channels % 16 != 0 or list(kernel) != [3, 3]:
        raise ValueError(f"packing {packing} of {channels} channels and kernel {tuple(kernel)} is none that is known")
    blocks = channels // 16
    if packed.shape != (blocks * (9 * 16 + 3 * 64),) or packed.dtype != torch.int8:
        raise ValueError(f"{packed.dtype} {tuple(packed.shape)} does not hold {channels} channels of nine taps")
    rows = packed.reshape(blocks, -1)
    weight = rows[:, : 9 * 16].reshape(blocks, 9, 16).transpose(1, 2).reshape(channels, 3, 3, 1)
    stored = (
        rows[:, 9 * 16 :]
        .contiguous()
        .view(torch.int32)
        .reshape(blocks, 4, 3, 4)
        .permute(2, 0, 1, 3)
        .reshape(3, blocks, 16)
    )
    parameters = torch.empty_like(stored)
    parameters[:, :, _LANES] = stored
    return Unpacked(weight, *parameters.reshape(3, channels))


def _convolve(
    input, unpacked, groups, stride, padding, dilation, input_offset, output_offset, activation_min, activation_max
):  # fmt: skip
    rows, columns = padding
    x = torch.nn.functional.pad(
        input.permute(0, 3, 1, 2).to(torch.float64), (columns, columns, rows, rows), value=float(-input_offset)
    )
    weight = unpacked.weight.permute(0, 3, 1, 2).to(torch.float64)
    sums = torch.nn.functional.conv2d(x, weight, None, stride, 0, dilation, groups)
    acc = sums.permute(0, 2, 3, 1).to(torch.int64) + unpacked.bias.to(torch.int64)
    out = requantize(acc, unpacked.multipliers.to(torch.int64), unpacked.shifts.to(torch.int64)) + output_offset
    return out.clamp(activation_min, activation_max).to(torch.int8).contiguous()


@reference("packed_conv2d_nhwc")
def packed_conv2d_nhwc(
    input, packed, packing, output_channels, kernel_size, stride, padding, dilation, input_offset, output_offset,
    activation_min, activation_max, scratch,
):  # fmt: skip
    """input int8 [N, H, W, C], packed int8 [bytes]; int8 [N, oH, oW, output_channels]."""
    unpacked = unpack(packed, packing, output_channels, kernel_size, input.shape[3])
    return _convolve(
        input, unpacked, 1, stride, padding, dilation, input_offset, output_offset, activation_min, activation_max
    )


@reference("packed_depthwise_conv2d_nhwc")
def packed_depthwise_conv2d_nhwc(
    input, packed, packing, output_channels, kernel_size, stride, padding, dilation, input_offset, output_offset,
    activation_min, activation_max, scratch,
):  # fmt: skip
    """input int8 [N, H, W, C], packed int8 [bytes]; int8 [N, oH, oW, C]."""
    unpacked = unpack_depthwise(packed, packing, output_channels, kernel_size)
    return _convolve(
        input,
        unpacked,
        output_channels,
        stride,
        padding,
        dilation,
        input_offset,
        output_offset,
        activation_min,
        activation_max,
    )


@fake("packed_conv2d_nhwc", "packed_depthwise_conv2d_nhwc")
def packed_conv2d_nhwc_fake(
    input, packed, packing, output_channels, kernel_size, stride, padding, dilation, input_offset, output_offset,
    activation_min, activation_max, scratch,
):  # fmt: skip
    height, width = (
        (input.shape[1 + i] + 2 * padding[i] - dilation[i] * (kernel_size[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)
    )
    return input.new_empty((input.shape[0], height, width, output_channels))


@reference("packed_linear")
def packed_linear(input, packed, packing, output_channels, output_offset, activation_min, activation_max, scratch):
    """input int8 [..., K], packed int8 [bytes]; int8 [..., N]. The sums of even channels are modulo 2^24, as int24."""
    depth = input.shape[-1]
    fours = -(-depth // 4)
    if packing != FOURS_OF_PAIRS or output_channels < 1 or output_channels % 4 != 0:
        raise ValueError(f"packing {packing} of {output_channels} output channels is none that is known")
    blocks = output_channels // 4
    if packed.shape != (blocks * (16 * fours + 48),) or packed.dtype != torch.int8:
        raise ValueError(
            f"{packed.dtype} {tuple(packed.shape)} does not hold {output_channels} channels of depth {depth}"
        )
    rows = packed.reshape(blocks, -1)
    # [block, four, parity of the value, pair of channels, half of the values], to [block, pair, value]
    halves = rows[:, : 16 * fours].contiguous().view(torch.int16).reshape(blocks, fours, 2, 2, 2).to(torch.int64)
    halves = halves.permute(0, 3, 1, 4, 2).reshape(blocks, 2, 4 * fours)[:, :, :depth]
    lower = (halves + 128) % 256 - 128
    weights = torch.stack(((halves - lower) // 256, lower), dim=2).reshape(output_channels, depth)
    bias, multipliers, shifts = (
        rows[:, 16 * fours :].contiguous().view(torch.int32).reshape(blocks, 3, 4).transpose(0, 1).reshape(3, -1)
    )
    acc = (input.to(torch.float64) @ weights.to(torch.float64).t()).to(torch.int64)
    acc[..., ::2] = (acc[..., ::2] + 2**23) % 2**24 - 2**23
    out = requantize(acc + bias.to(torch.int64), multipliers.to(torch.int64), shifts.to(torch.int64)) + output_offset
    return out.clamp(activation_min, activation_max).to(torch.int8)


@fake("packed_linear")
def packed_linear_fake(input, packed, packing, output_channels, output_offset, activation_min, activation_max, scratch):
    return input.new_empty((*input.shape[:-1], output_channels))
