"""What each instruction of a .pte does: operator, tensors, multiply-accumulates, constants, scratch, kernels.

    facts = ProgramFacts.of(Path("model.pte").read_bytes())
    for layer in facts.layers:
        print(layer.index, layer.op, layer.output.shape, layer.macs)

Reads programs of this exporter and of others. The bytes are taken for a valid program: whoever got them from outside asks
//cortex_m/runtime:program_info first, which verifies what the device verifies.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import torch
from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary

import cortex_m.ops.operators  # noqa: F401  (registers torch.ops.cortex_m)
from cortex_m.analysis.kernels import kernel_of
from cortex_m.analysis.macs import multiply_accumulates
from cortex_m.host.library import KernelSet
from cortex_m.ops.codegen import is_scratch
from cortex_m.seal import target_of, unsealed
from cortex_m.target_config import CortexMTargetConfig

_CONTROL = {
    schema.MoveCall: "move",
    schema.JumpFalseCall: "jump_false",
    schema.FreeCall: "free",
    schema.DelegateCall: "delegate",
}
_SIZES = {
    "BYTE": 1,
    "CHAR": 1,
    "BOOL": 1,
    "SHORT": 2,
    "HALF": 2,
    "BFLOAT16": 2,
    "INT": 4,
    "FLOAT": 4,
    "LONG": 8,
    "DOUBLE": 8,
}
_NAMES = {
    "BYTE": "uint8", "CHAR": "int8", "SHORT": "int16", "INT": "int32", "LONG": "int64",
    "HALF": "float16", "FLOAT": "float32", "DOUBLE": "float64",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class TensorFacts:
    """value: index in the program. role: name of the argument it is. is_constant: its bytes lie in the program."""

    value: int
    role: str
    shape: tuple[int, ...]
    dtype: str  # "int8"
    dim_order: tuple[int, ...]
    bytes: int
    is_constant: bool

    def __str__(self) -> str:
        return f"{self.dtype} {'x'.join(map(str, self.shape)) or 'scalar'}"


@dataclasses.dataclass(frozen=True)
class Layer:
    """One instruction.

    op: "cortex_m::quantized_add", or "move", "jump_false", "free", "delegate".
    inputs: tensors that are computed while the program runs; constants: those that lie in it; scratch: working memory.
    macs: multiply-accumulates (cortex_m/analysis/macs.py); None for a portable operator that nobody has counted.
    kernels: for the operators that have a choice, the one that a core takes whose kernels are "mve", "dsp", "thumb2" or "scalar".
    source: where in the user's code, as far as the program says.
    """

    index: int
    op: str
    inputs: tuple[TensorFacts, ...] = ()
    outputs: tuple[TensorFacts, ...] = ()
    constants: tuple[TensorFacts, ...] = ()
    scratch: tuple[TensorFacts, ...] = ()
    macs: int | None = None
    kernels: dict[str, str] = dataclasses.field(default_factory=dict)
    source: str = ""

    @property
    def constant_bytes(self) -> int:
        return sum(tensor.bytes for tensor in self.constants)

    @property
    def scratch_bytes(self) -> int:
        return sum(tensor.bytes for tensor in self.scratch)

    @property
    def is_portable(self) -> bool:
        return "::" in self.op and not self.op.startswith("cortex_m::")


@dataclasses.dataclass(frozen=True)
class ProgramFacts:
    """One method of a program.

    target: what it was exported for, None if it does not say (then another exporter made it, or an older one).
    arena_bytes: planned memory. constant_bytes: of all tensors in the program, each counted once.
    methods: names of all.
    """

    file_bytes: int
    target: str | None
    methods: tuple[str, ...]
    method: str
    arena_bytes: int
    constant_bytes: int
    inputs: tuple[TensorFacts, ...]
    outputs: tuple[TensorFacts, ...]
    layers: tuple[Layer, ...]

    @classmethod
    def of(cls, program: bytes, method: str | None = None) -> ProgramFacts:
        """method: the first one if None. Raises ValueError for a seal that does not fit, or a method that is not there."""
        target: CortexMTargetConfig | None = target_of(program)
        plans = deserialize_pte_binary(unsealed(program)).program.execution_plan
        names = tuple(plan.name for plan in plans)
        plan = next((plan for plan in plans if method in (None, plan.name)), None)
        if plan is None:
            raise ValueError(f"the program has no method {method}; it has {', '.join(names)}")
        reader = _Reader(plan)
        layers = tuple(reader.layers())
        constants = {tensor.value: tensor.bytes for layer in layers for tensor in layer.constants}
        return cls(
            file_bytes=len(program),
            target=target.target_string if target is not None else None,
            methods=names,
            method=plan.name,
            arena_bytes=sum(int(size) for size in plan.non_const_buffer_sizes),
            constant_bytes=sum(constants.values()),
            inputs=tuple(reader.tensors(plan.inputs, "input")),
            outputs=tuple(reader.tensors(plan.outputs, "output")),
            layers=layers,
        )

    @property
    def macs(self) -> int:
        return sum(layer.macs or 0 for layer in self.layers)

    def to_json(self) -> dict[str, Any]:
        found = dataclasses.asdict(self)
        for row, layer in zip(found["layers"], self.layers):
            row["constant_bytes"], row["scratch_bytes"] = layer.constant_bytes, layer.scratch_bytes
        return found


class _Reader:
    def __init__(self, plan: schema.ExecutionPlan) -> None:
        self._plan = plan

    def layers(self) -> list[Layer]:
        found: list[Layer] = []
        for chain in self._plan.chains:
            traces = chain.stacktrace or []
            for position, instruction in enumerate(chain.instructions):
                source = _source(traces[position]) if position < len(traces) else ""
                found.append(self._layer(len(found), instruction.instr_args, source))
        return found

    def tensors(self, values: list[int], role: str) -> list[TensorFacts]:
        """Those of `values` that are tensors, lists of tensors included."""
        found: list[TensorFacts] = []
        for value in values:
            content = self._plan.values[value].val if value >= 0 else None
            if isinstance(content, (schema.TensorList, schema.OptionalTensorList)):
                found += self.tensors(list(content.items), role)
            elif isinstance(content, schema.Tensor):
                kind = content.scalar_type.name
                nbytes = math.prod(content.sizes) * _SIZES.get(kind, 1)
                constant = content.data_buffer_idx > 0 and content.allocation_info is None
                found.append(
                    TensorFacts(
                        value,
                        role,
                        tuple(content.sizes),
                        _NAMES.get(kind, kind.lower()),
                        tuple(content.dim_order),
                        nbytes,
                        constant,
                    )
                )
        return found

    def _layer(self, index: int, call: Any, source: str) -> Layer:
        if not isinstance(call, schema.KernelCall):
            return Layer(index, _CONTROL.get(type(call), type(call).__name__), source=source)
        operator = self._plan.operators[call.op_index]
        arguments = _arguments(operator)
        returned = set(call.args[len(arguments) :]) if arguments else set(call.args[-1:])
        inputs: list[TensorFacts] = []
        constants: list[TensorFacts] = []
        scratch: list[TensorFacts] = []
        outputs: list[TensorFacts] = []
        numbers: dict[str, Any] = {}
        for position, value in enumerate(call.args[: len(arguments)] if arguments else call.args[:-1]):
            name, is_out = arguments[position] if arguments else (f"argument {position}", value in returned)
            tensors = self.tensors([value], name)
            if is_out:
                outputs += tensors
            elif is_scratch(name):
                scratch += tensors
            else:
                constants += [tensor for tensor in tensors if tensor.is_constant]
                inputs += [tensor for tensor in tensors if not tensor.is_constant]
            if not tensors:
                numbers[name] = self._number(value)
        if not outputs:
            outputs = self.tensors(list(call.args[-1:]), "out")
        groups = tuple(inputs), tuple(outputs), tuple(constants), tuple(scratch)
        layer = Layer(index, operator.name, *groups, source=source)
        kernels = {kernels.name.lower(): kernel_of(layer, numbers, kernels) for kernels in KernelSet}
        return dataclasses.replace(
            layer,
            macs=multiply_accumulates(layer, numbers),
            kernels={isa: name for isa, name in kernels.items() if name},
        )

    def _number(self, value: int) -> Any:
        content = self._plan.values[value].val
        if isinstance(content, schema.IntList):
            return [self._number(item) for item in content.items]
        for kind, field in ((schema.Int, "int_val"), (schema.Bool, "bool_val"), (schema.Double, "double_val")):
            if isinstance(content, kind):
                return getattr(content, field)
        return None


def _arguments(operator: schema.Operator) -> list[tuple[str, bool]]:
    """(name, whether it is written) of the operator's arguments; empty for one that is not known here."""
    namespace, _, name = operator.name.partition("::")
    try:
        overload = getattr(getattr(getattr(torch.ops, namespace), name), operator.overload or "default")
    except AttributeError:
        return []
    return [(argument.name, argument.is_out) for argument in overload._schema.arguments]


def _source(trace: Any) -> str:
    frames = trace.items if trace is not None else []
    return f"{frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno}" if frames else ""
