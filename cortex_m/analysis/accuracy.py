"""How far each layer's int8 result is from the float model's: signal to quantization noise, layer by layer.

    reference = FloatReference(prepared)                 # before convert_pt2e changes graph and weights
    ...                                                  # convert, lower, serialise
    accuracy = Accuracy(report.instructions, reference, tuner.channel_factors)
    for sample in samples:
        ReferenceProgram(program).run(sample, accuracy.begin(sample))
    print(accuracy.layers()[0])                          # the worst one

An instruction's output is compared with the value of the float model that it stands for (cortex_m/passes/model_value.py),
element by element, in real numbers: SQNR = 10 log10(sum of float^2 / sum of (float - int8)^2) over all samples.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter

from cortex_m.host.interpreter import Call
from cortex_m.passes.report import Instruction
from cortex_m.quantizer.state import initial_state, reset_state

_TO_NHWC = (0, 2, 3, 1)
MAX_SAMPLES = 4
# What an export may spend on samples after the first, in multiply-accumulates of the reference operators together.
MAX_MACS = 50_000_000


@dataclasses.dataclass(frozen=True)
class LayerAccuracy:
    """sqnr_db: inf if int8 is exact, -inf if the float value is all zeros and int8 is not.

    max_error: largest absolute difference, in real numbers.
    max_steps: the same in steps of the int8 tensor's scale; None for a float tensor.
    """

    index: int
    op: str
    module: str
    value: str  # node of the float graph
    sqnr_db: float
    max_error: float
    max_steps: float | None

    def __str__(self) -> str:
        return f"{self.index:4}  {self.sqnr_db:7.2f} dB  {self.op}  {self.module or self.value}"


class FloatReference:
    """The float graph that the quantizer prepared, with weights and state as they are at construction and no observers."""

    def __init__(self, prepared: GraphModule) -> None:
        self._graph = copy.deepcopy(prepared.graph)
        for node in list(self._graph.nodes):
            if node.op == "call_module":  # an observer gives what it gets
                node.replace_all_uses_with(node.args[0])
                self._graph.erase_node(node)
        self._module = torch.nn.Module()
        names: dict[str, str] = {}
        for node in self._graph.nodes:
            if node.op == "get_attr":
                if node.target not in names:
                    names[node.target] = f"constant_{len(names)}"
                    self._module.register_buffer(names[node.target], _attribute(prepared, node.target).detach().clone())
                node.target = names[node.target]
        self._state = initial_state(GraphModule(self._module, self._graph))

    def values(self, inputs: Sequence[torch.Tensor], wanted: set[str]) -> dict[str, torch.Tensor]:
        """The values of the nodes named in `wanted`, as far as there are any, in a first call on one sample."""
        reset_state(self._module, self._state)
        recorder = _Recorder(GraphModule(self._module, self._graph), wanted)
        with torch.no_grad():
            recorder.run(*inputs)
        return recorder.values


class _Recorder(Interpreter):
    def __init__(self, module: GraphModule, wanted: set[str]) -> None:
        super().__init__(module)
        self._wanted = wanted
        self.values: dict[str, torch.Tensor] = {}

    def run_node(self, node: torch.fx.Node) -> Any:
        value = super().run_node(node)
        if node.name in self._wanted and isinstance(value, torch.Tensor):
            self.values[node.name] = value.clone()
        return value


@dataclasses.dataclass
class _Sum:
    signal: float = 0.0
    noise: float = 0.0
    max_error: float = 0.0
    max_steps: float = 0.0

    @property
    def sqnr_db(self) -> float:
        if self.noise == 0.0:
            return math.inf
        return 10 * math.log10(self.signal / self.noise) if self.signal > 0.0 else -math.inf


class Accuracy:
    """Sums up over samples; `layers()` at any time.

    samples: how many there were. channel_factors: what equalization has multiplied the channels (dimension 1) of a value by, by node.
    """

    def __init__(
        self, instructions: Sequence[Instruction], reference: FloatReference, channel_factors: dict[str, torch.Tensor]
    ) -> None:
        self.samples = 0
        self._stands_for = {each.index: (each, each.value) for each in instructions if each.value}
        self._reference = reference
        self.channel_factors = channel_factors
        self._sums: dict[int, _Sum] = {}

    def begin(self, sample: Sequence[torch.Tensor]) -> Callable[[Call], None]:
        """Runs the float model on a sample; returns the callback for the program's run on the same."""
        values = self._reference.values(sample, {value.node for _, value in self._stands_for.values()})
        self.samples += 1
        return lambda call: self._compare(call, values)

    def _compare(self, call: Call, values: dict[str, torch.Tensor]) -> None:
        if call.index not in self._stands_for or len(call.outputs) != 1:
            return
        instruction, value = self._stands_for[call.index]
        real = values.get(value.node)
        if real is None or not real.is_floating_point() or not call.op.startswith(instruction.op):
            return
        given = call.outputs[0].double()
        if value.scale is not None:
            given = (given - value.zero_point) * value.scale
        factor = self.channel_factors.get(value.node, torch.ones(1)).double().view(1, -1, *[1] * max(real.dim() - 2, 0))
        errors = [real.double() - form / factor for form in _arranged(given, real)]
        if not errors:
            return
        # Of the orders that fit the shape, the tensor is in the one that fits the values.
        error = min(errors, key=lambda difference: float(difference.square().sum()))
        total = self._sums.setdefault(call.index, _Sum())
        total.signal += float(real.double().square().sum())
        total.noise += float(error.square().sum())
        if error.numel():
            total.max_error = max(total.max_error, float(error.abs().max()))
            total.max_steps = max(total.max_steps, float((error * factor).abs().max()) / (value.scale or 1.0))

    def __str__(self) -> str:
        more = f" and {self.samples - 1} of calibration" if self.samples > 1 else ""
        rows = "\n".join(map(str, self.layers()))
        return f"Accuracy of the layers, float against int8, worst first, on the example inputs{more}:\n{rows}"

    def to_json(self) -> dict[str, Any]:
        rows = [dataclasses.asdict(layer) for layer in self.layers()]
        for row in rows:  # JSON has no infinity: null is a layer that is exact
            row["sqnr_db"] = None if math.isinf(row["sqnr_db"]) else round(row["sqnr_db"], 3)
        return {"samples": self.samples, "layers": rows}

    def layers(self) -> list[LayerAccuracy]:
        """Worst first; where equal, in the order of execution."""
        found = []
        for index, total in self._sums.items():
            i, value = self._stands_for[index]
            steps = total.max_steps if value.scale is not None else None
            found.append(LayerAccuracy(index, i.op, i.module, value.node, total.sqnr_db, total.max_error, steps))
        return sorted(found, key=lambda layer: (layer.sqnr_db, layer.index))


def _arranged(given: torch.Tensor, real: torch.Tensor) -> list[torch.Tensor]:
    """`given` in the order of `real`, for each order that its shape allows."""
    forms = []
    if given.shape == real.shape:
        forms.append(given)
    if real.dim() == 4 and given.shape == real.permute(_TO_NHWC).shape:
        forms.append(given.permute(0, 3, 1, 2))
    if not forms and given.numel() == real.numel():  # a dimension of size 1 more or less
        forms.append(given.reshape(real.shape))
        if given.dim() == 4:
            forms.append(given.permute(0, 3, 1, 2).reshape(real.shape))
    return forms


def _attribute(module: torch.nn.Module, name: str) -> torch.Tensor:
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part)
    return value
