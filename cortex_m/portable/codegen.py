"""Writes C++ from the schemas of the portable operators.

codegen.py declarations declarations.h        each kernel's declaration
codegen.py table table.cc [aten::add.out ...]   a table of {name, Boxed<kernel>}: of all, or of those named
codegen.py available available.txt            the names of all kernels, one a line
codegen.py document portable_ops.md           the table for people
"""

from __future__ import annotations

import pathlib
import sys

from cortex_m.portable import document, schemas

_HEADER = """// Made by cortex_m/portable/codegen.py from the schemas of torch and executorch. Do not edit.
"""


def declarations() -> str:
    """A header that declares the kernel of each operator in operators.yaml."""
    lines = [
        _HEADER,
        "#ifndef CORTEX_M_PORTABLE_DECLARATIONS_H_",
        "#define CORTEX_M_PORTABLE_DECLARATIONS_H_",
        "",
        "#include <optional>",
        "",
        '#include "cortex_m/portable/boxing.h"',
        '#include "cortex_m/runtime/kernel.h"',
        "",
        "namespace cortex_m {",
    ]
    by_namespace: dict[str, list[str]] = {}
    for name in schemas.operators():
        namespace, function = schemas.cpp_name(name).split("::")
        parameters = ", ".join(f"{type_} {argument}" for type_, argument in schemas.cpp_parameters(name))
        by_namespace.setdefault(namespace, []).append(f"Status {function}(KernelContext& context, {parameters});")
    for namespace, functions in by_namespace.items():
        lines += ["", f"namespace {namespace} {{", *functions, f"}}  // namespace {namespace}"]
    lines += ["", "}  // namespace cortex_m", "", "#endif  // CORTEX_M_PORTABLE_DECLARATIONS_H_", ""]
    return "\n".join(lines)


def table(names: list[str], symbol: str = "kPortableKernels") -> str:
    """A source that defines `extern const KernelTable <symbol>` with the kernels of `names`.

    Raises:
      ValueError: an operator has no portable kernel.
    """
    missing = sorted(set(names) - set(schemas.operators()))
    if missing:
        raise ValueError(f"no portable kernel for {', '.join(missing)}; docs/portable_ops.md lists those there are")
    entries = [f'    {{"{name}", Boxed<{schemas.cpp_name(name)}>}},' for name in names]
    return "\n".join(
        [
            _HEADER,
            '#include "cortex_m/portable/declarations.h"',
            "",
            "namespace cortex_m {",
            "namespace {",
            "constexpr Kernel kKernels[] = {",
            *entries,
            "};",
            "}  // namespace",
            f"extern const KernelTable {symbol};",
            f"const KernelTable {symbol} = {{kKernels, sizeof kKernels / sizeof kKernels[0]}};",
            "}  // namespace cortex_m",
            "",
        ]
    )


def main(arguments: list[str]) -> None:
    what, output, *names = arguments
    if what == "declarations":
        text = declarations()
    elif what == "table":
        text = table(names or schemas.operators())
    elif what == "document":
        text = document.document()
    else:
        raise SystemExit(f"codegen: there is nothing to generate that is called {what}")
    pathlib.Path(output).write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
