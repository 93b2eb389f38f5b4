"""Patterns over rows: matrix products and softmax."""

from __future__ import annotations

import torch

from cortex_m.quantizer.match import Match, fake
from cortex_m.quantizer.patterns.pattern import CLAMPS, Output, Pattern, constants

aten = torch.ops.aten


def _softmax(match: Match) -> str | None:
    rank = fake(match.head).dim()
    if (dim := match.argument(1)) % rank != rank - 1:
        return f"softmax over dim {dim} of rank {rank}; only over the last dim"
    return None


PATTERNS = (
    Pattern(
        name="linear",
        heads=(aten.linear.default,),
        tails=CLAMPS,
        weighted=True,
        check=constants,
        limits="weight and bias constant",
    ),
    Pattern(
        name="softmax",
        heads=(aten.softmax.int, aten._softmax.default),
        output=Output.SOFTMAX,
        check=_softmax,
        limits="over the last dim",
    ),
)
