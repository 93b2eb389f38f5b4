"""The boards' tables, read from the same files that Bazel loads.

    board = boards.load("mps3_an547")
    numerator, denominator = boards.instructions_per_tick(board)

The fields are explained in boards.bzl. Imports nothing but the standard library.
"""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent

Board = dict[str, Any]


def names() -> list[str]:
    """All boards, in alphabetical order."""
    return sorted(path.parent.name for path in _FOLDER.glob("*/board.bzl"))


def load(name: str) -> Board:
    """The table of one board. Raises ValueError for a name that is none."""
    path = _FOLDER / name / "board.bzl"
    if name not in names():
        raise ValueError(f"there is no board {name!r}; the boards are {', '.join(names())}")
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "BOARD":
            return ast.literal_eval(statement.value)
    raise ValueError(f"{path} does not assign BOARD")


def for_core(core: str) -> str:
    """Name of the board that a platform, "cortex_m55", is simulated on. Raises ValueError if there is none."""
    for name in names():
        if core in load(name)["cores"]:
            return name
    raise ValueError(
        f"there is no board for {core}; the boards have {', '.join(sorted(c for n in names() for c in load(n)['cores']))}"
    )


def memory(board: Board, name: str) -> dict[str, Any]:
    """The memory called `name`: its origin and length in bytes."""
    for candidate in board["memories"]:
        if candidate["name"] == name:
            return candidate
    raise ValueError(f"board {board['name']} has no memory {name}")


def instructions_per_tick(board: Board) -> tuple[int, int]:
    """Executed instructions per tick of SysTick under QEMU's -icount, as a reduced fraction."""
    numerator, denominator = 10**9, board["processor_hz"] << board["icount_shift"]
    divisor = math.gcd(numerator, denominator)
    return numerator // divisor, denominator // divisor
