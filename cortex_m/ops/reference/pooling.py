"""quantized_avg_pool2d and quantized_max_pool2d, in both layouts.

Maximum: stored values compare as the real ones do, since input and output share scale and zero point. Average: the mean of a window's elements that lie inside the input, as integers: input and output share scale and zero point, so
neither enters. The quotient is rounded to nearest, ties away from zero.
"""

import torch

from cortex_m.ops.reference.registry import fake, reference


def pooled_size(size: int, kernel: int, stride: int, padding: int, ceil_mode: bool, dilation: int = 1) -> int:
    """Windows along one axis; with ceil_mode a last window that starts inside the input or its left padding counts."""
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (span + stride - 1 if ceil_mode else span) // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return count


@reference("quantized_avg_pool2d_nhwc")
def quantized_avg_pool2d_nhwc(input, kernel_size, stride, padding, ceil_mode, zero_point, multiplier, shift, scratch):
    """int8 [N, H, W, C] to int8 [N, oH, oW, C]."""
    n, h, w, c = input.shape
    oh = pooled_size(h, kernel_size[0], stride[0], padding[0], ceil_mode)
    ow = pooled_size(w, kernel_size[1], stride[1], padding[1], ceil_mode)
    # Sums by an integral image: one row and one column of zeros ahead of the cumulative sums.
    integral = torch.zeros((n, h + 1, w + 1, c), dtype=torch.int64)
    integral[:, 1:, 1:] = input.to(torch.int64).cumsum(1).cumsum(2)
    top, bottom = _bounds(oh, kernel_size[0], stride[0], padding[0], h)
    left, right = _bounds(ow, kernel_size[1], stride[1], padding[1], w)
    lower, upper = integral[:, bottom], integral[:, top]
    total = lower[:, :, right] - lower[:, :, left] - upper[:, :, right] + upper[:, :, left]
    count = ((bottom - top)[:, None] * (right - left)[None, :])[None, :, :, None]
    half = torch.where(total > 0, count // 2, -(count // 2))
    mean = torch.div(total + half, count, rounding_mode="trunc")
    return mean.clamp(-128, 127).to(torch.int8)


def _bounds(count: int, kernel: int, stride: int, padding: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """First element and one past the last of each window, cut to the input."""
    start = torch.arange(count) * stride - padding
    return start.clamp(0, size), (start + kernel).clamp(0, size)


@fake("quantized_avg_pool2d_nhwc")
def quantized_avg_pool2d_nhwc_fake(
    input, kernel_size, stride, padding, ceil_mode, zero_point, multiplier, shift, scratch
):
    n, h, w, c = input.shape
    oh = pooled_size(h, kernel_size[0], stride[0], padding[0], ceil_mode)
    ow = pooled_size(w, kernel_size[1], stride[1], padding[1], ceil_mode)
    return input.new_empty((n, oh, ow, c))


@reference("quantized_avg_pool2d")
def quantized_avg_pool2d(input, *args):
    """[N, C, H, W] in channels_last memory."""
    return quantized_avg_pool2d_nhwc(input.permute(0, 2, 3, 1), *args).permute(0, 3, 1, 2)


@fake("quantized_avg_pool2d")
def quantized_avg_pool2d_fake(input, *args):
    return quantized_avg_pool2d_nhwc_fake(input.permute(0, 2, 3, 1), *args).permute(0, 3, 1, 2)


@reference("quantized_max_pool2d_nhwc")
def quantized_max_pool2d_nhwc(
    input,
    kernel_size,
    stride,
    padding,
    dilation,
    ceil_mode,
    input_zero_point,
    output_zero_point,
    activation_min,
    activation_max,
):
    """int8 [N, H, W, C] to int8 [N, oH, oW, C]. ValueError if zero points differ or a window has no input in it."""
    if input_zero_point != output_zero_point:
        raise ValueError(f"max_pool2d has one zero point, not {input_zero_point} and {output_zero_point}")
    largest = torch.nn.functional.max_pool2d(
        input.permute(0, 3, 1, 2).to(torch.float32), kernel_size, stride, padding, dilation, ceil_mode
    )
    if bool(largest.isinf().any()):
        raise ValueError("a window has no input in it")
    return largest.permute(0, 2, 3, 1).clamp(activation_min, activation_max).to(torch.int8).contiguous()


@fake("quantized_max_pool2d_nhwc")
def quantized_max_pool2d_nhwc_fake(
    input,
    kernel_size,
    stride,
    padding,
    dilation,
    ceil_mode,
    input_zero_point,
    output_zero_point,
    activation_min,
    activation_max,
):
    n, h, w, c = input.shape
    oh, ow = (
        pooled_size(size, kernel_size[i], stride[i], padding[i], ceil_mode, dilation[i])
        for i, size in enumerate((h, w))
    )
    return input.new_empty((n, oh, ow, c))


@reference("quantized_max_pool2d")
def quantized_max_pool2d(input, *args):
    """[N, C, H, W] in channels_last memory."""
    return quantized_max_pool2d_nhwc(input.permute(0, 2, 3, 1), *args).permute(0, 3, 1, 2)


@fake("quantized_max_pool2d")
def quantized_max_pool2d_fake(input, *args):
    return quantized_max_pool2d_nhwc_fake(input.permute(0, 2, 3, 1), *args).permute(0, 3, 1, 2)
