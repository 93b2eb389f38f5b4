"""Compares what the rooms of cortex_m/ import and include with the table in docs/architecture.md.

    python tools/structure.py FILE...        # bazel run //tools:lint does it for all files

A room may know those that its row lists, and a row lists no room that it does not know: the page is true or this fails.
Tests are left out: files named *_test.*, *_test_util.* and test_*.h, folders named testing and bench, and TEST_ONLY.
Prints one line for each difference, and exits with 1 if there is any.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path

PAGE = Path("docs/architecture.md")
EXPORT = (
    "cortex_m/__init__.py",
    "cortex_m/capture.py",
    "cortex_m/export.py",
    "cortex_m/own_copy.py",
    "cortex_m/prediction.py",
    "cortex_m/same_function.py",
    "cortex_m/saved_model.py",
)
# Support of tests that does not stand in a folder of its own.
TEST_ONLY = (
    "cortex_m/nn/variants.c",
    "cortex_m/passes/movement_cases.py",
    "cortex_m/passes/recipe.py",
    "cortex_m/portable/conformance.py",
    "cortex_m/portable/kernel_library.py",
    "cortex_m/portable/replay.cc",
    "cortex_m/portable/replay_file.py",
    "cortex_m/quantizer/recipe.py",
    "cortex_m/runtime/fuzz.cc",
)
_ROW = re.compile(r"^\| `(\w+)`[^|]*\|[^|]*\|([^|]*)\|([^|]*)\|$", re.MULTILINE)
_INCLUDE = re.compile(r'^\s*#\s*include\s*"(cortex_m/[^"]+)"')
_PYTHON, _C = "Python", "C"


def allowed(page: str) -> dict[tuple[str, str], set[str]]:
    """(room, language) -> rooms that it may know, from the page's table."""
    found: dict[tuple[str, str], set[str]] = {}
    for room, python, c in _ROW.findall(page):
        found[room, _PYTHON] = set(re.findall(r"`(\w+)`", python))
        found[room, _C] = set(re.findall(r"`(\w+)`", c))
    return found


def room_of(path: str) -> str:
    """The room of a file of cortex_m/, or of a module's path with slashes."""
    parts = path.split("/")
    if len(parts) > 2:
        return parts[1]
    return "export" if path in EXPORT else "base"


def is_product(path: str) -> bool:
    if not path.startswith("cortex_m/") or path in TEST_ONLY:
        return False
    parts = path.split("/")
    stem = parts[-1].split(".")[0]
    return not (
        stem.endswith(("_test", "_test_util")) or stem.startswith("test_") or {"testing", "bench"} & {*parts[:-1]}
    )


def _module_path(name: str, root: Path) -> str | None:
    """cortex_m.a.b -> cortex_m/a/b.py or the package's __init__.py; None for a name in a module."""
    path = name.replace(".", "/")
    if (root / f"{path}.py").is_file():
        return f"{path}.py"
    return f"{path}/__init__.py" if (root / path / "__init__.py").is_file() else None


def knows(path: str, root: Path) -> Iterable[tuple[int, str, str]]:
    """(line, language, path of the known file) of each import or include of this repository's files."""
    text = (root / path).read_text()
    if path.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                if name.split(".")[0] == "cortex_m" and isinstance(node, ast.Import | ast.ImportFrom):
                    known = _module_path(name, root) or _module_path(name.rpartition(".")[0], root)
                    if known:
                        yield node.lineno, _PYTHON, known
    else:
        for number, line in enumerate(text.splitlines(), 1):
            if match := _INCLUDE.match(line):
                yield number, _C, match[1]


def differences(paths: Iterable[str], root: Path) -> list[str]:
    """One line for each import or include that the page does not allow, and for each that it allows and nobody needs."""
    may = allowed((root / PAGE).read_text())
    used: dict[tuple[str, str], set[str]] = {key: set() for key in may}
    found = []
    for path in filter(is_product, paths):
        room = room_of(path)
        if (room, _PYTHON) not in may:
            found.append(f"{path}: {PAGE} has no room {room}")
            continue
        for line, language, known in knows(path, root):
            other = room_of(known)
            if other == room:
                continue
            used[room, language].add(other)
            if other not in may[room, language]:
                found.append(f"{path}:{line}: {room} may not know {other} ({known}), says {PAGE}")
    for (room, language), rooms in may.items():
        found += [
            f"{PAGE}: no {language} file of {room} knows {other} any more"
            for other in sorted(rooms - used[room, language])
        ]
    return found


def main(paths: list[str]) -> int:
    found = differences(paths, Path())
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
