"""The quantizer's report: what became int8, and for each other operator why not, with its source line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch.fx import Node

if TYPE_CHECKING:
    from cortex_m.quantizer.tuning.tuner import Tuner

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_LIBRARY = re.compile(r"[\\/](torch|torchao|executorch)[\\/]")


def source_location(node: Node) -> str:
    """`file:line` of the innermost frame of the user's own code that made the node.

    Where export kept none, as for the layers of an nn.Sequential: the layer, "2 (nn.Linear)", or '?'.
    """
    frames = [
        (file, line)
        for file, line in _FRAME.findall(node.meta.get("stack_trace") or "")
        if not file.startswith("<") and not ("site-packages" in file and _LIBRARY.search(file))
    ]
    if frames:
        return ":".join(frames[-1])
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack:
        return "?"
    path, kind = stack[-1]
    name = str(getattr(kind, "__qualname__", kind)).rsplit(".", 1)[-1]
    return f"{path} (nn.{name})".strip() if hasattr(torch.nn, name) else "?"


@dataclass(frozen=True)
class QuantizedLayer:
    """One match: the pattern's name, its nodes and where they come from."""

    pattern: str
    nodes: tuple[str, ...]
    location: str


@dataclass(frozen=True)
class FloatNode:
    """One operator that stays float."""

    name: str
    target: str
    reason: str
    location: str


@dataclass(frozen=True)
class RemovedNode:
    """One operator that left the graph because it changes nothing."""

    name: str
    target: str
    location: str


@dataclass
class QuantizerReport:
    """Everything the quantizer decided about one model; `str()` is the text for people."""

    quantized: list[QuantizedLayer] = field(default_factory=list)
    float_nodes: list[FloatNode] = field(default_factory=list)
    removed: list[RemovedNode] = field(default_factory=list)
    tuner: Tuner | None = None
    of_samples: list[str] = field(
        default_factory=list
    )  # what the samples that were handed in cannot tell, a sentence each

    @property
    def warnings(self) -> list[str]:
        """What makes the int8 model inaccurate, a sentence each; ranges that are too narrow only after conversion."""
        return self.of_samples + [
            str(narrow) for narrow in (self.tuner.narrow_ranges if self.tuner is not None else [])
        ]

    def __str__(self) -> str:
        counts: dict[str, int] = {}
        for layer in self.quantized:
            counts[layer.pattern] = counts.get(layer.pattern, 0) + 1
        lines = [f"Warning: {warning}" for warning in self.warnings]
        lines += [f"Quantized to int8: {len(self.quantized)} layers"]
        lines += [f"  {count:4d} x {name}" for name, count in counts.items()]
        if self.removed:
            names = ", ".join(f"{node.name} ({node.location})" for node in self.removed)
            lines.append(f"Removed, as they change nothing: {names}")
        lines.append(f"Left in float: {len(self.float_nodes)} operators")
        lines += [f"  {node.location}: {node.name} ({node.target}): {node.reason}" for node in self.float_nodes]
        if self.tuner is not None:
            lines.append(f"Accuracy: {self.tuner.summary}")
        return "\n".join(lines)

    def causes(self) -> dict[str, list[str]]:
        """By source line, "net.py:12": what stayed float there, and why; tuples taken apart are no cause."""
        found: dict[str, list[str]] = {}
        for node in self.float_nodes:
            if node.target.startswith("aten."):
                place = node.location.rsplit("/", 1)[-1]
                found.setdefault(place, []).append(f"{node.name} ({node.target}): {node.reason}")
        return found

    def details(self) -> str:
        """One line a quantized layer."""
        return "\n".join(f"{x.pattern:20s} {' + '.join(x.nodes):40s} {x.location}" for x in self.quantized)
