"""What a call of an operator writes, and over which of its arguments it may: the record of each operator, in one place.

    record = records()["cortex_m::quantized_add.out"]
    record.written, record.in_place       # positions among the arguments that the kernel gets

It comes from operators.yaml (`in_place`, and arguments called scratch) and from the annotations of torch's schemas. An argument that
a call writes may lie in no byte of another one; a result alone may lie on an `in_place` argument, on exactly its bytes and in its
layout. The runtime's verifier gets the same as a table:

    records.py operator_records.h

Without torch: the build runs it before anything is exported.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchgen.model import Argument

from cortex_m.ops import codegen
from cortex_m.ops.codegen import is_scratch
from cortex_m.portable import schemas as portable

_POSITIONS = 32  # bits of a set of positions in the table


@dataclass(frozen=True)
class Record:
    """count: arguments that the kernel takes. written: positions of all that a call writes, results and scratch; scratch: of the
    latter alone. in_place: of those that a result may be written over."""

    count: int
    written: tuple[int, ...] = ()
    scratch: tuple[int, ...] = ()
    in_place: tuple[int, ...] = ()

    @classmethod
    def of(cls, arguments: Iterable[tuple[str, bool]], in_place: Sequence[str] = ()) -> Record:
        """arguments: the name of each, and whether it is a result or changed in place."""
        named = list(enumerate(arguments))
        return cls(
            len(named),
            tuple(i for i, (name, is_result) in named if is_result or is_scratch(name)),
            tuple(i for i, (name, _) in named if is_scratch(name)),
            tuple(i for i, (name, _) in named if name in in_place),
        )

    def is_told_by_the_name(self, name: str) -> bool:
        """Whether nothing is written but the last argument, of an operator whose name ends with an underscore the first."""
        result = 0 if name.partition(".")[0].endswith("_") else self.count - 1
        return self.written == (result,) and not self.in_place


def records() -> dict[str, Record]:
    """Of each operator that there is a kernel for, by its name in a program."""
    found = {}
    in_place = codegen.read_in_place(codegen.OPERATORS_YAML)
    for name, schema in codegen.read_schemas(str(codegen.OPERATORS_YAML)).items():
        arguments = [(argument.name, False) for argument in schema.arguments.flat_all]
        found[codegen.program_name(name)] = Record.of([*arguments, ("out", True)], in_place.get(name, ()))
    for name in portable.operators():
        found[name] = Record.of((argument.name, _is_written(argument)) for argument in portable.arguments(name))
    return found


def _is_written(argument: Argument) -> bool:
    return argument.annotation is not None and argument.annotation.is_write


def fingerprint(name: str) -> int:
    """32-bit FNV-1a of the name, as verify_calls.cc computes it."""
    value = 0x811C9DC5
    for byte in name.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def table() -> str:
    """The text of operator_records.h. Raises ValueError for a record that the table cannot hold."""
    entries: dict[int, str] = {}
    owners: dict[int, str] = {}
    for name, record in records().items():
        key = fingerprint(name)
        if key in owners:
            raise ValueError(f"{name} and {owners[key]} have one fingerprint: another function is needed")
        owners[key] = name
        if record.is_told_by_the_name(name):
            continue
        if max(*record.written, *record.in_place, 0) >= _POSITIONS:
            raise ValueError(f"{name} writes an argument behind the first {_POSITIONS}")
        entries[key] = f"    {{0x{key:08x}u, 0x{_bits(record.written):x}u, 0x{_bits(record.in_place):x}u}},  // {name}"
    return "\n".join(
        [
            "// Made by cortex_m/ops/records.py from the operators' records: those that differ from what their names tell.",
            "#ifndef CORTEX_M_RUNTIME_OPERATOR_RECORDS_H_",
            "#define CORTEX_M_RUNTIME_OPERATOR_RECORDS_H_",
            "",
            "#include <cstdint>",
            "",
            "namespace cortex_m {",
            "",
            "// Bit i of `written` and `in_place` is argument i. Sorted by `name`, the FNV-1a of the operator's.",
            "struct OperatorRecord {",
            "  uint32_t name;",
            "  uint32_t written;",
            "  uint32_t in_place;",
            "};",
            "",
            "constexpr OperatorRecord kOperatorRecords[] = {",
            *(entries[key] for key in sorted(entries)),
            "};",
            "",
            "}  // namespace cortex_m",
            "",
            "#endif  // CORTEX_M_RUNTIME_OPERATOR_RECORDS_H_",
            "",
        ]
    )


def _bits(positions: Iterable[int]) -> int:
    return sum(1 << position for position in positions)


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(table())
