"""The pattern table: what is quantized, how, and the reason for each refusal.

One entry describes one layer: the ATen targets it may start with, the activations that may follow and are fused
into it, where its arguments are, what its output's scale is, and a check. The check gets a `Match` and returns
None, or one sentence that says why this node stays float. Annotation, the report and the documentation read this
table and nothing else; `pattern_table()` gives it as rows of text.

Limits that hold for every entry (`check_common`): float32 tensors of static shape.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch._ops import OpOverload
from torch.fx import Node

from cortex_m.quantizer import checks
from cortex_m.quantizer.match import Match

aten = torch.ops.aten


class Output(enum.Enum):
    """Whose scale and zero point the output of a pattern has."""

    OWN = "own"
    SHARED = "those of the input"
    SOFTMAX = "scale 1/256, zero point -128"


@dataclass(frozen=True)
class Pattern:
    """One row of the table.

    Args:
        name: how reports call it.
        heads: the ATen targets that start it.
        tails: targets that may follow as the only user of the head; they become the clamp of the same kernel.
        activations: positions of the head's arguments that are activations (a tensor or a list of tensors).
        weighted: argument 1 is a constant weight and argument 2 a constant bias or None.
        output: whose scale the output has.
        needs_neighbour: computes too little to be worth a quantize and a dequantize: int8 only beside other int8.
        check: returns the reason for a refusal, or None.
        limits: one line for people: what the check demands.
    """

    name: str
    heads: tuple[OpOverload, ...]
    check: Callable[[Match], str | None]
    limits: str
    tails: tuple[OpOverload, ...] = ()
    activations: tuple[int, ...] = (0,)
    weighted: bool = False
    output: Output = Output.OWN
    needs_neighbour: bool = False


# In-place forms are absent: graph preparation turns them into these.
CLAMPS = (aten.relu.default, aten.relu6.default, aten.hardtanh.default, aten.clamp.default)

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="conv2d",
        heads=(aten.conv2d.default,),
        tails=CLAMPS,
        weighted=True,
        check=checks.conv2d,
        limits="rank 4; weight and bias constant; batch norm folded before",
    ),
    Pattern(
        name="linear",
        heads=(aten.linear.default,),
        tails=CLAMPS,
        weighted=True,
        check=checks.linear,
        limits="weight and bias constant",
    ),
    Pattern(
        name="add",
        heads=(aten.add.Tensor,),
        tails=CLAMPS,
        activations=(0, 1),
        check=checks.add,
        limits="two tensors of equal shape; alpha 1",
    ),
    Pattern(
        name="mean",
        heads=(aten.mean.dim,),
        output=Output.SHARED,
        check=checks.mean,
        limits="over both spatial dims of a rank 4 tensor",
    ),
    Pattern(
        name="adaptive_avg_pool2d",
        heads=(aten.adaptive_avg_pool2d.default,),
        output=Output.SHARED,
        check=checks.adaptive_avg_pool2d,
        limits="output height and width divide those of the input",
    ),
    Pattern(
        name="avg_pool2d",
        heads=(aten.avg_pool2d.default,),
        output=Output.SHARED,
        check=checks.avg_pool2d,
        limits="no divisor_override; ceil_mode only where it changes nothing",
    ),
    Pattern(
        name="softmax",
        heads=(aten.softmax.int, aten._softmax.default),
        output=Output.SOFTMAX,
        check=checks.softmax,
        limits="over the last dim",
    ),
    Pattern(
        name="activation",
        heads=CLAMPS,
        needs_neighbour=True,
        check=checks.activation,
        limits="constant bounds; beside a quantized layer; where a layer before it cannot take it in",
    ),
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
        check=checks.always,
        limits="beside a quantized layer",
    ),
    Pattern(
        name="permute",
        heads=(aten.permute.default, aten.transpose.int, aten.t.default),
        output=Output.SHARED,
        needs_neighbour=True,
        check=checks.permute,
        limits="rank 1 to 4; beside a quantized layer",
    ),
    Pattern(
        name="copy",
        heads=(aten.clone.default, aten.contiguous.default, aten.alias.default, aten.detach.default),
        output=Output.SHARED,
        needs_neighbour=True,
        check=checks.always,
        limits="beside a quantized layer; most are removed before",
    ),
    Pattern(
        name="pad",
        heads=(aten.constant_pad_nd.default, aten.pad.default),
        output=Output.SHARED,
        needs_neighbour=True,
        check=checks.pad,
        limits="constant and finite value; rank 1 to 4; beside a quantized layer",
    ),
    Pattern(
        name="cat",
        heads=(aten.cat.default, aten.concat.default, aten.concatenate.default),
        output=Output.SHARED,
        needs_neighbour=True,
        check=checks.always,
        limits="beside a quantized layer",
    ),
)

BY_HEAD: dict[OpOverload, Pattern] = {head: pattern for pattern in PATTERNS for head in pattern.heads}


def reason_without_pattern(node: Node) -> str:
    """Why `node`, whose target starts no pattern, stays float."""
    if node.target is aten.batch_norm.default:
        return "a batch norm is folded only into the convolution or linear layer before it, or over images of rank 4"
    if node.target in (aten.dropout.default, aten.feature_dropout.default, aten.alpha_dropout.default):
        return "dropout in training mode"
    return "no int8 pattern has this operator"


def pattern_table() -> Iterator[tuple[str, str, str, str, str]]:
    """(pattern, operators, fused activations, output scale, limits) for each row, as text."""
    for pattern in PATTERNS:
        yield (
            pattern.name,
            ", ".join(str(head) for head in pattern.heads),
            ", ".join(str(tail) for tail in pattern.tails) or "-",
            pattern.output.value,
            pattern.limits,
        )
