"""Patterns that compute element by element."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch.fx import Node

from cortex_m.ops.pointwise import FUNCTIONS
from cortex_m.quantizer.match import Match, fake
from cortex_m.quantizer.patterns.pattern import CLAMPS, Output, Pattern, always, common, tail
from cortex_m.quantizer.tables import variables

aten = torch.ops.aten


COMPARISONS = (
    aten.gt.Tensor,
    aten.ge.Tensor,
    aten.lt.Tensor,
    aten.le.Tensor,
    aten.eq.Tensor,
    aten.ne.Tensor,
)


def _numbers(match: Match) -> str | None:
    """alpha of add and sub, keyword-only, so that graph preparation cannot make it positional; a finite real number."""
    alpha = match.head.kwargs.get("alpha", 1)
    if isinstance(alpha, (Node, complex)) or not math.isfinite(alpha):
        return f"alpha is {alpha}, not a finite real number"
    return None


def _table(match: Match) -> str | None:
    tensors = variables(match.head)
    if len(tensors) != 1:
        names = ", ".join(f"'{node.name}'" for node in match.head.all_input_nodes)
        return f"it is a function of more than one tensor ({names}); a table has one"
    (source,) = tensors
    if fake(source).shape != fake(match.head).shape:
        return f"it changes the shape {list(fake(source).shape)} to {list(fake(match.head).shape)}"
    return None


def judge_table(match: Match) -> str | None:
    """Why the part of a graph that `match` holds does not become a table; None if it does."""
    return common(replace(match, nodes=match.nodes[-1:]))


def _slopes(match: Match) -> str | None:
    slopes = match.argument(1)
    if not isinstance(slopes, Node) or slopes.op != "get_attr":
        return "the slopes are not a constant"
    return None


def _activation(match: Match) -> str | None:
    return tail(match.head)


TABLE = Pattern(
    name="table",
    # Those that are left out are operators of two tensors, too.
    heads=tuple(target for target in FUNCTIONS if target not in (aten.where.self, *COMPARISONS)),
    check=_table,
    limits="together a function of one tensor, element by element; operands besides it are constants of one element; also "
    "arithmetic with such a constant, and whatever chain or graph of these has one source",
)

PATTERNS = (
    Pattern(
        name="add",
        heads=(aten.add.Tensor, aten.sub.Tensor),
        tails=CLAMPS,
        activations=(0, 1),
        check=_numbers,
        limits="two tensors that broadcast; alpha finite",
    ),
    Pattern(
        name="mul",
        heads=(aten.mul.Tensor,),
        tails=CLAMPS,
        activations=(0, 1),
        check=always,
        limits="two tensors that broadcast",
    ),
    Pattern(
        name="div",
        heads=(aten.div.Tensor,),
        tails=CLAMPS,
        activations=(0, 1),
        check=always,
        limits="two tensors that broadcast; a division by zero gives zero",
        dtypes=(torch.int8, torch.int16),
    ),
    Pattern(
        name="extremum",
        heads=(aten.minimum.default, aten.maximum.default),
        activations=(0, 1),
        output=Output.SHARED,
        check=always,
        limits="two tensors that broadcast",
    ),
    Pattern(
        name="comparison",
        heads=COMPARISONS,
        activations=(0, 1),
        output=Output.NONE,
        needs_neighbour=True,
        check=always,
        limits="two tensors that broadcast, of one scale; beside a quantized layer",
    ),
    Pattern(
        name="prelu",
        heads=(aten.prelu.default,),
        check=_slopes,
        limits="constant slopes, one for each channel; one slope for all is a table",
    ),
    TABLE,
    Pattern(
        name="activation",
        heads=CLAMPS,
        needs_neighbour=True,
        check=_activation,
        limits="constant bounds; beside a quantized layer; where a layer before it cannot take it in",
    ),
)
