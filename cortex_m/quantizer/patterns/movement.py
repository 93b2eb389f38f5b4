"""Patterns that move data and compute nothing: input and output have one scale, and the same integers go in and out.

So have those that pick the largest or smallest value. Operators with several results are single ones by then (`decompose`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch._ops import OpOverload
from torch.fx import Node

from cortex_m.quantizer.match import Match
from cortex_m.quantizer.patterns.pattern import Output, Pattern, always

aten = torch.ops.aten


def _pad(match: Match) -> str | None:
    if match.head.target is aten.pad.default:
        mode, value = match.argument(2), match.argument(3)
    elif match.head.target is aten.constant_pad_nd.default:
        mode, value = "constant", match.argument(2)
    else:  # a reflection or a replication has no value
        return None
    if mode == "constant" and (isinstance(value, Node) or not math.isfinite(value or 0)):
        return f"padding with {value}; only with a finite constant"
    return None


def _index_put(match: Match) -> str | None:
    return (
        "it adds to what is there (accumulate): sums of int8 need a scale of their own" if match.argument(3) else None
    )


def _movement(
    name: str,
    *heads: OpOverload,
    limits: str = "beside a quantized layer",
    check: Callable[[Match], str | None] = always,
    activations: tuple[int, ...] = (0,),
) -> Pattern:
    return Pattern(
        name=name,
        heads=heads,
        output=Output.SHARED,
        needs_neighbour=True,
        check=check,
        limits=limits,
        activations=activations,
    )


PATTERNS = (
    _movement(
        "reshape",
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
    _movement(
        "permute",
        aten.permute.default,
        aten.transpose.int,
        aten.t.default,
        aten.numpy_T.default,
        aten.swapaxes.default,
        aten.swapdims.default,
        aten.movedim.int,
        aten.movedim.intlist,
        aten.moveaxis.int,
        aten.moveaxis.intlist,
    ),
    _movement(
        "copy",
        aten.clone.default,
        aten.contiguous.default,
        aten.alias.default,
        aten.detach.default,
        limits="beside a quantized layer; most are removed before",
    ),
    _movement(
        "pad",
        aten.constant_pad_nd.default,
        aten.pad.default,
        aten.reflection_pad1d.default,
        aten.reflection_pad2d.default,
        aten.reflection_pad3d.default,
        aten.replication_pad1d.default,
        aten.replication_pad2d.default,
        aten.replication_pad3d.default,
        check=_pad,
        limits="a constant is finite; beside a quantized layer",
    ),
    _movement("cat", aten.cat.default, aten.concat.default, aten.concatenate.default, aten.stack.default),
    _movement(
        "slice",
        aten.slice.Tensor,
        aten.select.int,
        aten.narrow.default,
        aten.diagonal.default,
        aten.unfold.default,
    ),
    _movement(
        "repeat",
        aten.expand.default,
        aten.repeat.default,
        aten.tile.default,
        aten.repeat_interleave.self_int,
    ),
    _movement(
        "flip", aten.flip.default, aten.fliplr.default, aten.flipud.default, aten.roll.default, aten.rot90.default
    ),
    _movement("index", aten.index_select.default, aten.index.Tensor, aten.gather.default),
    _movement("shuffle", aten.pixel_shuffle.default, aten.pixel_unshuffle.default, aten.channel_shuffle.default),
    _movement(
        "upsample_nearest",
        aten.upsample_nearest1d.vec,
        aten.upsample_nearest2d.vec,
        aten.upsample_nearest3d.vec,
        aten._upsample_nearest_exact1d.vec,
        aten._upsample_nearest_exact2d.vec,
        aten._upsample_nearest_exact3d.vec,
    ),
    _movement("extremum", aten.amax.default, aten.amin.default, aten.max.default, aten.min.default),
    _movement("where", aten.where.self, activations=(1, 2)),
    _movement(
        "index_put",
        aten.index_put.default,
        activations=(0, 2),
        limits="not accumulate; beside a quantized layer",
        check=_index_put,
    ),
    _movement("slice_scatter", aten.slice_scatter.default, aten.select_scatter.default, activations=(0, 1)),
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
