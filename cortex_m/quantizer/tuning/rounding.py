"""Rounds the weights of a layer so that its outputs, not its weights, stay close to the float layer's.

The quadratic form of the calibration inputs, H = cov(x), says how errors of different weights add up in the output;
columns are rounded one after the other and each error is compensated by those still to come (Frantar et al., "GPTQ",
2022, arXiv:2210.17323).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.fx import Node

from cortex_m.quantizer.match import argument

aten = torch.ops.aten

# Part of the mean of H's diagonal that is added to it: how much to distrust a covariance of few samples.
DAMPING = 0.02
# Columns of x kept for H: positions of convolutions overlap, so more add little.
MAX_COLUMNS = 1 << 15
_BLOCK = 64
# Quotients are rounded to this first: what the last bits of a sum decide is rounded away, and a tie is a tie everywhere.
_QUOTIENT_STEPS = 2.0**20


def columns(layer: Node, weight: torch.Tensor, inputs: list[torch.Tensor]) -> torch.Tensor:
    """[groups, K, positions]: what one output of the layer sees of its input, for every sample and position, up to MAX_COLUMNS."""
    if layer.target is aten.linear.default:
        return _thinned([x.reshape(-1, x.shape[-1]).T[None] for x in inputs])
    stride, padding, dilation, groups = (argument(layer, position) for position in (3, 4, 5, 6))
    found = []
    for x in inputs:
        unfolded = F.unfold(x, tuple(weight.shape[2:]), dilation, padding, stride)
        found.append(unfolded.permute(1, 0, 2).reshape(groups, -1, unfolded.shape[0] * unfolded.shape[2]))
        step = -(-found[0].shape[2] * len(inputs) // MAX_COLUMNS)
        found[-1] = found[-1][..., ::step].clone()
    return torch.cat(found, dim=2)


def _thinned(parts: list[torch.Tensor]) -> torch.Tensor:
    x = torch.cat(parts, dim=2)
    return x[..., :: -(-x.shape[2] // MAX_COLUMNS)]


def round_weights(weight: torch.Tensor, scale: torch.Tensor, x: torch.Tensor, limit: int) -> torch.Tensor:
    """The weight of one layer as multiples of `scale`.

    Args:
        weight: [channels, ...] float32.
        scale: [channels], the step of each.
        x: [groups, K, positions] from `columns`.
        limit: largest absolute integer.
    """
    groups = x.shape[0]
    centred = x.double() - x.double().mean(-1, keepdim=True)
    covariance = centred @ centred.transpose(1, 2) / centred.shape[-1]
    matrix = weight.double().view(groups, weight.shape[0] // groups, -1)
    rounded = _round_columns(matrix, covariance, scale.double().view(groups, -1, 1), limit)
    return rounded.float().view(weight.shape)


def _round_columns(weight: torch.Tensor, h: torch.Tensor, scale: torch.Tensor, limit: int) -> torch.Tensor:
    groups, channels, size = weight.shape
    h = h.clone()
    diagonal = h.diagonal(dim1=1, dim2=2)
    diagonal.add_(DAMPING * diagonal.mean(-1, keepdim=True) + 1e-12)
    # The inputs with most power first: their errors find most columns to compensate them.
    order = torch.argsort(diagonal, dim=1, descending=True, stable=True)
    rows = order[:, None].expand(groups, channels, size)
    left = torch.gather(weight, 2, rows)
    square = (groups, size, size)
    h = torch.gather(torch.gather(h, 1, order[:, :, None].expand(square)), 2, order[:, None].expand(square))
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(h))
    upper = torch.linalg.cholesky(inverse, upper=True)
    rounded = torch.empty_like(left)
    for start in range(0, size, _BLOCK):
        stop = min(size, start + _BLOCK)
        errors = torch.empty(groups, channels, stop - start, dtype=left.dtype)
        for k in range(start, stop):
            column = left[:, :, k : k + 1]
            steps = (column / scale * _QUOTIENT_STEPS).round() / _QUOTIENT_STEPS
            value = steps.round().clamp(-limit, limit) * scale
            rounded[:, :, k : k + 1] = value
            error = (column - value) / upper[:, k, k].view(groups, 1, 1)
            errors[:, :, k - start : k - start + 1] = error
            left[:, :, k + 1 : stop] -= error * upper[:, k : k + 1, k + 1 : stop]
        left[:, :, stop:] -= errors @ upper[:, start:stop, stop:]
    return torch.empty_like(rounded).scatter_(2, rows, rounded)
