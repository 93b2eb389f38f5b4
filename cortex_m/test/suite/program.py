"""A case as a .pte with one call, whose memory is watched byte for byte.

The whole arena is the program's first input and its first output: a pattern that the device gets and gives back. Inputs, scratch
and out lie in it with a guard of at least GUARD bytes before and after each. So after the run every byte is known:
inputs and guards as they were, the out tensor as expected, and only the scratch may hold anything.

With `apart`, each tensor is a memory of its own instead, constants too, and the program has ordinary inputs and an
output: for a runner that finds accesses outside of a memory by itself (AddressSanitizer).

With `over`, out lies where that argument lies: operators that may work in place must give the same result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from executorch.exir import schema
from executorch.exir._serialize._program import PTEFile, serialize_pte_binary

from cortex_m.ops.operators import IN_PLACE
from cortex_m.target_config import Backend
from cortex_m.test.suite.case import Case, Scratch, dim_order, named_arguments, schema_of

GUARD = 32
_ALIGNMENT = 16
_SCALAR_TYPES = {
    torch.uint8: schema.ScalarType.BYTE,
    torch.int8: schema.ScalarType.CHAR,
    torch.int16: schema.ScalarType.SHORT,
    torch.int32: schema.ScalarType.INT,
    torch.int64: schema.ScalarType.LONG,
    torch.float32: schema.ScalarType.FLOAT,
}
# Constants of a model. All other tensors are planned.
CONSTANTS = ("packed", "weight", "weights", "bias", "kernel_sum", "requantize_multipliers", "requantize_shifts", "lut")


@dataclass(frozen=True)
class Out:
    """What the out tensor is declared as."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    order: tuple[int, ...]


@dataclass(frozen=True)
class Region:
    """A tensor's bytes in the arena."""

    name: str
    begin: int
    end: int


@dataclass(frozen=True)
class OpProgram:
    """inputs: bytes to run it with. regions: where tensors lie, "scratch" and "out" among them; empty if `apart`."""

    program: bytes
    inputs: tuple[bytes, ...]
    regions: tuple[Region, ...]


def bytes_in_order(tensor: torch.Tensor, order: tuple[int, ...]) -> bytes:
    return tensor.permute(order).contiguous().numpy().tobytes()


def pattern(size: int) -> np.ndarray:
    """Bytes that do not repeat within a guard and are not those that a kernel is likely to write."""
    index = np.arange(size, dtype=np.uint32)
    return ((index * np.uint32(2654435761) >> np.uint32(13)) & np.uint32(255)).astype(np.uint8)


def in_place_arguments(case: Case, out: Out) -> list[str]:
    """Arguments that `out` may be written over, and could be: of its shape, type and dim order."""
    arguments = named_arguments(case)
    return [
        name
        for name in IN_PLACE.get(case.op, ())
        if Out(tuple(arguments[name].shape), arguments[name].dtype, _order(case, name, arguments[name])) == out
    ]


def _order(case: Case, name: str, value: torch.Tensor) -> tuple[int, ...]:
    return case.orders.get(name, dim_order(value))


def program_of(case: Case, backend: Backend, out: Out, apart: bool = False, over: str | None = None) -> OpProgram:
    """The program of a case for cores with that instruction set."""
    maker = ProgramMaker(apart)
    types = {argument.name: str(argument.real_type) for argument in schema_of(case.op).arguments}
    arguments = []
    for name, value in named_arguments(case).items():
        if isinstance(value, torch.Tensor):
            arguments.append(maker.tensor(name, value, _order(case, name, value), constant=name in CONSTANTS))
        elif isinstance(value, Scratch):
            arguments.append(maker.uninitialised(name, Out((value.size(backend),), torch.uint8, (0,))))
        else:
            arguments.append(maker.value(value, types[name]))
    out_value = maker.uninitialised("out", out) if over is None else maker.over(over, "out", out)
    return maker.finish(f"cortex_m::{case.op}", [*arguments, out_value, out_value])


class ProgramMaker:
    """Collects the arguments of one call, each a value index, and makes the program of it."""

    def __init__(self, apart: bool) -> None:
        self._apart = apart
        self._values: list[schema.EValue] = []
        self._constants: list[bytes] = [b""]
        self._sizes = [0, 0 if apart else GUARD]  # of memories; memory 0 is reserved
        self._inputs: list[tuple[int, bytes]] = []
        self._regions: list[Region] = []
        self._placed: list[tuple[int, bytes]] = []  # offset and content in the one arena
        self._places: dict[str, schema.AllocationDetails] = {}

    def _add(self, value: Any) -> int:
        self._values.append(schema.EValue(value))
        return len(self._values) - 1

    def value(self, value: Any, type_: str = "int") -> int:
        """A number, list, dtype or None; type_ is that of the schema."""
        if value is None:
            return self._add(schema.Null())
        if isinstance(value, torch.dtype):
            return self._add(schema.Int(int(_SCALAR_TYPES[value])))
        if isinstance(value, (list, tuple)):
            return self._add(schema.IntList([self.value(item, "int") for item in value]))
        if type_ == "bool":
            return self._add(schema.Bool(bool(value)))
        if type_ == "float":
            return self._add(schema.Double(float(value)))
        return self._add(schema.Int(int(value)))

    def _tensor(self, out: Out, place: schema.AllocationDetails | None, constant: int = 0) -> int:
        return self._add(
            schema.Tensor(
                _SCALAR_TYPES[out.dtype], 0, list(out.shape), list(out.order), False, 0, constant, place,
                schema.TensorShapeDynamism.STATIC,
            )
        )  # fmt: skip

    def _reserve(self, name: str, size: int) -> schema.AllocationDetails:
        if self._apart:
            self._sizes.append(size)
            return schema.AllocationDetails(len(self._sizes) - 1, 0, 0)
        begin = -(-self._sizes[1] // _ALIGNMENT) * _ALIGNMENT
        self._regions.append(Region(name, begin, begin + size))
        self._sizes[1] = begin + size + GUARD
        return schema.AllocationDetails(1, begin, 0)

    def tensor(self, name: str, tensor: torch.Tensor, order: tuple[int, ...], constant: bool) -> int:
        data = bytes_in_order(tensor, order)
        declared = Out(tuple(tensor.shape), tensor.dtype, order)
        if constant and not self._apart:
            self._constants.append(data)
            return self._tensor(declared, None, len(self._constants) - 1)
        place = self._places[name] = self._reserve(name, len(data))
        self._placed.append((place.memory_offset_low, data))
        index = self._tensor(declared, place)
        if self._apart:
            self._inputs.append((index, data))
        return index

    def uninitialised(self, name: str, out: Out) -> int:
        """Scratch or the out tensor."""
        size = int(np.prod(out.shape, dtype=np.int64)) * out.dtype.itemsize
        return self._tensor(out, self._reserve(name, size))

    def over(self, operand: str, name: str, out: Out) -> int:
        """A tensor in the place of one that was added before, whose bytes are known as its own from now on."""
        self._regions = [replace(region, name=name) if region.name == operand else region for region in self._regions]
        return self._tensor(out, self._places[operand])

    def finish(self, operator: str, arguments: list[int]) -> OpProgram:
        """operator: "namespace::op", whose out overload is called; the last argument is the out tensor."""
        outputs = arguments[-1:]
        if not self._apart:
            arena = pattern(self._sizes[1])
            for begin, data in self._placed:
                arena[begin : begin + len(data)] = np.frombuffer(data, np.uint8)
            whole = self._tensor(Out((len(arena),), torch.uint8, (0,)), schema.AllocationDetails(1, 0, 0))
            self._inputs = [(whole, arena.tobytes())]
            outputs = [whole]
        inputs = [index for index, _ in self._inputs]
        call = schema.Instruction(schema.KernelCall(0, arguments))
        plan = schema.ExecutionPlan(
            name="forward",
            container_meta_type=schema.ContainerMetadata("", ""),
            values=self._values,
            inputs=inputs,
            outputs=outputs,
            chains=[schema.Chain(inputs, outputs, [call], None)],
            operators=[schema.Operator(operator, "out")],
            delegates=[],
            non_const_buffer_sizes=self._sizes,
        )
        constants = [schema.Buffer(data) for data in self._constants]
        program = schema.Program(0, [plan], constants, [], [], schema.SubsegmentOffsets(0, []))
        data = bytes(serialize_pte_binary(PTEFile(program)))
        return OpProgram(data, tuple(content for _, content in self._inputs), tuple(self._regions))
