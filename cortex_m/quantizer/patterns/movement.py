"""Patterns that move data and compute nothing."""

from __future__ import annotations

import math

import torch
from torch.fx import Node

from cortex_m.quantizer.match import Match, fake
from cortex_m.quantizer.patterns.pattern import Output, Pattern, always

aten = torch.ops.aten


def _permute(match: Match) -> str | None:
    if (rank := fake(match.head).dim()) > 4:
        return f"rank {rank}; at most 4"
    return None


def _pad(match: Match) -> str | None:
    if match.head.target is aten.pad.default:
        mode, value = match.argument(2), match.argument(3)
    else:
        mode, value = "constant", match.argument(2)
    if mode != "constant":
        return f"padding mode {mode!r}; only 'constant'"
    if isinstance(value, Node) or not math.isfinite(value or 0):
        return f"padding with {value}; only with a finite constant"
    if any(width < 0 for width in match.argument(1)):
        return "a negative width crops; only padding is supported"
    if (rank := fake(match.head).dim()) > 4:
        return f"rank {rank}; at most 4"
    return None


PATTERNS = (
    Pattern(
        name="reshape",
        heads=(
            aten.view.default,
            aten.reshape.default,
            aten._unsafe_view.default,
            aten.flatten.using_ints,
            aten.unflatten.int,
            aten.squeeze.default,
            aten.squeeze.dim,
            aten.squeeze.dims,
            aten.unsqueeze.default,
        ),
        output=Output.SHARED,
        needs_neighbour=True,
        check=always,
        limits="beside a quantized layer",
    ),
    Pattern(
        name="permute",
        heads=(aten.permute.default, aten.transpose.int, aten.t.default),
        output=Output.SHARED,
        needs_neighbour=True,
        check=_permute,
        limits="rank 1 to 4; beside a quantized layer",
    ),
    Pattern(
        name="copy",
        heads=(aten.clone.default, aten.contiguous.default, aten.alias.default, aten.detach.default),
        output=Output.SHARED,
        needs_neighbour=True,
        check=always,
        limits="beside a quantized layer; most are removed before",
    ),
    Pattern(
        name="pad",
        heads=(aten.constant_pad_nd.default, aten.pad.default),
        output=Output.SHARED,
        needs_neighbour=True,
        check=_pad,
        limits="constant and finite value; rank 1 to 4; beside a quantized layer",
    ),
    Pattern(
        name="cat",
        heads=(aten.cat.default, aten.concat.default, aten.concatenate.default),
        output=Output.SHARED,
        needs_neighbour=True,
        check=always,
        limits="beside a quantized layer",
    ),
)

# Only while a model trains; before conversion, evaluation mode makes them identities.
TRAINING_PATTERNS = (
    Pattern(
        name="dropout",
        heads=(aten.dropout.default, aten.feature_dropout.default),
        output=Output.SHARED,
        needs_neighbour=True,
        check=always,
        limits="in training; beside a quantized layer",
    ),
)
