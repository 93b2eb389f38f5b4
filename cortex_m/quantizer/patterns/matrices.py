"""Patterns over rows: matrix products and softmax."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch._ops import OpOverload
from torch.fx import Node

from cortex_m.quantizer.canonical_matrices import attention_refusal
from cortex_m.quantizer.decompose import LONGEST_LOG_SOFTMAX
from cortex_m.quantizer.match import Match, fake
from cortex_m.quantizer.patterns.pattern import CLAMPS, Output, Pattern, constants

aten = torch.ops.aten


# As docs/numerics.md says for softmax: of more values the sum of exponentials does not fit.
_LONGEST_ROW = 8191


def _softmax(match: Match) -> str | None:
    tensor = fake(match.head)
    if tensor.dim() == 0:
        return "a softmax of one number"
    if (length := tensor.shape[match.argument(1)]) > _LONGEST_ROW:
        return f"a softmax over {length} values; at most {_LONGEST_ROW}"
    return None


def _matmul(match: Match) -> str | None:
    ranks = [fake(node).dim() for node in match.activations() if fake(node) is not None]
    if min(ranks, default=2) < 2:
        return "a product of vectors"
    if len(runs := _batch_runs(match)) > 2:
        return f"its batch dims are broadcast in {len(runs)} different ways by turns; at most 2"
    return None


def _batch_runs(match: Match) -> list[tuple[bool, ...]]:
    """How the operands serve the batch dims of the output, neighbours of one kind taken together."""
    shape = fake(match.head).shape[:-2]
    runs: list[tuple[bool, ...]] = []
    for position, size in enumerate(shape):
        if size == 1:
            continue
        kind = []
        for node in match.activations():
            own = fake(node).shape[:-2]
            at = position - (len(shape) - len(own))
            kind.append(at >= 0 and own[at] == size)
        if not runs or runs[-1] != tuple(kind):
            runs.append(tuple(kind))
    return runs


PATTERNS = (
    Pattern(
        name="linear",
        heads=(aten.linear.default,),
        tails=CLAMPS,
        weighted=True,
        check=constants,
        limits="any rank; weight and bias constant (mm, matmul and addmm with a constant matrix too)",
    ),
    Pattern(
        name="matmul",
        heads=(aten.matmul.default,),
        tails=CLAMPS,
        activations=(0, 1),
        check=_matmul,
        limits="any rank and broadcasting, vectors too (mm, bmm, mv, dot, addmm, baddbmm, attention)",
    ),
    Pattern(
        name="softmax",
        heads=(aten.softmax.int, aten._softmax.default),
        output=Output.SOFTMAX,
        check=_softmax,
        limits=f"over any dim of up to {_LONGEST_ROW} values",
    ),
)

# Why a target that starts no pattern stays float.
REASONS: dict[OpOverload, Callable[[Node], str]] = {
    aten.scaled_dot_product_attention.default: lambda node: attention_refusal(node) or "its shapes are not known",
    **dict.fromkeys(
        (aten.log_softmax.int, aten._log_softmax.default),
        lambda node: (
            f"a log softmax over more than {LONGEST_LOG_SOFTMAX} values: int8 probabilities are too coarse for its normalizer; "
            "use softmax, or take the logarithm off the device"
        ),
    ),
    aten.einsum.default: lambda node: "einsum has no int8 pattern; write it as matmul",
}
