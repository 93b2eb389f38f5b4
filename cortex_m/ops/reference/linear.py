"""quantized_linear (one factor), quantized_linear_per_channel (one factor for each output) and quantized_batch_matmul."""

import torch

from cortex_m.ops.reference.fixed_point import requantize
from cortex_m.ops.reference.registry import fake, reference


def _finish(acc, multipliers, shifts, output_offset, activation_min, activation_max):
    out = requantize(acc, multipliers, shifts) + output_offset
    return out.clamp(activation_min, activation_max).to(torch.int8)


def _dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a [..., K] @ b [N, K] transposed. float64 holds the sums of int8 products exactly."""
    return (a.to(torch.float64) @ b.to(torch.float64).t()).to(torch.int64)


@reference("quantized_linear")
def quantized_linear(
    input, weights, bias, kernel_sum, input_offset, filter_offset, output_offset,
    requantize_multipliers, requantize_shifts, activation_max, activation_min,
):  # fmt: skip
    """input int8 [..., K], weights int8 [N, K], bias int32 [N]; int8 [..., N].

    With kernel_sum, int32 [1, N] = input_offset * sum of a row of weights + bias, the offset and the bias are taken from
    there and `bias` is None.
    """
    x = input.to(torch.int64)
    w = weights.to(torch.int64)
    if kernel_sum is not None:
        acc = _dot(x, w) + kernel_sum.reshape(-1).to(torch.int64)
        acc = acc + filter_offset * x.sum(dim=-1, keepdim=True)
    else:
        acc = _dot(x + input_offset, w + filter_offset)
    if bias is not None:
        acc = acc + bias.to(torch.int64)
    return _finish(
        acc, torch.tensor(requantize_multipliers), torch.tensor(requantize_shifts),
        output_offset, activation_min, activation_max,
    )  # fmt: skip


@fake("quantized_linear")
def quantized_linear_fake(
    input, weights, bias, kernel_sum, input_offset, filter_offset, output_offset,
    requantize_multipliers, requantize_shifts, activation_max, activation_min,
):  # fmt: skip
    return input.new_empty((*input.shape[:-1], weights.shape[0]))


@reference("quantized_linear_per_channel")
def quantized_linear_per_channel(
    input, weights, bias, input_offset, output_offset, requantize_multipliers, requantize_shifts,
    activation_min, activation_max,
):  # fmt: skip
    """As quantized_linear, with multipliers and shifts as int32 [N]."""
    acc = _dot(input.to(torch.int64) + input_offset, weights)
    if bias is not None:
        acc = acc + bias.to(torch.int64)
    return _finish(acc, requantize_multipliers, requantize_shifts, output_offset, activation_min, activation_max)


@fake("quantized_linear_per_channel")
def quantized_linear_per_channel_fake(
    input, weights, bias, input_offset, output_offset, requantize_multipliers, requantize_shifts,
    activation_min, activation_max,
):  # fmt: skip
    return input.new_empty((*input.shape[:-1], weights.shape[0]))


@reference("quantized_batch_matmul")
def quantized_batch_matmul(
    lhs, lhs_zero_point, rhs_transposed, rhs_zero_point, output_zero_point, output_multiplier, output_shift, scratch
):
    """lhs int8 [..., M, K], rhs_transposed int8 [..., N, K]; int8 [..., M, N], batch dims broadcast.

    lhs_zero_point and rhs_zero_point are minus the zero points.
    """
    left, right = lhs.to(torch.float64) + lhs_zero_point, rhs_transposed.to(torch.float64) + rhs_zero_point
    acc = torch.matmul(left, right.transpose(-1, -2)).to(torch.int64)
    return _finish(acc, torch.tensor(output_multiplier), torch.tensor(output_shift), output_zero_point, -128, 127)


@fake("quantized_batch_matmul")
def quantized_batch_matmul_fake(
    lhs, lhs_zero_point, rhs_transposed, rhs_zero_point, output_zero_point, output_multiplier, output_shift, scratch
):
    batch = torch.broadcast_shapes(lhs.shape[:-2], rhs_transposed.shape[:-2])
    return lhs.new_empty((*batch, lhs.shape[-2], rhs_transposed.shape[-2]))
