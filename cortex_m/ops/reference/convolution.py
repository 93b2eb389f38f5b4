"""quantized_conv2d, quantized_depthwise_conv2d and quantized_transpose_conv2d, in both layouts.

    acc[n, y, x, o] = bias[o] + sum over kernel rows, columns and channels of (input + input_offset) * weight
    out             = clamp(requantize(acc, multiplier[o], shift[o]) + output_offset, activation_min, activation_max)

Padding adds nothing to a sum: it stands for the real value 0. Sums are exact: float64 holds integers up to 2^53, and
an int8 product is below 2^16.
"""

import torch

from cortex_m.ops.reference.fixed_point import requantize
from cortex_m.ops.reference.registry import fake, reference


def _output_size(size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def _finish(acc, bias, multipliers, shifts, output_offset, activation_min, activation_max):
    """Requantizes int64 sums whose last dimension is the output channel."""
    if bias is not None:
        acc = acc + bias.to(torch.int64)
    out = requantize(acc, multipliers.to(torch.int64), shifts.to(torch.int64)) + output_offset
    return out.clamp(activation_min, activation_max).to(torch.int8)


@reference("quantized_conv2d_nhwc")
def quantized_conv2d_nhwc(
    input, weight, bias, stride, padding, dilation, input_offset, output_offset,
    requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch,
):  # fmt: skip
    """input int8 [N, H, W, C], weight int8 [O, kH, kW, C / groups], bias int32 [O]; int8 [N, oH, oW, O]."""
    groups = input.shape[3] // weight.shape[3]
    acc = torch.nn.functional.conv2d(
        input.permute(0, 3, 1, 2).to(torch.float64) + input_offset,
        weight.permute(0, 3, 1, 2).to(torch.float64),
        None, stride, padding, dilation, groups,
    )  # fmt: skip
    return _finish(
        acc.permute(0, 2, 3, 1).to(torch.int64), bias, requantize_multipliers, requantize_shifts,
        output_offset, activation_min, activation_max,
    ).contiguous()  # fmt: skip


@fake("quantized_conv2d_nhwc")
def quantized_conv2d_nhwc_fake(
    input, weight, bias, stride, padding, dilation, input_offset, output_offset,
    requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch,
):  # fmt: skip
    n, h, w, _ = input.shape
    o, kh, kw, _ = weight.shape
    return input.new_empty(
        (
            n,
            _output_size(h, kh, stride[0], padding[0], dilation[0]),
            _output_size(w, kw, stride[1], padding[1], dilation[1]),
            o,
        )
    )


@reference("quantized_depthwise_conv2d_nhwc")
def quantized_depthwise_conv2d_nhwc(
    input, weight, bias, stride, padding, dilation, depth_multiplier, input_offset, output_offset,
    requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch,
):  # fmt: skip
    """input int8 [N, H, W, C], weight int8 [1, kH, kW, C * depth_multiplier], output channel c * depth_multiplier + m."""
    n, h, w, _ = input.shape
    _, kh, kw, o = weight.shape
    oh = _output_size(h, kh, stride[0], padding[0], dilation[0])
    ow = _output_size(w, kw, stride[1], padding[1], dilation[1])
    x = (input.to(torch.int64) + input_offset).repeat_interleave(depth_multiplier, dim=3)
    x = torch.nn.functional.pad(x, (0, 0, padding[1], padding[1], padding[0], padding[0]))
    taps = weight[0].to(torch.int64)
    acc = torch.zeros((n, oh, ow, o), dtype=torch.int64)
    for ky in range(kh):
        top = ky * dilation[0]
        rows = x[:, top : top + (oh - 1) * stride[0] + 1 : stride[0]]
        for kx in range(kw):
            left = kx * dilation[1]
            acc += rows[:, :, left : left + (ow - 1) * stride[1] + 1 : stride[1]] * taps[ky, kx]
    return _finish(acc, bias, requantize_multipliers, requantize_shifts, output_offset, activation_min, activation_max)


@fake("quantized_depthwise_conv2d_nhwc")
def quantized_depthwise_conv2d_nhwc_fake(
    input, weight, bias, stride, padding, dilation, depth_multiplier, input_offset, output_offset,
    requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch,
):  # fmt: skip
    n, h, w, _ = input.shape
    _, kh, kw, o = weight.shape
    return input.new_empty(
        (
            n,
            _output_size(h, kh, stride[0], padding[0], dilation[0]),
            _output_size(w, kw, stride[1], padding[1], dilation[1]),
            o,
        )
    )


@reference("quantized_transpose_conv2d_nhwc")
def quantized_transpose_conv2d_nhwc(
    input, weight, bias, stride, padding, output_padding, dilation, input_offset, output_offset,
    requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch, output_scratch,
):  # fmt: skip
    """input int8 [N, H, W, C], weight int8 [O, kH, kW, C / groups]; an output that no input reaches is its bias."""
    o, kh, kw, depth = weight.shape
    groups = input.shape[3] // depth
    # As torch has it: [C, O / groups, kH, kW].
    torch_weight = (
        weight.reshape(groups, o // groups, kh, kw, depth).permute(0, 4, 1, 2, 3).reshape(-1, o // groups, kh, kw)
    )
    acc = torch.nn.functional.conv_transpose2d(
        input.permute(0, 3, 1, 2).to(torch.float64) + input_offset,
        torch_weight.to(torch.float64),
        None, stride, padding, output_padding, groups, dilation,
    )  # fmt: skip
    return _finish(
        acc.permute(0, 2, 3, 1).round().to(torch.int64), bias, requantize_multipliers, requantize_shifts,
        output_offset, activation_min, activation_max,
    ).contiguous()  # fmt: skip


@fake("quantized_transpose_conv2d_nhwc")
def quantized_transpose_conv2d_nhwc_fake(
    input, weight, bias, stride, padding, output_padding, dilation, input_offset, output_offset,
    requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch, output_scratch,
):  # fmt: skip
    sizes = [
        (input.shape[1 + i] - 1) * stride[i]
        - 2 * padding[i]
        + dilation[i] * (weight.shape[1 + i] - 1)
        + 1
        + output_padding[i]
        for i in (0, 1)
    ]
    return input.new_empty((input.shape[0], *sizes, weight.shape[0]))


def _in_nchw(nhwc_function):
    """The same computation on [N, C, H, W] tensors in channels_last memory."""

    def function(input, *args):
        return nhwc_function(input.permute(0, 2, 3, 1), *args).permute(0, 3, 1, 2)

    return function


reference("quantized_conv2d")(_in_nchw(quantized_conv2d_nhwc))
fake("quantized_conv2d")(_in_nchw(quantized_conv2d_nhwc_fake))
reference("quantized_depthwise_conv2d")(_in_nchw(quantized_depthwise_conv2d_nhwc))
fake("quantized_depthwise_conv2d")(_in_nchw(quantized_depthwise_conv2d_nhwc_fake))
reference("quantized_transpose_conv2d")(_in_nchw(quantized_transpose_conv2d_nhwc))
fake("quantized_transpose_conv2d")(_in_nchw(quantized_transpose_conv2d_nhwc_fake))
