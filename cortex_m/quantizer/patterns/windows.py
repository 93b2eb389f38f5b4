"""Patterns that slide a window over an image: convolutions and pools."""

from __future__ import annotations

import torch
from torch.fx import Node

from cortex_m.quantizer.match import Match, fake
from cortex_m.quantizer.patterns.pattern import CLAMPS, Output, Pattern, constants

aten = torch.ops.aten


def _conv2d(match: Match) -> str | None:
    if (rank := fake(match.head).dim()) != 4:
        return f"its tensors have rank {rank}; add the batch dim, so that they have rank 4"
    return constants(match)


def _spatial(node: Node) -> tuple[int, int]:
    return tuple(fake(node).shape[-2:])


def _mean(match: Match) -> str | None:
    source, dims = match.argument(0), match.argument(1)
    rank = fake(source).dim()
    if rank != 4 or dims is None or sorted(dim % rank for dim in dims) != [2, 3]:
        return f"a mean over dims {dims} of a tensor of rank {rank}; only over dims [2, 3] of rank 4"
    return None


def _adaptive_avg_pool2d(match: Match) -> str | None:
    source = match.argument(0)
    if fake(source).dim() != 4:
        return f"its input has rank {fake(source).dim()}, not 4"
    size, wanted = _spatial(source), _spatial(match.head)
    if any(have % want for have, want in zip(size, wanted)):
        return f"{size[0]}x{size[1]} does not divide into {wanted[0]}x{wanted[1]} windows of one size"
    return None


def _avg_pool2d(match: Match) -> str | None:
    source = match.argument(0)
    if fake(source).dim() != 4:
        return f"its input has rank {fake(source).dim()}, not 4"
    if (divisor := match.argument(6)) is not None:
        return f"divisor_override={divisor} is not supported"
    kernel, stride, padding = (match.argument(position) for position in (1, 2, 3))
    kernel, padding = ([*value] * 2 if len(value) == 1 else [*value] for value in (kernel, padding))
    stride = kernel if not stride else [*stride] * 2 if len(stride) == 1 else [*stride]
    if match.argument(4):
        floor = tuple((n + 2 * p - k) // s + 1 for n, p, k, s in zip(_spatial(source), padding, kernel, stride))
        if floor != _spatial(match.head):
            return "ceil_mode=True adds windows that reach beyond the padded input"
    return None


PATTERNS = (
    Pattern(
        name="conv2d",
        heads=(aten.conv2d.default,),
        tails=CLAMPS,
        weighted=True,
        check=_conv2d,
        limits="rank 4; weight and bias constant; batch norm folded before",
    ),
    Pattern(
        name="mean",
        heads=(aten.mean.dim,),
        output=Output.SHARED,
        check=_mean,
        limits="over both spatial dims of a rank 4 tensor",
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
        check=_avg_pool2d,
        limits="no divisor_override; ceil_mode only where it changes nothing",
    ),
)
