"""Says which of the known boards a .pte fits, what it needs there and what is missing.

The verdict is the build's: target, kernels and memories are judged by the functions that a `cortex_m_runner` is generated with. The
.pte and the arena are exact. A runner's code is known when it is linked: it has the kernels alone that the program calls. The column
of code is what a runner with all int8 kernels has, as linked for the core, and so more than that.

Examples:
  bazel run //tools:fit -- --program=model.pte
  bazel run //tools:fit -- --program=model.pte --core=cortex_m4      # status 1 unless it fits there
  bazel run //tools:fit -- --program=model.pte --json
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any

from absl import app, flags

from cortex_m.boards import boards
from cortex_m.runner import generate
from cortex_m.simulator import elf_size
from cortex_m.target_config import CortexMTargetConfig, core_table
from tools.program_file import ToolError, read_program

FLAGS = flags.FLAGS
flags.DEFINE_string("program", None, "The .pte.")
flags.DEFINE_string("method", None, "Method to look at; the first one if not given.")
flags.DEFINE_string(
    "core", None, "Platform, cortex_m55: look at it alone, and end with status 1 if the program does not fit."
)
flags.DEFINE_bool("json", False, "Print JSON for programs instead of a table.")

_RUNNERS = Path(__file__).absolute().parent.parent / "cortex_m" / "runner"


@dataclasses.dataclass(frozen=True)
class Fit:
    """A program on the board of one core. Sizes in bytes.

    reason: why it does not fit; None if it does. model, arena: the memories that they are put into.
    free: what is left of each memory, with the room that is kept for code, stack and the runtime's own data taken off.
    code: of a runner with all int8 kernels; None where the program needs others, or that runner was not built.
    """

    board: str
    core: str
    reason: str | None
    model: str | None
    arena: str | None
    free: dict[str, int]
    code: int | None


def judge(info: dict[str, Any], method: dict[str, Any], core: str) -> Fit:
    """Whether the program, as program_info describes it, fits the board that `core` is on."""
    board = boards.load(boards.for_core(core))
    portable = set(method["operators"]) - _names("int8.txt")
    code = None if portable else _code_bytes(core)
    try:
        generate.check_target(info, CortexMTargetConfig.from_platform(core))
        generate.check_kernels(method, _names("all.txt"), None)
        place = generate.place(board, generate.arena_bytes(method), info["file_bytes"])
    except generate.Refused as error:
        return Fit(board["name"], core, str(error), None, None, {}, code)
    free = {memory["name"]: memory["length"] for memory in board["memories"]}
    free[board["code"]] -= generate.CODE_RESERVE
    free[board["data"]] -= board["stack_bytes"] + generate.DATA_RESERVE
    free[place.model] -= info["file_bytes"]
    free[place.arena] -= generate.arena_bytes(method)
    return Fit(board["name"], core, None, place.model, place.arena, free, code)


def _names(list_name: str) -> set[str]:
    return set((_RUNNERS / list_name).read_text().split())


def _code_bytes(core: str) -> int | None:
    folders = [_RUNNERS, Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), "bazel-bin", "cortex_m", "runner")]
    for elf in (folder / f"universal_int8_{core}.elf" for folder in folders):
        if elf.is_file():
            sizes = elf_size.report(elf)
            return sizes["code"] + sizes["constants"] + sizes["data"]
    return None


def _print_table(name: str, info: dict[str, Any], method: dict[str, Any], found: list[Fit]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False, markup=False)
    arena = generate.arena_bytes(method)
    console.print(
        f"{name}, method {method['name']}: flash {info['file_bytes']:,} bytes for the .pte, RAM {arena:,} bytes for the arena"
    )
    portable = sorted(set(method["operators"]) - _names("int8.txt"))
    if portable:
        console.print(f"its runner needs portable = True, for {', '.join(portable)}")
    table = Table()
    for heading in ("core", "board", "fits", ".pte in", "arena in", "free, bytes"):
        table.add_column(heading, overflow="fold")
    table.add_column("code, all int8 kernels", justify="right")
    for fit in found:
        free = ", ".join(f"{name} {left:,}" for name, left in fit.free.items() if left > 0)
        code = "link to know" if fit.code is None else f"{fit.code:,}"
        if fit.reason is None:
            table.add_row(fit.core, fit.board, "yes", fit.model, fit.arena, free, code)
        else:
            table.add_row(fit.core, fit.board, "no", "", "", fit.reason, code)
    console.print(table)
    console.print(
        f"{generate.CODE_RESERVE:,} bytes are kept free for code and constants beside the .pte, {generate.DATA_RESERVE:,} and the stack\n"
        "beside the arena. Exact sums: declare a cortex_m_runner of the program and build it for the core's platform."
    )


def fit(argv) -> int:
    if len(argv) > 1:
        raise ToolError(f"{argv[1]}: arguments are given as flags; --help has examples")
    if not FLAGS.program:
        raise ToolError("--program is missing: name a .pte; --help has examples")
    if FLAGS.core is not None and FLAGS.core not in core_table():
        raise ToolError(f"--core={FLAGS.core}: there is no such platform; known are {', '.join(core_table())}")
    _, info = read_program(FLAGS.program)
    try:
        method = generate.method_of(info, FLAGS.method)
    except generate.Refused as error:
        raise ToolError(f"{FLAGS.program}: {error}") from error
    found = [judge(info, method, core) for core in ([FLAGS.core] if FLAGS.core else core_table())]
    if FLAGS.json:
        needed = {
            "program_bytes": info["file_bytes"],
            "arena_bytes": generate.arena_bytes(method),
            "target": info["target"],
        }
        print(json.dumps(dict(needed, fits=[dataclasses.asdict(fit) for fit in found]), indent=1))
    else:
        _print_table(FLAGS.program, info, method, found)
    return 1 if FLAGS.core and found[0].reason else 0


def main(argv) -> int:
    try:
        return fit(argv)
    except (ToolError, ValueError) as error:
        print(f"fit: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    app.run(main)
