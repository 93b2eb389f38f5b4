"""The sections of the catalogue, in the order of the document."""

from __future__ import annotations

from cortex_m.test.catalogue import elementwise, layers, movement, reductions
from cortex_m.test.catalogue.case import Calls

SECTIONS: tuple[Calls, ...] = (
    layers.convolutions,
    layers.linear,
    layers.norms,
    layers.pools,
    elementwise.activations,
    layers.softmax,
    elementwise.unary,
    elementwise.binary,
    movement.shapes,
    movement.padding,
    movement.resizing,
    movement.indexing,
    movement.making,
    reductions.reductions,
    layers.recurrent,
    layers.attention,
    layers.dropout,
    reductions.others,
)
