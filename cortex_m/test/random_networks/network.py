"""A network as a list of steps that can be run, printed as a script, and made smaller."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

_NAMES = {"torch": torch, "nn": nn, "F": F}


@dataclass(frozen=True)
class Step:
    """One value of a network.

    call: an expression of its operands, "torch.cat([{0}, {1}], 1)"; {layer} is the layer.
    operands: indices of values; the input is 0, the result of step i is i + 1.
    layer: which of the network's layers it calls; several steps may call one.
    """

    call: str
    operands: tuple[int, ...]
    layer: int | None = None

    def text(self, names: Sequence[str], layer: str = "") -> str:
        return self.call.format(*(names[operand] for operand in self.operands), layer=layer)


@dataclass(frozen=True)
class Network:
    """shape: of the input. layers: constructors, "nn.Conv2d(3, 8, 3)". outputs: indices of values; those nobody reads if None."""

    seed: int
    shape: tuple[int, ...]
    channels_last: bool
    layers: tuple[str, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...] | None = None

    def results(self) -> tuple[int, ...]:
        read = {operand for step in self.steps for operand in step.operands}
        return self.outputs or tuple(index for index in range(1, len(self.steps) + 1) if index not in read)

    def module(self) -> nn.Module:
        space: dict[str, Any] = dict(_NAMES)
        exec(compile(self.source(), f"<network {self.seed}>", "exec"), space)
        torch.manual_seed(self.seed)
        module = space["Network"]().eval()
        for part in module.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm):  # statistics as training leaves them
                part.running_mean.uniform_(-0.5, 0.5)
                part.running_var.uniform_(0.5, 1.5)
        return module

    def input(self, generator: torch.Generator) -> torch.Tensor:
        x = torch.rand(self.shape, generator=generator) * 4 - 2
        return x.contiguous(memory_format=torch.channels_last) if self.channels_last else x

    def source(self) -> str:
        """The class, as a person would write it."""
        names = ["x", *(f"y{index}" for index in range(1, len(self.steps) + 1))]
        used = sorted({step.layer for step in self.steps if step.layer is not None})
        lines = ["class Network(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        lines += [f"        self.layer{index} = {self.layers[index]}" for index in used]
        lines += ["", "    def forward(self, x):"]
        for name, step in zip(names[1:], self.steps):
            lines.append(f"        {name} = {step.text(names, f'self.layer{step.layer}')}")
        return "\n".join([*lines, f"        return {', '.join(names[index] for index in self.results())}", ""])

    def script(self) -> str:
        """A file for cortex_m_model or //tools:python that shows the fault again."""
        order = ".contiguous(memory_format=torch.channels_last)" if self.channels_last else ""
        return "\n".join(
            [
                "import torch", "import torch.nn.functional as F", "from torch import nn", "", "from cortex_m import ModelSource, export_model",
                "", "", self.source(), "",
                f"torch.manual_seed({self.seed})",
                "net = Network().eval()",
                f"samples = [((torch.rand({self.shape}) * 4 - 2){order},) for _ in range(16)]",
                "result = export_model(ModelSource(net, samples[0], calibration=samples))",
                'print(result.lowering_report, f"{result.sqnr_db:.1f} dB")',
                "",
            ]
        )  # fmt: skip

    def smaller(self) -> list[Network]:
        """Networks with fewer steps that may show the same: cut short, with one output, or without a step that keeps the shape."""
        found = []
        results = self.results()
        if len(results) > 1:
            found += [self._pruned(self.steps, (index,)) for index in results]
        found += [self._pruned(self.steps, (index,)) for index in range(1, len(self.steps)) if (index,) != results]
        for index, step in enumerate(self.steps, 1):
            found += [self._without(index, operand, results) for operand in step.operands if operand]
        return sorted((net for net in found if len(net.steps) < len(self.steps)), key=lambda net: len(net.steps))

    def _without(self, index: int, operand: int, results: tuple[int, ...]) -> Network:
        """The value `index` is the value `operand`; if their shapes differ, the network fails and nobody wants it."""

        def other(value: int) -> int:
            return operand if value == index else value

        steps = tuple(dataclasses.replace(step, operands=tuple(map(other, step.operands))) for step in self.steps)
        return self._pruned(steps, tuple(dict.fromkeys(map(other, results))))

    def _pruned(self, steps: Sequence[Step], outputs: tuple[int, ...]) -> Network:
        """Without the steps that no output needs."""
        needed = set(outputs)
        for index in range(len(steps), 0, -1):
            if index in needed:
                needed.update(steps[index - 1].operands)
        kept = [index for index in range(1, len(steps) + 1) if index in needed]
        place = {0: 0, **{index: position for position, index in enumerate(kept, 1)}}
        return dataclasses.replace(
            self,
            steps=tuple(
                dataclasses.replace(
                    steps[index - 1], operands=tuple(place[value] for value in steps[index - 1].operands)
                )
                for index in kept
            ),
            outputs=tuple(place[index] for index in outputs),
        )
