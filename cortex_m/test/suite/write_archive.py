"""Writes all cases and refusals to an archive.

write_archive.py CASES.zip
"""

from __future__ import annotations

import sys
from pathlib import Path

from cortex_m.target_config import Backend
from cortex_m.test.suite.archive import ArchiveWriter
from cortex_m.test.suite.case import Case, Scratch, reference
from cortex_m.test.suite.program import Out, bytes_in_order, in_place_arguments, program_of
from cortex_m.test.suite.refusals import all_refusals, out_of
from cortex_m.test.suite.registry import all_cases


def _programs(
    writer: ArchiveWriter, case: Case, out: Out, backends: tuple[Backend, ...], host: bool, over: str | None = None
) -> dict[str, int]:
    """One program for each instruction set whose scratch has another size; with `host`, the host's, and its sanitized one."""
    numbers: dict[str, int] = {}
    by_sizes: dict[tuple[int, ...], int] = {}
    for backend in backends:
        sizes = tuple(value.size(backend) for value in case.arguments if isinstance(value, Scratch))
        if sizes not in by_sizes:
            made = program_of(case, backend, out, over=over)
            regions = [(region.name, region.begin, region.end) for region in made.regions]
            by_sizes[sizes] = writer.add_program(made.program, made.inputs, regions)
        numbers[backend.name] = by_sizes[sizes]
    if host:
        made = program_of(case, case.backends[-1], out, apart=True, over=over)
        numbers["apart"] = writer.add_program(made.program, made.inputs, [])
        made = program_of(case, case.backends[-1], out, over=over)
        regions = [(region.name, region.begin, region.end) for region in made.regions]
        numbers["HOST"] = writer.add_program(made.program, made.inputs, regions)
    return numbers


def main(argv: list[str]) -> None:
    writer = ArchiveWriter()
    for case in all_cases():
        result = reference(case)
        out = out_of(result, case.orders.get("out"))
        programs = _programs(writer, case, out, case.backends, host=True)
        expected = bytes_in_order(result, out.order)
        writer.add_case(case.op, case.name, case.kind, expected, programs)
        for name in in_place_arguments(case, out) if case.kind != "exhaustive" else ():
            programs = _programs(writer, case, out, case.backends, host=True, over=name)
            writer.add_case(case.op, f"{case.name}, written over {name}", case.kind, expected, programs)
        others = tuple(backend for backend in Backend if backend not in case.backends)
        if others:
            programs = _programs(writer, case, out, others, host=False)
            writer.add_case(case.op, f"{case.name}, on another core", "refusal", None, programs)
    for refusal in all_refusals():
        case = refusal.case
        host = case.backends[-1] in refusal.backends
        backends = tuple(backend for backend in refusal.backends if backend in case.backends)
        programs = _programs(writer, case, refusal.out, backends, host)
        writer.add_case(case.op, case.name, "refusal", refusal.expected, programs)
    writer.write(Path(argv[1]))


if __name__ == "__main__":
    main(sys.argv)
