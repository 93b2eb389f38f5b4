"""One typical call of a name of torch, or the reason why it has none.

calls = Calls("Activations")
calls.add("nn.ELU", nn.ELU, signed(1, 4, 6, 6))
calls.add("F.conv2d", lambda: Function(F.conv2d, weight=torch.randn(4, 3, 3, 3)), signed(1, 3, 6, 6))
calls.add("nn.ReLU", nn.ReLU, signed(1, 4, 6, 6), behind=True)
calls.leave_out("a loss, which training alone computes", "nn.MSELoss")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

Maker = Callable[[torch.Generator], torch.Tensor]
Samples = list[tuple[torch.Tensor, ...]]

CALIBRATION = 16  # samples of a call; one more judges


class Function(nn.Module):
    """`function(*inputs, **tensors)`; the tensors are buffers, so constants of the program."""

    def __init__(self, function: Callable[..., Any], **tensors: torch.Tensor) -> None:
        super().__init__()
        self._function = function
        self._names = list(tensors)
        for name, tensor in tensors.items():
            self.register_buffer(f"constant_{name}", tensor)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self._function(*inputs, **{name: getattr(self, f"constant_{name}") for name in self._names})


class BehindTanh(nn.Module):
    """What follows an operator that is int8: `module` of the tanh of each float input."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.module(*(torch.tanh(value) if value.is_floating_point() else value for value in inputs))


def signed(*shape: int) -> Maker:
    return between(-2.0, 2.0, *shape)


def between(low: float, high: float, *shape: int) -> Maker:
    """Uniform numbers. A range that calibration sees whole, whatever the sample."""
    return lambda generator: torch.rand(shape, generator=generator) * (high - low) + low


def integers(high: int, *shape: int) -> Maker:
    return lambda generator: torch.randint(0, high, shape, generator=generator)


def booleans(*shape: int) -> Maker:
    return lambda generator: torch.randint(0, 2, shape, generator=generator).bool()


@dataclass(frozen=True)
class Call:
    """name: "nn.ReLU", "F.relu" or "aten.relu.default". make: the module, after a fixed seed. behind: see BehindTanh."""

    name: str
    make: Callable[[], nn.Module]
    inputs: tuple[Maker, ...]
    behind: bool = False

    def module(self) -> nn.Module:
        torch.manual_seed(0)
        module = self.make()
        return (BehindTanh(module) if self.behind else module).eval()

    def samples(self) -> Samples:
        generator = torch.Generator().manual_seed(1)
        return [tuple(make(generator) for make in self.inputs) for _ in range(CALIBRATION + 1)]


@dataclass
class Calls:
    """The calls of one section of the document, and the names that have none with the reason."""

    title: str
    behind: bool = False
    calls: list[Call] = field(default_factory=list)
    without: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, make: Callable[[], nn.Module], *inputs: Maker, behind: bool | None = None) -> None:
        self.calls.append(Call(name, make, inputs, self.behind if behind is None else behind))

    def function(self, name: str, function: Callable[..., Any], *inputs: Maker, behind: bool | None = None) -> None:
        """A call without constants."""
        self.add(name, lambda: Function(function), *inputs, behind=behind)

    def leave_out(self, reason: str, *names: str) -> None:
        self.without.update(dict.fromkeys(names, reason))
