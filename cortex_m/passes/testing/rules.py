"""The registry of the exact oracle's rules: how an operator's result follows from stored integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_map

from cortex_m.passes.testing.values import Function, Record, Value


@dataclass(frozen=True)
class Call:
    """A call of an ATen operator with Values in the place of tensors."""

    op: torch._ops.OpOverload
    args: tuple
    kwargs: dict[str, Any]
    constant: bool
    record: Record

    def given(self) -> dict[str, Any]:
        """All arguments by the names in the schema, defaults too."""
        arguments = self.op._schema.arguments
        values = {argument.name: argument.default_value for argument in arguments if argument.has_default_value()}
        return values | dict(zip((argument.name for argument in arguments), self.args)) | self.kwargs

    def real(self) -> Any:
        """What PyTorch computes in float."""
        return self.on(lambda value: value.real)

    def on(self, part: Callable[[Value], Any]) -> Any:
        """The operator on a part of each Value."""
        args, kwargs = tree_map(lambda arg: part(arg) if isinstance(arg, Value) else arg, (self.args, self.kwargs))
        return self.op(*args, **kwargs)

    def plain(self) -> Value:
        return Value(self.real(), self.constant)


# A rule gives None where it does not apply. The first that applies counts.
Rule = Callable[[Call], Value | None]
RULES: dict[torch._ops.OpOverloadPacket, list[Rule]] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers the decorated rule for the ATen operators of these names, all overloads."""

    def add(function: Rule) -> Rule:
        for name in names:
            RULES.setdefault(getattr(torch.ops.aten, name), []).append(function)
        return function

    return add


def on_integers(op: Any, *tensors: Any, **arguments: Any) -> Any:
    """An operator of PyTorch on integers: in float64, where they and their sums are exact below 2^53."""
    given = [
        torch.from_numpy(t).to(torch.float64) if hasattr(t, "dtype") and not torch.is_tensor(t) else t for t in tensors
    ]
    result = op(*given, **arguments)
    assert float(result.abs().max()) < 2**53 if result.numel() else True
    return result.to(torch.int64).numpy()


def pointwise(call: Call, by_table: bool) -> Function | None:
    """The result as a function of the one stored tensor that the operands depend on; None if there is no such tensor."""
    origins: dict[int, Value] = {}
    shapes = set()

    def look(arg: Any) -> bool:
        if not isinstance(arg, Value):
            return True
        if arg.constant:
            return arg.real.numel() == 1
        found = _function(arg)
        if found is None:
            return False
        origins[id(found.origin)] = found.origin
        shapes.add(arg.real.shape)
        return True

    values = [arg for arg in (*call.args, *call.kwargs.values()) if isinstance(arg, Value)]
    if not all(look(value) for value in values) or len(origins) != 1 or len(shapes) != 1:
        return None
    (origin,) = origins.values()
    by_table = by_table or any(f is not None and f.by_table for f in map(_function, values))

    def apply(x: torch.Tensor) -> torch.Tensor:
        def part(value: Value) -> torch.Tensor:
            if value.constant:
                real = value.real.reshape(1)
                return real if real.dtype == torch.bool else real.to(torch.float64)
            found = _function(value)
            assert found is not None
            return found.apply(x)

        return call.on(part)

    return Function(origin, apply, by_table)


def _function(value: Value) -> Function | None:
    if value.stored is not None and value.params is not None:
        return Function(value, lambda x: x, False) if value.params.dtype == torch.int8 else None
    return value.function
