"""The memory plan of a .pte, read from its bytes: what lies where and when, the arena's size, and how small it could be.

    plan = MemoryPlan.of(Path("model.pte").read_bytes())
    print(f"{plan.peak:,} bytes, {plan.lower_bound:,} are live at instruction {plan.peak_instruction}")

Instructions are numbered as in the program, and live intervals follow that order; where a program jumps, too.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any

from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir.tensor import ALIGNMENT

from cortex_m.host.interpreter import TORCH_DTYPES, ProgramError, find_operator, operator_name
from cortex_m.seal import unsealed

KINDS = ("input", "output", "activation", "view", "scratch", "state")


@dataclasses.dataclass(frozen=True)
class Buffer:
    """One planned tensor.

    value: its index in the program. name: "input 0", or the operator that writes it.
    offset, bytes: where it lies in the memory `memory_id`; bytes without rounding.
    first, last: the instructions between which, both included, its contents are wanted. An input lives from instruction 0, an
      output to the end, state always.
    kind: one of KINDS. A view is never written itself: it is another look at bytes that other buffers of its storage hold.
    storage: equal for buffers that share bytes while they live: views, results written over an operand, parts of a whole.
    """

    value: int
    name: str
    shape: tuple[int, ...]
    dtype: str  # "int8"
    memory_id: int
    offset: int
    bytes: int
    first: int
    last: int
    kind: str
    storage: int

    @property
    def end(self) -> int:
        return self.offset + self.bytes

    def overlaps(self, other: Buffer) -> bool:
        """Whether they have a byte in common, at whatever time."""
        return self.memory_id == other.memory_id and self.offset < other.end and other.offset < self.end


@dataclasses.dataclass(frozen=True)
class MemoryPlan:
    """The planned memory of one method.

    peak: bytes of all planned memories: the arena.
    lower_bound: the largest sum of simultaneously live bytes, each storage rounded up to the alignment: no placement of these
      storages takes less.
    peak_instruction: the first instruction at which that many are live; 0 if the program has none.
    live_bytes: the sum at each instruction.
    """

    peak: int
    lower_bound: int
    peak_instruction: int
    live_bytes: tuple[int, ...]
    buffers: tuple[Buffer, ...]

    @classmethod
    def of(cls, program: bytes, method: str = "forward") -> MemoryPlan:
        """Raises ValueError for a seal that does not fit, ProgramError for an unknown method or type of tensor."""
        plans = {plan.name: plan for plan in deserialize_pte_binary(unsealed(program)).program.execution_plan}
        if method not in plans:
            raise ProgramError(f"the program has no method {method!r}, only {sorted(plans)}")
        reader = _Reader(plans[method])
        live = tuple(_live_bytes(reader.buffers, instruction) for instruction in range(reader.length))
        bound = max(live, default=0)
        peak = sum(int(size) for size in plans[method].non_const_buffer_sizes)
        return cls(peak, bound, live.index(bound) if live else 0, live, tuple(reader.buffers))

    @property
    def overhead(self) -> float:
        """How much larger than the lower bound the arena is, as a fraction of the bound."""
        return self.peak / self.lower_bound - 1 if self.lower_bound else 0.0

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return (
            f"Memory: {self.peak:,} bytes planned, {self.lower_bound:,} live at instruction {self.peak_instruction}"
            f" ({100 * self.overhead:.2f} % above the lower bound)"
        )


def _live_bytes(buffers: Iterable[Buffer], instruction: int) -> int:
    """Bytes that hold something wanted at `instruction`: those of one storage count once, and are rounded up together."""
    storages: dict[int, list[tuple[int, int]]] = {}
    for buffer in buffers:
        if buffer.first <= instruction <= buffer.last:
            storages.setdefault(buffer.storage, []).append((buffer.offset, buffer.end))
    return sum(math.ceil(_union(spans) / ALIGNMENT) * ALIGNMENT for spans in storages.values())


def _union(spans: list[tuple[int, int]]) -> int:
    """Bytes in at least one of the spans."""
    total, reached = 0, 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


@dataclasses.dataclass
class _Access:
    """What instructions do with one value."""

    writes: list[tuple[int, str]] = dataclasses.field(default_factory=list)  # instruction, operator
    reads: list[int] = dataclasses.field(default_factory=list)
    is_scratch: bool = False

    @property
    def is_carried(self) -> bool:
        """Whether it is read before it is written: what is read is of the run before."""
        return bool(self.reads and self.writes) and min(self.reads) <= min(position for position, _ in self.writes)


class _Reader:
    """Finds lives and storages; `length` is the number of instructions."""

    def __init__(self, plan: schema.ExecutionPlan):
        self._plan = plan
        self._access: dict[int, _Access] = {}
        instructions = [instruction.instr_args for chain in plan.chains for instruction in chain.instructions]
        self.length = len(instructions)
        for position, instruction in enumerate(instructions):
            if isinstance(instruction, schema.KernelCall):
                self._read_call(position, instruction)
            elif isinstance(instruction, schema.MoveCall):
                self._touch(instruction.move_from).reads.append(position)
                self._touch(instruction.move_to).writes.append((position, "move"))
            elif isinstance(instruction, schema.JumpFalseCall):
                self._touch(instruction.cond_value_index).reads.append(position)
        self.buffers = self._buffers()

    def _touch(self, value: int) -> _Access:
        return self._access.setdefault(value, _Access())

    def _tensors(self, value: int) -> Sequence[int]:
        """The value, or what a list of tensors lists."""
        content = self._plan.values[value].val
        is_list = isinstance(content, (schema.TensorList, schema.OptionalTensorList))
        return [item for item in content.items if item >= 0] if is_list else [value]

    def _read_call(self, position: int, call: schema.KernelCall) -> None:
        """The last argument is what is returned, and stands among the others, too, as the `out` that is written."""
        *given, returned = call.args
        out = len(given) - 1 - given[::-1].index(returned) if returned in given else len(given)
        outs = self._tensors(returned)
        if out == len(given) and given[-len(outs) :] == outs:  # several outs, returned as a list
            out = len(given) - len(outs)
        operator = self._plan.operators[call.op_index]
        scratch = _scratch_arguments(operator.name, operator.overload)
        for argument, value in enumerate(given[:out]):
            for tensor in self._tensors(value):
                self._touch(tensor).reads.append(position)
                self._touch(tensor).is_scratch |= argument in scratch
        for tensor in outs:
            self._touch(tensor).writes.append((position, operator_name(operator)))

    def _buffers(self) -> list[Buffer]:
        found: dict[int, Buffer] = {}
        views = []
        for value, content in enumerate(self._plan.values):
            tensor = content.val
            if not isinstance(tensor, schema.Tensor) or tensor.allocation_info is None:
                continue
            access = self._access.get(value, _Access())
            found[value] = self._buffer(value, tensor, access)
            if found[value].kind in ("view", "output") and not access.writes and value not in self._plan.inputs:
                views.append(value)
        for value in sorted(views, key=lambda value: found[value].first):
            self._resolve_view(found, value)
        return _with_storages(list(found.values()))

    def _buffer(self, value: int, tensor: schema.Tensor, access: _Access) -> Buffer:
        end = max(self.length - 1, 0)
        touched = [position for position, _ in access.writes] + access.reads
        first, last = min(touched, default=0), max(touched, default=0)
        name = access.writes[0][1] if access.writes else "view"
        if value in self._plan.inputs:
            kind, first, name = "input", 0, f"input {list(self._plan.inputs).index(value)}"
        elif tensor.data_buffer_idx > 0 or access.is_carried:
            kind, first, last, name = "state", 0, end, "state"
        elif access.is_scratch:
            kind, name = "scratch", "scratch"
        else:
            kind = "activation" if access.writes else "view"
        if value in self._plan.outputs:
            last = end
            if kind != "input":
                kind, first = "output", first if touched else end
        dtype = TORCH_DTYPES.get(tensor.scalar_type)
        if dtype is None:
            raise ProgramError(f"tensors of {tensor.scalar_type.name} are not supported")
        place = tensor.allocation_info
        size = math.prod(tensor.sizes) * dtype.itemsize
        return Buffer(
            value, name, tuple(tensor.sizes), str(dtype).removeprefix("torch."), place.memory_id, place.memory_offset, size,
            first, last, kind, -1,
        )  # fmt: skip

    def _resolve_view(self, found: dict[int, Buffer], value: int) -> None:
        """What a view looks at lives as long as the view: the newest writes of its bytes before it is first read."""
        view = found[value]
        missing = view.bytes
        spans: list[tuple[int, int]] = []
        written = 0
        for position, source in sorted(self._writes_before(found, view), reverse=True):
            if missing <= 0:
                break
            buffer = found[source]
            spans.append((max(buffer.offset, view.offset), min(buffer.end, view.end)))
            covered = _union(spans)
            if view.bytes - covered < missing:
                missing = view.bytes - covered
                written = max(written, position)
                found[source] = dataclasses.replace(buffer, last=max(buffer.last, view.last))
        found[value] = dataclasses.replace(view, first=max(written, 0))

    def _writes_before(self, found: dict[int, Buffer], view: Buffer) -> Iterable[tuple[int, int]]:
        """(instruction, value) of all writes into bytes of `view`; an input is written before instruction 0."""
        for value, buffer in found.items():
            if value == view.value or not buffer.overlaps(view):
                continue
            writes = [position for position, _ in self._access.get(value, _Access()).writes]
            if value in self._plan.inputs or buffer.kind == "state":
                writes.append(-1)
            before = [position for position in writes if position < view.first or view.kind == "output"]
            if before:
                yield max(before), value


def _with_storages(buffers: list[Buffer]) -> list[Buffer]:
    """Numbers the storages: buffers that have bytes and an instruction in common are of one."""
    storage = list(range(len(buffers)))

    def root(index: int) -> int:
        while storage[index] != index:
            index = storage[index]
        return index

    for i, one in enumerate(buffers):
        for j, other in enumerate(buffers[:i]):
            if one.overlaps(other) and one.first <= other.last and other.first <= one.last:
                storage[root(i)] = root(j)
    return [dataclasses.replace(buffer, storage=root(index)) for index, buffer in enumerate(buffers)]


@functools.lru_cache(maxsize=None)
def _scratch_arguments(name: str, overload: str) -> frozenset[int]:
    """Positions of the arguments that a kernel uses as working memory; an operator that is not known here has none."""
    try:
        operator = find_operator(schema.Operator(name, overload))
    except ProgramError:
        return frozenset()
    return frozenset(
        position for position, argument in enumerate(operator._schema.arguments) if argument.name.endswith("scratch")
    )
