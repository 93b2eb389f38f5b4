"""The pattern of masks before a softmax; `cortex_m.quantizer.masks` brings all masks into this form."""

from __future__ import annotations

import torch
from torch.fx import Node

from cortex_m.quantizer.match import Match, fake
from cortex_m.quantizer.patterns.pattern import Output, Pattern

aten = torch.ops.aten

_SOFTMAX = (aten.softmax.int, aten._softmax.default)


def _mask(match: Match) -> str | None:
    node = match.head
    while len(node.users) == 1 and node.target is aten.masked_fill.Tensor:
        (node,) = node.users
    if node.target not in _SOFTMAX:
        return "a masked_fill with a tensor that no softmax reads; fill with a number"
    mask = match.argument(1)
    if not isinstance(mask, Node) or fake(mask).dtype != torch.bool:
        return "its mask is not a tensor of bool"
    return None


PATTERNS = (
    Pattern(
        name="mask",
        heads=(aten.masked_fill.Tensor,),
        output=Output.MASKED,
        check=_mask,
        limits="minus infinity (or a number up to -87) before a softmax: masked_fill, where, or a constant mask that is added; "
        "a mask that is computed is bool; a constant one leaves a value of each row open",
    ),
)


def masked_length(match: Match) -> int:
    """Over how many values the softmax behind the mask goes."""
    node = match.head
    while node.target is aten.masked_fill.Tensor:
        (node,) = node.users
    shape = fake(node).shape
    return shape[node.args[1]] if shape else 1
