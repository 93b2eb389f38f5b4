"""The memory plan of a .pte, read from its bytes: what lies where and when, the arena's size, and how small it could be.

    plan = MemoryPlan.of(Path("model.pte").read_bytes())
    print(f"{plan.peak:,} bytes, {plan.lower_bound:,} are live at instruction {plan.peak_instruction}")

Instructions are numbered as in the program, and live intervals follow that order; where a program jumps, too.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary

from cortex_m.analysis.calls import overlaps_in_calls, record_of
from cortex_m.host.interpreter import TORCH_DTYPES, ProgramError, operator_name
from cortex_m.memory.placement import Part, Storage, joined, live_bytes
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
    lower_bound: the largest sum of simultaneously live bytes, storages rounded up to the alignment: no placement takes less.
    peak_instruction: the first instruction at which that many are live; 0 if the program has none.
    live_bytes: the sum at each instruction.
    conflicts: a sentence for each call that writes over an argument of its own, and for each value that is overwritten while it
      is wanted.
    """

    peak: int
    lower_bound: int
    peak_instruction: int
    live_bytes: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    conflicts: tuple[str, ...] = ()

    @classmethod
    def of(cls, program: bytes, method: str = "forward") -> MemoryPlan:
        """Raises ValueError for a seal that does not fit, ProgramError for an unknown method or type of tensor."""
        plans = {plan.name: plan for plan in deserialize_pte_binary(unsealed(program)).program.execution_plan}
        if method not in plans:
            raise ProgramError(f"the program has no method {method!r}, only {sorted(plans)}")
        reader = _Reader(plans[method])
        storages = _storages(reader.buffers)
        live = tuple(live_bytes(storages, instruction) for instruction in range(reader.length))
        bound = max(live, default=0)
        peak = sum(int(size) for size in plans[method].non_const_buffer_sizes)
        return cls(peak, bound, live.index(bound) if live else 0, live, tuple(reader.buffers), reader.conflicts())

    def require_sound(self) -> None:
        """Raises ProgramError if the plan has a conflict."""
        if self.conflicts:
            raise ProgramError(f"the memory plan is not sound: {self.conflicts[0]}")

    @property
    def overhead(self) -> float:
        """How much larger than the lower bound the arena is, as a fraction of the bound."""
        return self.peak / self.lower_bound - 1 if self.lower_bound else 0.0

    def summary(self) -> dict[str, int]:
        """Bytes that are planned and that one moment needs at least, and the instruction of that moment."""
        return {"planned": self.peak, "lower_bound": self.lower_bound, "instruction": self.peak_instruction}

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return (
            f"Memory: {self.peak:,} bytes planned, {self.lower_bound:,} live at instruction {self.peak_instruction}"
            f" ({100 * self.overhead:.2f} % above the lower bound)"
        )


def _storages(buffers: Iterable[Buffer]) -> list[Storage]:
    parts: dict[int, list[Part]] = {}
    for buffer in buffers:
        parts.setdefault(buffer.storage, []).append(Part(buffer.offset, buffer.bytes, buffer.first, buffer.last))
    return [Storage(tuple(found)) for found in parts.values()]


@dataclasses.dataclass
class _Access:
    """What instructions do with one value."""

    writes: list[tuple[int, str]] = dataclasses.field(default_factory=list)  # instruction, operator
    reads: list[int] = dataclasses.field(default_factory=list)
    given_up: set[int] = dataclasses.field(default_factory=set)  # instructions that may write their result over it
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
        """The last argument is what is returned, and stands among the others, too, as the `out` that is written.

        Of an operator that changes its operand in place it is that operand; several results are returned as a list, and are
        `out`s one by one or another list of the same tensors.
        """
        *given, returned = call.args
        outs = self._tensors(returned)
        if returned in given:
            first, count = len(given) - 1 - given[::-1].index(returned), 1
        elif outs and given[-len(outs) :] == outs:
            first, count = len(given) - len(outs), len(outs)
        elif outs and given and self._tensors(given[-1]) == outs:
            first, count = len(given) - 1, 1
        else:
            first, count = len(given), 0
        operator = self._plan.operators[call.op_index]
        record = record_of(operator)
        scratch, in_place = record.scratch, record.in_place
        for argument, value in enumerate(given):
            if first <= argument < first + count and not _reads_what_it_changes(operator.name):
                continue
            for tensor in self._tensors(value):
                self._touch(tensor).reads.append(position)
                self._touch(tensor).is_scratch |= argument in scratch
                if argument in in_place:
                    self._touch(tensor).given_up.add(position)
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
            if value not in self._access and value not in self._plan.inputs and value not in self._plan.outputs:
                continue  # a name without a use
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
        covered = 0
        spans: list[tuple[int, int]] = []
        written = 0
        for position, source in sorted(self._writes_before(found, view), reverse=True):
            if covered == view.bytes:
                break
            buffer = found[source]
            spans.append((max(buffer.offset, view.offset), min(buffer.end, view.end)))
            grown = sum(end - begin for begin, end in joined(spans))
            if grown > covered:
                covered, written = grown, max(written, position)
                found[source] = dataclasses.replace(buffer, last=max(buffer.last, view.last))
        found[value] = dataclasses.replace(view, first=written)

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

    def conflicts(self) -> tuple[str, ...]:
        """Between a write of a value and each of its reads, nothing else is written to its bytes.

        In the order of the instructions; what a jump skips or repeats counts as if it were run once.
        """
        found = {buffer.value: buffer for buffer in self.buffers}
        sentences: list[str] = []
        for buffer in self.buffers:
            access = self._access.get(buffer.value, _Access())
            written = [position for position, _ in access.writes]
            if buffer.value in self._plan.inputs or buffer.kind == "state":
                written.append(-1)
            elif buffer.kind == "view":
                written = [buffer.first]
            # What is read behind the last instruction: results by the caller, state by the next run. A look at state that is not
            # written itself is over with its last reader.
            outlives = (buffer.kind == "state" and access.writes) or buffer.value in self._plan.outputs
            reads = access.reads + ([self.length] if outlives else [])
            for read in reads if buffer.kind != "scratch" else ():
                since = max((position for position in written if position < read), default=read)
                sentences += self._overwritten(found, buffer, since, read)
        return (*overlaps_in_calls(self._plan), *sentences)

    def _overwritten(self, found: dict[int, Buffer], buffer: Buffer, since: int, read: int) -> Iterable[str]:
        for other in found.values():
            if other.value == buffer.value or not other.overlaps(buffer):
                continue
            access = self._access.get(other.value, _Access())
            uses = access.reads if other.kind == "scratch" else [position for position, _ in access.writes]
            same = (other.offset, other.bytes) == (buffer.offset, buffer.bytes)
            for use in uses:
                over_operand = use == read and same and read in self._access[buffer.value].given_up
                if since < use <= read and not over_operand:
                    yield f"instruction {use} overwrites value {buffer.value}, which instruction {read} reads"


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


def _reads_what_it_changes(name: str) -> bool:
    """Whether an operator changes its operand in place, and not as a whole."""
    return name.endswith("_") and name != "aten::copy_"
