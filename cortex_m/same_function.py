"""The guard of preparation: what is annotated must be the function that was handed in.

Before anything is quantized, the prepared graph, without its observers, runs on calibration samples beside the untouched
float module. Preparation rewrites the graph (batch norms folded, one form for each operator) and rounds nothing: the two differ
by the order of additions in float32 alone, 120 dB and more.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from cortex_m.errors import ModelError
from cortex_m.quantizer.aliasing import state
from cortex_m.quantizer.batch_norms import FOLDED
from cortex_m.quantizer.observers import ActivationObserver
from cortex_m.quantizer.report import source_location

Inputs = tuple[torch.Tensor, ...]

MIN_SQNR_DB = 60.0
MAX_SAMPLES = 4
# A value this small beside the inputs is no signal but what rounding leaves of zero.
_NOTHING = 1e-4


class Guard:
    """Made of a captured graph before `prepare_pt2e` changes it."""

    def __init__(self, captured: GraphModule) -> None:
        self._captured = GraphModule(captured, copy.deepcopy(captured.graph))

    def require_same(
        self, prepared: GraphModule, run_float: Callable[[Inputs], list[torch.Tensor]], samples: Sequence[Inputs]
    ) -> None:
        """Compares the results on the first samples, each from the initial state.

        run_float: the results of the float module, in order. Raises ModelError, with the first node where the two part
        and its source line, if a result has less than MIN_SQNR_DB.
        """
        graph = without_observers(prepared)
        for sample in samples[:MAX_SAMPLES]:
            expected, given = run_float(sample), _results(graph, sample)
            sizes = [float(value.abs().max()) for value in sample if value.is_floating_point()]
            found = [_sqnr_db(e, g, max(sizes, default=1.0)) for e, g in zip(expected, given, strict=True)]
            exact = all(e.is_floating_point() or torch.equal(e, g) for e, g in zip(expected, given))
            if exact and min(found) >= MIN_SQNR_DB:
                continue
            node = self._first_difference(graph, sample, max(sizes, default=1.0))
            if node is None and min(found) >= MIN_SQNR_DB:
                continue  # integers of a decision between equals
            place = "its result" if node is None else f"{node.name} ({node.target}), {source_location(node)}"
            raise ModelError(
                f"the prepared graph is not the function of the module: {min(found):.1f} dB between their results, first "
                f"apart at {place}. This is a fault of cortex_m, please report it."
            )

    def _first_difference(self, graph: GraphModule, sample: Inputs, size: float) -> Node | None:
        before, after = _values(self._captured, sample), _values(graph, sample)
        by_name = {node.name: value for node, value in before.items()}
        for node, value in after.items():
            # A layer that has taken norms in gives what the last of them gave.
            expected = by_name.get(node.meta.get(FOLDED, (node.name,))[-1])
            if expected is None or expected.shape != value.shape or node.op in ("get_attr", "placeholder"):
                continue
            if _sqnr_db(expected, value, size) < MIN_SQNR_DB:
                return node
        return None


def require_finite(prepared: GraphModule, sample: Inputs, what: str) -> None:
    """After a calibration sample, `what`: ModelError with the operator that made NaN or infinity of it, if one did."""
    if all(module.has_numbers for module in prepared.modules() if isinstance(module, ActivationObserver)):
        return
    for node, value in _values(without_observers(prepared), sample).items():
        if node.op == "call_function" and not bool(value.isfinite().all()):
            bad = "NaN" if bool(value.isnan().any()) else "infinity"
            raise ModelError(
                f"{source_location(node)}: {node.name} ({node.target}) gives {bad} on {what}, and no range of int8 has it"
            )


def without_observers(prepared: GraphModule) -> GraphModule:
    """The same graph without its module calls, each of which gives what it gets."""
    graph = copy.deepcopy(prepared.graph)
    for node in list(graph.nodes):
        if node.op == "call_module":
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(prepared, graph)


def _sqnr_db(expected: torch.Tensor, given: torch.Tensor, size: float) -> float:
    """inf for equal values, NaN and infinity included."""
    if not expected.is_floating_point() or not expected.numel():
        return math.inf
    same = (expected == given) | (expected.isnan() & given.isnan())
    if bool(same.all()):
        return math.inf
    expected, given = expected.double(), given.double()
    noise = float(torch.where(same, 0.0, expected - given).square().sum())
    finite = torch.where(expected.isfinite(), expected, 0.0)
    signal = max(float(finite.square().sum()), expected.numel() * (_NOTHING * size) ** 2)
    return 10 * math.log10(signal / noise) if math.isfinite(noise) else -math.inf


def _results(graph: GraphModule, sample: Inputs) -> list[torch.Tensor]:
    with torch.no_grad():
        results = _fresh(graph)(*_copies(sample))
    return list(results) if isinstance(results, (tuple, list)) else [results]


def _values(graph: GraphModule, sample: Inputs) -> dict[Node, torch.Tensor]:
    """The float tensors of all nodes on one sample, in graph order."""
    graph = _fresh(graph)
    recorder = _Recorder(graph)
    with torch.no_grad():
        recorder.run(*_copies(sample))
    return recorder.values


def _fresh(graph: GraphModule) -> GraphModule:
    """One whose state, if the graph changes any, is not that of the next run."""
    return copy.deepcopy(graph) if state(graph) else graph


def _copies(sample: Inputs) -> Inputs:
    return tuple(value.clone(memory_format=torch.preserve_format) for value in sample)


class _Recorder(Interpreter):
    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.values: dict[Node, torch.Tensor] = {}

    def run_node(self, node: Node) -> Any:
        value = super().run_node(node)
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            self.values[node] = value.clone()
        return value
