"""What the calls of a program may write over, by the operators' records: the rule of the runtime's verifier (verify_calls.h)."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from executorch.exir import schema

from cortex_m.host.errors import ProgramError
from cortex_m.host.interpreter import TORCH_DTYPES, find_operator, operator_name
from cortex_m.ops.operators import IN_PLACE, NAMESPACE
from cortex_m.ops.records import Record


def record_of(operator: schema.Operator) -> Record:
    """Of an operator that is not known here nothing is known but that it writes its result."""
    return _record_of(operator.name, operator.overload)


@functools.cache
def _record_of(name: str, overload: str) -> Record:
    try:
        operator = find_operator(schema.Operator(name, overload))
    except ProgramError:
        return Record(0)
    arguments = operator._schema.arguments
    in_place = IN_PLACE.get(operator._opname, ()) if operator.namespace == NAMESPACE else ()
    return Record.of(
        ((argument.name, argument.alias_info is not None and argument.alias_info.is_write) for argument in arguments),
        in_place,
    )


@dataclass(frozen=True)
class _Place:
    """Where a tensor lies, and how. memory: None for the caller's own, which `begin` then numbers."""

    memory: int | None
    begin: int
    end: int
    layout: tuple

    @classmethod
    def of(cls, value: int, tensor: schema.Tensor) -> _Place | None:
        """None for a constant, and for a tensor without bytes."""
        dtype = TORCH_DTYPES.get(tensor.scalar_type)
        if dtype is None:
            raise ProgramError(f"tensors of {tensor.scalar_type.name} are not supported")
        size = math.prod(tensor.sizes) * dtype.itemsize
        layout = (dtype, tuple(tensor.sizes), tuple(tensor.dim_order))
        if size == 0 or (tensor.allocation_info is None and tensor.data_buffer_idx > 0):
            return None
        if tensor.allocation_info is None:
            return cls(None, value, value + 1, layout)
        place = tensor.allocation_info
        return cls(place.memory_id, place.memory_offset, place.memory_offset + size, layout)

    def overlaps(self, other: _Place) -> bool:
        return self.memory == other.memory and self.begin < other.end and other.begin < self.end


def overlaps_in_calls(plan: schema.ExecutionPlan) -> tuple[str, ...]:
    """A sentence for each call that writes an argument over another one, which its operator cannot do."""
    reader = _Calls(plan)
    sentences: list[str] = []
    instructions = [instruction.instr_args for chain in plan.chains for instruction in chain.instructions]
    for position, call in enumerate(instructions):
        if isinstance(call, schema.KernelCall):
            sentences += reader.overlaps(position, call)
    return tuple(sentences)


class _Calls:
    def __init__(self, plan: schema.ExecutionPlan):
        self._plan = plan
        self._sources: dict[int, set[int]] = {}
        for chain in plan.chains:
            for move in (instruction.instr_args for instruction in chain.instructions):
                if isinstance(move, schema.MoveCall):
                    self._sources.setdefault(move.move_to, set()).add(move.move_from)

    def _places(self, item: int) -> list[_Place]:
        """Of each tensor that the value can stand for: its own, and what moves bring."""
        meanings, left = set(), [item]
        while left:
            value = left.pop()
            if value not in meanings:
                meanings.add(value)
                left += self._sources.get(value, ())
        tensors = [(value, self._plan.values[value].val) for value in sorted(meanings)]
        places = [_Place.of(value, tensor) for value, tensor in tensors if isinstance(tensor, schema.Tensor)]
        return [place for place in places if place is not None]

    def _items(self, value: int) -> Sequence[int]:
        content = self._plan.values[value].val
        is_list = isinstance(content, (schema.TensorList, schema.OptionalTensorList))
        return [item for item in content.items if item >= 0] if is_list else [value]

    def overlaps(self, position: int, call: schema.KernelCall) -> Iterator[str]:
        operator = self._plan.operators[call.op_index]
        record = record_of(operator)
        arguments = [[self._places(item) for item in self._items(value)] for value in call.args]
        results = [argument for argument in record.written if argument not in record.scratch]
        for written in record.written:
            for other in range(min(len(arguments), record.count)):
                in_place = written in results and other in record.in_place
                for number, ours in enumerate(arguments[written] if written < len(arguments) else ()):
                    for item, theirs in enumerate(arguments[other]):
                        if (written, number) != (other, item) and any(
                            a.overlaps(b) and not (in_place and a == b) for a in ours for b in theirs
                        ):
                            yield (
                                f"instruction {position} writes its argument {written} over its argument {other}, which "
                                f"{operator_name(operator)} cannot do"
                            )
