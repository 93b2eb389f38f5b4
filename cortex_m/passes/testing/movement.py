"""Exact rules of what moves data, or compares values of one scale: the integers move as PyTorch moves numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves, tree_map

from cortex_m.passes.testing.rules import Call, rule
from cortex_m.passes.testing.values import Params, Value, of_stored, quantized, quantized_float

# Positions of the operands that move; the first where nothing else is said.
_OPERANDS = {"where": (1, 2), "slice_scatter": (0, 1), "select_scatter": (0, 1), "index_put": (0, 2)}


_NAMES = """
    view _unsafe_view reshape flatten unflatten squeeze unsqueeze permute transpose t movedim swapaxes alias clone detach
    contiguous dropout to _to_copy lift_fresh_copy slice select narrow expand expand_as repeat tile repeat_interleave flip roll
    rot90 index_select index gather pixel_shuffle pixel_unshuffle channel_shuffle reflection_pad1d reflection_pad2d
    reflection_pad3d replication_pad1d replication_pad2d replication_pad3d diagonal unfold amax amin max min cat concat stack
    where slice_scatter select_scatter index_put split split_with_sizes unbind chunk tensor_split constant_pad_nd pad
    upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact2d
"""


@rule(*_NAMES.split())
def _move(call: Call) -> Value | None:
    name, real = call.op.overloadpacket.__name__, call.real()
    positions = _OPERANDS.get(name, (0,))
    moved = [leaf for position in positions for leaf in tree_leaves([call.args[position]])]
    if not all(isinstance(value, Value) and torch.is_tensor(value.real) for value in moved):
        return None
    if not any(value.stored is not None or value.quantize or value.function for value in moved):
        return None
    given = call.given()
    fills = name == "constant_pad_nd" or (name == "pad" and given["mode"] == "constant")
    fill = float(given["value"] or 0.0) if fills else None

    def on(parts: dict[int, np.ndarray], params: Params, index: int | None) -> np.ndarray:
        """The operator on integers in the place of the moved operands."""

        def part(value: Any) -> Any:
            if not isinstance(value, Value):
                return value
            if id(value) in parts:
                return torch.from_numpy(parts[id(value)]).to(torch.float64)
            return value.real

        args, kwargs = tree_map(part, (call.args, call.kwargs))
        if fill is not None:
            args = (
                (*args[:2], params.nearest(fill))
                if name == "constant_pad_nd"
                else (*args[:2], "constant", params.nearest(fill))
            )
            kwargs = {}
        result = call.op(*args, **kwargs)
        return (result if index is None else result[index]).to(torch.int64).numpy()

    def result(index: int | None) -> Value:
        own = real if index is None else real[index]
        if not own.is_floating_point():
            return Value(own)
        params = _common(moved)
        if params is not None:
            parts = {id(value): _integers(value, params) for value in moved}
            exact = fill is None or fill == (params.nearest(fill) - params.zero_point) * params.scale
            if exact and all(part is not None for part in parts.values()):
                return of_stored(on(parts, params, index), params)

        def quantize(params: Params, low: float, high: float) -> np.ndarray:
            return on({id(value): quantized(value, params, call.record, low, high) for value in moved}, params, index)

        return Value(own, quantize=quantize)

    if torch.is_tensor(real):
        return result(None)
    items = tuple(result(index) for index in range(len(real)))
    return Value(real, items=items)


def _common(moved: list[Value]) -> Params | None:
    found = {value.params for value in moved if not value.constant}
    return found.pop() if len(found) == 1 else None


def _integers(value: Value, params: Params) -> Any:
    """The stored integers of an operand; of a constant, if it has only values of these parameters."""
    if not value.constant:
        return value.stored
    stored = quantized_float(value.real, params)
    exact = of_stored(stored, params).real
    return stored if torch.equal(exact, value.real.to(torch.float32)) else None
