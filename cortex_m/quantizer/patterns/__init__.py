"""The pattern table: what is quantized, how, and the reason for each refusal.

One entry describes one layer: the ATen targets it may start with, the activations that may follow and are fused
into it, where its arguments are, what its output's scale is, and a check. The check gets a `Match` and returns
None, or one sentence that says why this node stays float. Annotation, the report and the documentation read this
table and nothing else; `pattern_table()` gives it as rows of text. Each family has a file with its rows and checks.

Limits that hold for every entry (`pattern.common`): float32 tensors of static shape.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch._ops import OpOverload
from torch.fx import Node

from cortex_m.quantizer.patterns import elementwise, masks, matrices, movement, windows
from cortex_m.quantizer.patterns.elementwise import TABLE, judge_table
from cortex_m.quantizer.patterns.pattern import CLAMPS, Output, Pattern, clamp_bounds, common, tail

__all__ = [
    "BATCH_NORMALIZED",
    "BY_HEAD",
    "CLAMPS",
    "PATTERNS",
    "TABLE",
    "TRAINING_PATTERNS",
    "Output",
    "Pattern",
    "clamp_bounds",
    "common",
    "judge_table",
    "pattern_table",
    "reason_without_pattern",
    "tail",
]

aten = torch.ops.aten

PATTERNS: tuple[Pattern, ...] = (
    *windows.PATTERNS,
    *matrices.PATTERNS,
    *masks.PATTERNS,
    *elementwise.PATTERNS,
    *movement.PATTERNS,
)

TRAINING_PATTERNS: tuple[Pattern, ...] = movement.TRAINING_PATTERNS

# Layers that take in the batch norm after them in training.
BATCH_NORMALIZED = (aten.conv2d.default, aten.conv_transpose2d.input, aten.linear.default)

BY_HEAD: dict[OpOverload, Pattern] = {head: pattern for pattern in PATTERNS for head in pattern.heads}


def reason_without_pattern(node: Node) -> str:
    """Why `node`, whose target starts no pattern, stays float."""
    if (reason := windows.REASONS.get(node.target) or matrices.REASONS.get(node.target)) is not None:
        return reason(node)
    if node.target is aten.batch_norm.default:
        return "a batch norm is folded only into the convolution or linear layer before it, or over images"
    if node.target in (aten.dropout.default, aten.feature_dropout.default, aten.alpha_dropout.default):
        return "dropout in training mode"
    return "no int8 pattern has this operator"


def pattern_table() -> Iterator[tuple[str, str, str, str, str, str]]:
    """(pattern, operators, fused activations, types of activations, output scale, limits) for each row, as text."""
    for pattern in PATTERNS:
        yield (
            pattern.name,
            ", ".join(str(head) for head in pattern.heads),
            ", ".join(str(tail) for tail in pattern.tails) or "-",
            ", ".join(str(dtype).removeprefix("torch.") for dtype in pattern.dtypes),
            pattern.output.value,
            pattern.limits,
        )
