"""Writes the kernel table of a runner: LinkedKernels() with the operators that a program calls, and no others.

    kernel_table.py --available=own.txt                           the names of the operators of cortex_m
    kernel_table.py --available=int8.txt --portable=cat,view      the same, and those of these files of cortex_m/portable
    kernel_table.py --operators=kernels.txt --table=kernels.cc    the table for the operators named in kernels.txt

Names are those in a program, "cortex_m::quantized_add.out" or "aten::cat.out", one a line. Operators of cortex_m come from
cortex_m/ops, all others from cortex_m/portable. One that neither has is one sentence on stderr and exit status 1.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterable

from absl import app, flags

from cortex_m.ops import codegen as ops
from cortex_m.portable import schemas as portable

_AVAILABLE = flags.DEFINE_string("available", None, "List to write.")
_PORTABLE = flags.DEFINE_list("portable", [], "Files of cortex_m/portable whose operators --available lists, too.")
_OPERATORS = flags.DEFINE_string("operators", None, "List to read, for --table.")
_TABLE = flags.DEFINE_string("table", None, "C++ source to write.")


class UnknownOperator(ValueError):
    """There is no kernel, or no file of kernels, of that name; the message is one sentence."""


def own_functions() -> dict[str, str]:
    """The C++ function of each operator of cortex_m, by the operator's name in a program."""
    return {ops.program_name(name): f"ops::{name}_out" for name in ops.read_schemas(str(ops.OPERATORS_YAML))}


def names_in(files: Iterable[str]) -> list[str]:
    """Names of the operators of cortex_m, then of those in `files` of cortex_m/portable. Raises UnknownOperator."""
    families = {family.file: family.operators for family in portable.families()}
    missing = [file for file in files if file not in families]
    if missing:
        raise UnknownOperator(f"cortex_m/portable has no file of kernels {', '.join(missing)}")
    return [*own_functions(), *(name for file in files for name in families[file])]


def functions() -> dict[str, str]:
    """The same of each operator there is a kernel for."""
    return own_functions() | {name: portable.cpp_name(name) for name in portable.operators()}


def array(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """The header files, and the lines of `kKernels`, an array of the operators `names`, once each, in their order: where it is the
    program's, the runtime finds each at once.

    There are no lines for no operators. Raises UnknownOperator.
    """
    available = functions()
    wanted = list(dict.fromkeys(names))
    missing = [name for name in wanted if name not in available]
    if missing:
        raise UnknownOperator(f"there is no kernel for {', '.join(missing)}")
    # Only what is called is declared: a runner of int8 operators alone does not depend on the portable ones.
    headers = ["cortex_m/ops/operators.h", "cortex_m/runtime/boxed.h", "cortex_m/runtime/kernel.h"]
    if any(name in portable.operators() for name in wanted):
        headers.insert(1, "cortex_m/portable/declarations.h")
    if not wanted:
        return headers, []
    entries = [f'    {{"{name}", Boxed<{available[name]}>}},' for name in wanted]
    return headers, ["constexpr Kernel kKernels[] = {", *entries, "};"]


def table(names: Iterable[str]) -> str:
    """A source that defines LinkedKernels() (kernels.h) with the operators `names`. Raises UnknownOperator."""
    headers, lines = array(names)
    kernels = "{kKernels, sizeof kKernels / sizeof kKernels[0]}" if lines else "{}"
    return "\n".join(
        [
            "// Made by kernel_table.py from the names of a program's operators.",
            *(f'#include "{header}"' for header in sorted([*headers, "cortex_m/runner/kernels.h"])),
            "",
            "namespace cortex_m {",
            "",
            *([f"static {lines[0]}", *lines[1:], ""] if lines else []),
            f"KernelTable LinkedKernels() {{ return {kernels}; }}",
            "",
            "}  // namespace cortex_m",
            "",
        ]
    )


def main(argv: list[str]) -> None:
    if len(argv) > 1 or bool(_TABLE.value) != bool(_OPERATORS.value):
        raise app.UsageError("--table and --operators go together, and there are no other arguments")
    try:
        if _AVAILABLE.value:
            names = names_in(_PORTABLE.value)
            pathlib.Path(_AVAILABLE.value).write_text("".join(f"{name}\n" for name in names))
        if _TABLE.value and _OPERATORS.value:
            names = pathlib.Path(_OPERATORS.value).read_text().split()
            pathlib.Path(_TABLE.value).write_text(table(names))
    except UnknownOperator as error:
        print(f"kernel_table: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    app.run(main)
