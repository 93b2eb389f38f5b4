"""Patterns that compute element by element."""

from __future__ import annotations

import torch

from cortex_m.quantizer.match import Match, fake
from cortex_m.quantizer.patterns.pattern import CLAMPS, Pattern, tail

aten = torch.ops.aten


def _add(match: Match) -> str | None:
    # `alpha` is keyword-only, so graph preparation cannot make it positional.
    if (alpha := match.head.kwargs.get("alpha", 1)) != 1:
        return f"alpha is {alpha}; only 1 is supported"
    shapes = [list(fake(node).shape) for node in match.activations() if fake(node) is not None]
    if any(shape != list(fake(match.head).shape) for shape in shapes):
        return f"its operands have the shapes {shapes[0]} and {shapes[-1]}; broadcasting is not supported"
    return None


def _activation(match: Match) -> str | None:
    return tail(match.head)


PATTERNS = (
    Pattern(
        name="add",
        heads=(aten.add.Tensor,),
        tails=CLAMPS,
        activations=(0, 1),
        check=_add,
        limits="two tensors of equal shape; alpha 1",
    ),
    Pattern(
        name="activation",
        heads=CLAMPS,
        needs_neighbour=True,
        check=_activation,
        limits="constant bounds; beside a quantized layer; where a layer before it cannot take it in",
    ),
)
