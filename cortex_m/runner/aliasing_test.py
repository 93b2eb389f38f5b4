"""Programs whose calls write over their own arguments: refused by the build, the host and each core, with the same sentence.

For each operator that there is a kernel for, each argument that it writes is laid over each other one, and into a constant. Which
arguments it writes is what torch's schemas say, and where it may work in place what operators.yaml says: read here, not asked of the
code that makes the verifier's table of it.
"""

import re
import struct
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
import yaml
from executorch.exir import schema
from executorch.exir._serialize._program import PTEFile, serialize_pte_binary

import cortex_m.ops.operators  # noqa: F401  (registers torch.ops.cortex_m)
from cortex_m import simulator
from cortex_m.analysis.memory import MemoryPlan
from cortex_m.host import Program
from cortex_m.runner import kernel_table

_FOLDER = Path("cortex_m/runner").resolve()
_CORES = {"cortex_m55": "mps3_an547", "cortex_m4": "mps2_an386"}
_OVER = "a call writes this argument over another one, which its operator cannot do (instruction 0, argument {})"
_TO_CONSTANT = "a call writes to a constant (instruction 0, argument {})"
_TENSORS = ("Tensor", "Optional[Tensor]", "List[Tensor]", "List[Optional[Tensor]]")

# What fuzzing and reading found, before there was a rule: file, and the argument that is written over another one.
_FOUND = {
    "scatter_alias": 4,
    "scatter_const": 4,
    "scratch_over_bias": 12,
    "scratch_over_shifts": 12,
    "cat_over_input": 2,
}


@dataclass(frozen=True)
class Layout:
    """A program, and the sentence with which it is refused; None if it may run."""

    name: str
    program: bytes
    refusal: str | None


def _at(tensor: int) -> int:
    """Where the call's tensor of that number lies if none is over another: a number that the file has nowhere else."""
    return 0xB010 + 0x100 * tensor


@dataclass(frozen=True)
class Operator:
    """name: in a program. kinds: the type of each argument. written, scratch, in_place: positions."""

    name: str
    kinds: tuple[str, ...]
    written: tuple[int, ...]
    scratch: tuple[int, ...]
    in_place: tuple[int, ...]

    @classmethod
    def of(cls, name: str, in_place: dict[str, list[str]]) -> "Operator":
        namespace, _, rest = name.partition("::")
        base, _, overload = rest.partition(".")
        arguments = getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")._schema.arguments
        names = [argument.name for argument in arguments]
        scratch = tuple(i for i, argument in enumerate(names) if "scratch" in argument)
        results = tuple(i for i, a in enumerate(arguments) if a.alias_info is not None and a.alias_info.is_write)
        allowed = in_place.get(base, []) if namespace == "cortex_m" else []
        return cls(
            name,
            tuple(str(argument.type) for argument in arguments),
            tuple(sorted({*scratch, *results})),
            scratch,
            tuple(names.index(argument) for argument in allowed),
        )

    def is_allowed(self, written: int, other: int) -> bool:
        return written not in self.scratch and other in self.in_place

    def tensors(self) -> dict[int, list[int]]:
        """The numbers of the tensors that each argument with tensors has: two for a list."""
        found: dict[int, list[int]] = {}
        for position, kind in enumerate(self.kinds):
            if kind in _TENSORS:
                first = sum(map(len, found.values()))
                found[position] = [first, first + 1] if kind.startswith("List") else [first]
        return found

    def program(self, constant: int | None = None) -> bytes:
        """All tensors apart; argument `constant` a constant."""
        values: list[schema.EValue] = [schema.EValue(schema.Int(0))]
        tensors, arguments = self.tensors(), []

        def add(value) -> int:
            values.append(schema.EValue(value))
            return len(values) - 1

        for position, kind in enumerate(self.kinds):
            items = [add(self._tensor(number, position == constant)) for number in tensors.get(position, [])]
            if kind == "List[Tensor]":
                arguments.append(add(schema.TensorList(items)))
            elif kind == "List[Optional[Tensor]]":
                arguments.append(add(schema.OptionalTensorList(items)))
            else:
                arguments.append(items[0] if items else 0)
        results = [position for position in self.written if position not in self.scratch]
        several = len(results) > 1
        returned = add(schema.TensorList([arguments[i] for i in results])) if several else arguments[results[0]]
        namespace, _, overload = self.name.partition(".")
        plan = schema.ExecutionPlan(
            name="forward",
            container_meta_type=schema.ContainerMetadata("", ""),
            values=values,
            inputs=[],
            outputs=[],
            chains=[schema.Chain([], [], [schema.Instruction(schema.KernelCall(0, [*arguments, returned]))], None)],
            operators=[schema.Operator(namespace, overload)],
            delegates=[],
            non_const_buffer_sizes=[0, _at(40)],
        )
        constants = [schema.Buffer(b""), schema.Buffer(bytes(20))]
        program = schema.Program(0, [plan], constants, [], [], schema.SubsegmentOffsets(0, []))
        return bytes(serialize_pte_binary(PTEFile(program)))

    @staticmethod
    def _tensor(number: int, constant: bool) -> schema.Tensor:
        return schema.Tensor(
            schema.ScalarType.CHAR, 0, [20], [0], False, 0, int(constant),
            None if constant else schema.AllocationDetails(1, _at(number), 0), schema.TensorShapeDynamism.STATIC,
        )  # fmt: skip

    def layouts(self) -> list[Layout]:
        apart = self.program()
        found = [Layout(f"{self.name}, apart", apart, None)]
        tensors = self.tensors()
        for written in self.written:
            found.append(
                Layout(f"{self.name}, {written} constant", self.program(written), _TO_CONSTANT.format(written))
            )
            for other in tensors:
                if other == written:
                    continue
                # The last item of a list, so that all are looked at.
                moved = _moved(apart, tensors[written][-1], _at(tensors[other][-1]))
                # Of two results, the first one is told.
                told = min(written, other) if other in self.written else written
                refusal = None if self.is_allowed(written, other) else _OVER.format(told)
                found.append(Layout(f"{self.name}, {written} over {other}", moved, refusal))
                if self.is_allowed(written, other):  # on its bytes exactly, and not from its last four on
                    shifted = _moved(apart, tensors[other][-1], _at(tensors[written][-1]) - 16)
                    found.append(Layout(f"{self.name}, {written} partly over {other}", shifted, _OVER.format(written)))
        return found


def _moved(program: bytes, tensor: int, offset: int) -> bytes:
    pattern = struct.pack("<I", _at(tensor))
    assert program.count(pattern) == 1
    return program.replace(pattern, struct.pack("<I", offset))


def _operators() -> list[Operator]:
    entries = yaml.safe_load(Path("cortex_m/ops/operators.yaml").read_text(encoding="utf-8"))
    in_place = {entry["func"].partition("(")[0]: entry["in_place"] for entry in entries if "in_place" in entry}
    return [Operator.of(name, in_place) for name in kernel_table.functions()]


@pytest.fixture(scope="module")
def layouts() -> list[Layout]:
    found = [
        Layout(name, Path(f"cortex_m/runner/testing/hostile/{name}.pte").read_bytes(), _OVER.format(argument))
        for name, argument in _FOUND.items()
    ]
    return found + [layout for operator in _operators() for layout in operator.layouts()]


def _run(core: str, folder: Path, *options: str) -> list[str]:
    """What the host or a core says to each program of list.txt."""
    arguments = ["--batch", "list.txt", *options]
    if core == "host":
        command = [str(_FOLDER / "universal_int8"), *arguments]
        stdout = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=300).stdout
    else:
        elf = _FOLDER / f"universal_int8_{core}.elf"
        stdout = simulator.run(_CORES[core], elf, arguments, cwd=folder, timeout=400).stdout
    return re.findall(r"^result \d+: (.*)$", stdout, re.MULTILINE)


@pytest.fixture(scope="module")
def verdicts(layouts, tmp_path_factory) -> dict[str, list[str]]:
    """For the host and each core: what it says to each program."""
    folder = tmp_path_factory.mktemp("layouts")
    (folder / "list.txt").write_text("".join(f"{i}.pte {i}\n" for i in range(len(layouts))))
    for number, layout in enumerate(layouts):
        (folder / f"{number}.pte").write_bytes(layout.program)
    return {core: _run(core, folder) for core in ["host", *_CORES]}


@pytest.mark.parametrize("core", ["host", *_CORES])
def test_no_call_writes_over_its_own_arguments(layouts, verdicts, core):
    assert len(verdicts[core]) == len(layouts)
    for layout, verdict in zip(layouts, verdicts[core], strict=True):
        if layout.refusal is not None:
            assert verdict == f"error: {layout.refusal}", layout.name
        else:
            assert "a call writes" not in verdict and "a call returns" not in verdict, (layout.name, verdict)


def test_every_operator_is_there(layouts):
    """Of each at least its result is laid over an argument, or there is none with tensors."""
    assert len(_operators()) > 200
    refused = {layout.name.partition(",")[0] for layout in layouts if layout.refusal and " over " in layout.name}
    rest = {operator.name for operator in _operators() if len(operator.tensors()) > 1} - refused
    assert rest == set()
    assert sum(" over " in layout.name and layout.refusal is None for layout in layouts) == 12


def test_python_refuses_the_same(layouts):
    """The soundness that the exporter asks for; what fuzzers make lacks fields that Python's reader needs."""
    for layout in layouts[len(_FOUND) :]:
        if " constant" in layout.name:
            continue
        sentences = [text for text in MemoryPlan.of(layout.program).conflicts if "cannot do" in text]
        assert bool(sentences) == (layout.refusal is not None), layout.name
        if layout.refusal is not None:
            assert sentences[0].startswith("instruction 0 writes its argument ")


def test_the_build_and_python_refuse_what_was_found(layouts, tmp_path):
    for layout in layouts[: len(_FOUND)]:
        (tmp_path / "found.pte").write_bytes(layout.program)
        info = subprocess.run(
            ["cortex_m/runtime/program_info", tmp_path / "found.pte"], capture_output=True, text=True, check=False
        )
        assert info.returncode == 1 and info.stderr.rstrip().endswith(layout.refusal)
        with pytest.raises(ValueError, match=re.escape(layout.refusal)):
            Program(layout.program)


@pytest.mark.parametrize("core", ["host", *_CORES])
def test_a_loop_ends_at_the_limit(core, tmp_path):
    """Of two instructions the first does not jump, and the second jumps to the first."""
    values = [schema.EValue(schema.Bool(False)), schema.EValue(schema.Bool(True))]
    jumps = [schema.Instruction(schema.JumpFalseCall(1, 0)), schema.Instruction(schema.JumpFalseCall(0, 0))]
    plan = schema.ExecutionPlan(
        "forward", schema.ContainerMetadata("", ""), values, [], [], [schema.Chain([], [], jumps, None)], [], [], [0]
    )
    program = schema.Program(0, [plan], [schema.Buffer(b"")], [], [], schema.SubsegmentOffsets(0, []))
    (tmp_path / "loop.pte").write_bytes(bytes(serialize_pte_binary(PTEFile(program))))
    (tmp_path / "list.txt").write_text("loop.pte out\n")
    sentence = "error: the method did not end within the limit of instructions (forward {})"
    assert _run(core, tmp_path, "--limit", "3") == [sentence.format(1)]
    assert _run(core, tmp_path, "--limit", "100000") == [sentence.format(0)]


def test_the_moved_tensor_is_all_that_changed():
    """A layout differs from the one apart in one number, so that nothing else can be what is refused."""
    operator = replace(_operators()[0], in_place=())
    for layout in operator.layouts():
        if " over " in layout.name:
            assert sum(a != b for a, b in zip(layout.program, operator.program(), strict=True)) <= 2
