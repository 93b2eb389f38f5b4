"""Patterns that slide a window over an image: convolutions and pools."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch._ops import OpOverload
from torch.fx import Node

from cortex_m.quantizer.canonical_windows import reads_indices
from cortex_m.quantizer.match import Match, fake
from cortex_m.quantizer.patterns.pattern import CLAMPS, Output, Pattern, constants

aten = torch.ops.aten


def _four_dims(match: Match) -> str | None:
    if (rank := fake(match.argument(0)).dim()) != 4:
        return f"its input has rank {rank}; windows over one or two dimensions are supported"
    return None


def _conv2d(match: Match) -> str | None:
    return _four_dims(match) or constants(match)


def _conv_transpose2d(match: Match) -> str | None:
    if (reason := _conv2d(match)) is not None or not match.config.per_channel:
        return reason
    groups, channels = match.argument(6), fake(match.argument(0)).shape[1]
    return None if 1 <= groups <= channels else f"{groups} groups of {channels} channels"


def transposed_weight_axis(match: Match) -> int:
    """The dimension of [C_in, C_out / groups, kH, kW] that has the scales: each output channel its own, or each group."""
    return 0 if 1 < match.argument(6) == fake(match.argument(0)).shape[1] else 1


def spread_transposed_scales(match: Match) -> Callable[[torch.Tensor], torch.Tensor]:
    """From the scales along that dimension to one for each output channel; `match` is read now, not at conversion."""
    groups, channels = match.argument(6), fake(match.head).shape[1]
    if transposed_weight_axis(match) == 0:
        return lambda scales: scales.repeat_interleave(channels // scales.numel())
    return lambda scales: scales.repeat(groups)


def _spatial(node: Node) -> tuple[int, int]:
    return tuple(fake(node).shape[-2:])


def _pair(values: list[int]) -> list[int]:
    return [*values] * 2 if len(values) == 1 else [*values]


def _mean(match: Match) -> str | None:
    if match.head.kwargs.get("dtype") not in (None, torch.float32):
        return f"a mean with dtype={match.head.kwargs['dtype']}"
    rank, dims = fake(match.argument(0)).dim(), match.argument(1)
    reduced = sorted(dim % rank for dim in dims) if dims else [*range(rank)]
    if rank == 0:
        return "a mean of one number"
    if rank > 4 and reduced != [*range(reduced[0], reduced[-1] + 1)]:
        return f"a mean over dims {reduced} of rank {rank}; above rank 4 they must be neighbours"
    return None


def _adaptive_avg_pool2d(match: Match) -> str | None:
    if (reason := _four_dims(match)) is not None:
        return reason
    size, wanted = _spatial(match.argument(0)), _spatial(match.head)
    if any(have % want for have, want in zip(size, wanted)):
        return f"{size[0]}x{size[1]} does not divide into {wanted[0]}x{wanted[1]} windows of one size"
    return None


def _max_pool2d(match: Match) -> str | None:
    if (reason := _four_dims(match)) is not None:
        return reason
    kernel, padding, dilation = (_pair(match.argument(position)) for position in (1, 3, 4))
    stride = _pair(match.argument(2)) if match.argument(2) else kernel
    for size, out, k, s, p, d in zip(
        _spatial(match.argument(0)), _spatial(match.head), kernel, stride, padding, dilation
    ):
        starts = [o * s - p for o in range(out)]
        if not all(any(0 <= start + tap * d < size for tap in range(k)) for start in starts):
            return "a window lies in the padding altogether: its maximum is minus infinity"
    return None


PATTERNS = (
    Pattern(
        name="conv2d",
        heads=(aten.conv2d.default,),
        tails=CLAMPS,
        weighted=True,
        check=_conv2d,
        limits="one or two dimensions, any padding, dilation, groups and batch; weight and bias constant; batch norm folded before",
    ),
    Pattern(
        name="conv_transpose2d",
        heads=(aten.conv_transpose2d.input,),
        tails=CLAMPS,
        weighted=True,
        weight_axis=transposed_weight_axis,
        spread_scales=spread_transposed_scales,
        check=_conv_transpose2d,
        limits="one or two dimensions, any padding, output padding, dilation, groups and batch; weight and bias constant",
    ),
    Pattern(
        name="mean",
        heads=(aten.mean.dim, aten.mean.default),
        output=Output.SHARED,
        check=_mean,
        limits="above rank 4, over dims that are neighbours",
    ),
    Pattern(
        name="adaptive_avg_pool2d",
        heads=(aten.adaptive_avg_pool2d.default,),
        output=Output.SHARED,
        check=_adaptive_avg_pool2d,
        limits="output height and width divide those of the input",
    ),
    Pattern(
        name="avg_pool2d",
        heads=(aten.avg_pool2d.default,),
        output=Output.SHARED,
        check=_four_dims,
        limits="one or two dimensions; with divisor_override it is a convolution",
    ),
    Pattern(
        name="max_pool2d",
        heads=(aten.max_pool2d.default,),
        tails=CLAMPS,
        output=Output.SHARED,
        check=_max_pool2d,
        limits="one or two dimensions, any padding, dilation and ceil_mode; its indices have no reader",
    ),
)


def _indices(node: Node) -> str:
    if not reads_indices(node):
        return "the sizes of its input do not divide into windows of one size"
    return "the indices of its maxima are read; int8 pooling gives the maxima alone"


def _three_dimensional(node: Node) -> str:
    return "windows over three dimensions have no int8 operator; only those over one or two"


# Why a target that starts no pattern stays float.
REASONS: dict[OpOverload, Callable[[Node], str]] = {
    **dict.fromkeys(
        (
            aten.max_pool2d_with_indices.default,
            aten.max_pool1d_with_indices.default,
            aten.adaptive_max_pool1d.default,
            aten.adaptive_max_pool2d.default,
        ),
        _indices,
    ),
    **dict.fromkeys(
        (
            aten.conv3d.default,
            aten.conv3d.padding,
            aten.conv_transpose3d.input,
            aten.max_pool3d.default,
            aten.avg_pool3d.default,
            aten.adaptive_avg_pool3d.default,
        ),
        _three_dimensional,
    ),
    **dict.fromkeys(
        (aten.conv1d.default, aten.conv1d.padding, aten.conv2d.padding, aten.conv_transpose1d.default),
        lambda node: "the weight is not a constant",
    ),
}
