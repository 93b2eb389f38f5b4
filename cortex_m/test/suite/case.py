"""One call of an operator with concrete arguments: what the suites are made of.

    Case("pad", "corner", (x, [0, 0, 1, 1], [0, 0, 2, 0], -5))

Families (convolution.py, linear.py, …) list cases and, for each operator, an oracle: the same computation written a second time,
from docs/numerics.md, in exact integer arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

import cortex_m.ops.operators  # noqa: F401  (registers torch.ops.cortex_m)
from cortex_m.target_config import Backend

# Where an output of this type cannot go further.
_RAILS = {torch.int8: (-128, 127), torch.int16: (-32768, 32767)}


@dataclass(frozen=True)
class Scratch:
    """Working memory that the kernel asks for: exactly as many bytes as its size function says."""

    size: Callable[[Backend], int]


@dataclass(frozen=True)
class Case:
    """A call.

    op: name in operators.yaml.
    name: says what is special about it; unique among the cases of the op.
    arguments: those of the schema in order; tensors lie in memory as their strides say.
    kind: "example" (chosen), "drawn" (by hypothesis) or "exhaustive" (all pairs or all values).
    orders: dim orders by argument name ("out" too) where strides of dimensions of size 1 leave them open.
    backends: instruction sets whose cores run the call, if not all; the others must refuse it. The host runs any.
    saturates: why most outputs are expected at a rail, for the few cases whose point that is.
    """

    op: str
    name: str
    arguments: tuple[Any, ...]
    kind: str = "example"
    orders: dict[str, tuple[int, ...]] = field(default_factory=dict)
    saturates: str | None = None
    backends: tuple[Backend, ...] = tuple(Backend)

    def __str__(self) -> str:
        return f"{self.op}: {self.name}"


def schema_of(op: str) -> torch._C.FunctionSchema:
    return getattr(torch.ops.cortex_m, op).default._schema


def named_arguments(case: Case) -> dict[str, Any]:
    names = [argument.name for argument in schema_of(case.op).arguments]
    return dict(zip(names, case.arguments, strict=True))


def reference(case: Case) -> torch.Tensor:
    """What the operator's reference in Python gives."""
    none = torch.empty(0, dtype=torch.uint8)
    arguments = [none if isinstance(value, Scratch) else value for value in case.arguments]
    return getattr(torch.ops.cortex_m, case.op)(*arguments)


def dim_order(tensor: torch.Tensor) -> tuple[int, ...]:
    """Dimensions by falling stride, equal strides in their order, as exir writes them."""
    return tuple(sorted(range(tensor.dim()), key=lambda dim: -tensor.stride(dim)))


def with_order(tensor: torch.Tensor, order: tuple[int, ...]) -> torch.Tensor:
    """The same logical tensor, its dimensions in that order in memory."""
    return tensor.permute(order).contiguous().permute([order.index(dim) for dim in range(len(order))])


def channels_last(tensor: torch.Tensor) -> torch.Tensor:
    """[N, C, H, W] in NHWC memory."""
    return with_order(tensor, (0, 2, 3, 1))


def int8(rng: np.random.Generator, shape: tuple[int, ...], low: int = -128, high: int = 127) -> torch.Tensor:
    return torch.from_numpy(rng.integers(low, high + 1, shape).astype(np.int8))


def int32(values: Any) -> torch.Tensor:
    return torch.tensor(np.asarray(values).tolist(), dtype=torch.int32)


def rail_share(expected: torch.Tensor, arguments: dict[str, Any]) -> float:
    """Share of the outputs that sit at the limits of the activation, or of the type if that is narrower. 0 for floats."""
    if expected.dtype not in _RAILS or expected.numel() == 0:
        return 0.0
    low, high = _RAILS[expected.dtype]
    low = max(low, arguments.get("activation_min", arguments.get("quant_min", low)))
    high = min(high, arguments.get("activation_max", arguments.get("quant_max", high)))
    return ((expected <= low) | (expected >= high)).double().mean().item()
