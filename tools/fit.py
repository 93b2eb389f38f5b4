"""Says which microcontrollers and simulated boards a .pte fits, what it needs there and what is missing.

Microcontrollers are those of cortex_m/parts/parts.yaml. The .pte and the arena are exact; the code of a firmware is known when it is
linked, so the table says what is left for it, and "yes" means at least 24 KiB of flash and 6 KiB of RAM (docs/firmware.md, Sizes).
For the simulated boards the verdict is the build's: target, kernels and memories are judged by the functions that a
`cortex_m_runner` is generated with. The column of code is what a runner with all int8 kernels has, as linked for the core, and so
more than a runner with those that the program calls.

Examples:
  bazel run //tools:fit -- model.pte
  bazel run //tools:fit -- model.pte --part=stm32l4r5zi     # status 1 unless it fits there
  bazel run //tools:fit -- model.pte --core=cortex_m4       # the simulated board; status 1 unless it fits there
  bazel run //tools:fit -- model.pte --json
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
from cortex_m.parts import parts
from cortex_m.runner import generate
from cortex_m.simulator import elf_size
from cortex_m.target_config import CortexMTargetConfig, core_table
from tools.program_file import ToolError, core_flag, one_program, read_program

FLAGS = flags.FLAGS
flags.DEFINE_string("method", None, "Method to look at; the first one if not given.")
flags.DEFINE_string(
    "part", None, "A microcontroller: look at it alone, and end with status 1 if the program does not fit."
)
flags.DEFINE_string("core", None, "The simulated board of a core, likewise.")
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


@dataclasses.dataclass(frozen=True)
class PartVerdict:
    """A program and one microcontroller. reason: why it does not fit, without figures, so that parts can be grouped; None if it does."""

    fit: parts.PartFit
    reason: str | None


def judge_part(info: dict[str, Any], method: dict[str, Any], part: parts.Part) -> PartVerdict:
    """Whether the program, as program_info describes it, fits the part."""
    fit = parts.fit(part, info["file_bytes"], generate.arena_bytes(method))
    try:
        generate.check_target(info, CortexMTargetConfig.from_platform(part.core))
    except generate.Refused:
        target = info["target"]["core"]
        return PartVerdict(fit, f"it was exported for {target}: export it for any core, or for this one")
    return PartVerdict(fit, f"too little {' and '.join(fit.missing)}" if fit.missing else None)


def _by_size(verdict: PartVerdict) -> tuple[int, int, str]:
    part = verdict.fit.part
    return part.ram_bytes + part.flash_bytes, part.mhz, part.name


def _by_lack(verdict: PartVerdict) -> tuple[int, str]:
    return sum(verdict.fit.missing.values()), verdict.fit.part.name


def _names(list_name: str) -> set[str]:
    return set((_RUNNERS / list_name).read_text().split())


def _code_bytes(core: str) -> int | None:
    folders = [_RUNNERS, Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), "bazel-bin", "cortex_m", "runner")]
    for elf in (folder / f"universal_int8_{core}.elf" for folder in folders):
        if elf.is_file():
            sizes = elf_size.report(elf)
            return sizes["code"] + sizes["constants"] + sizes["data"]
    return None


def _print_table(method: dict[str, Any], found: list[Fit]) -> None:
    from rich.table import Table

    console = _console()
    portable = sorted(set(method["operators"]) - _names("int8.txt"))
    if portable:
        console.print(f"its runner needs portable = True, for {', '.join(portable)}")
    table = Table(title="Simulated boards", title_justify="left")
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


def _console():
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 150, highlight=False, markup=False)


def _print_parts(verdicts: list[PartVerdict]) -> None:
    """The parts that it fits, the smallest first, then the others by reason, the one that lacks least first."""
    from rich.table import Table

    console = _console()
    fitting = sorted((verdict for verdict in verdicts if verdict.reason is None), key=_by_size)
    if fitting:
        table = Table(title=f"Fits {len(fitting)} of {len(verdicts)} microcontrollers", title_justify="left")
        for heading in ("part", "vendor", "core", "MHz", ".pte in", "left for code", "arena in", "left for data"):
            table.add_column(heading, justify="right" if heading == "MHz" or heading.startswith("left") else "left")
        for verdict in fitting:
            fit, part = verdict.fit, verdict.fit.part
            table.add_row(
                part.name, part.vendor, part.core, str(part.mhz), fit.program, f"{fit.code_bytes:,}", fit.arena, f"{fit.data_bytes:,}"
            )  # fmt: skip
        console.print(table)
    for reason in sorted({verdict.reason for verdict in verdicts if verdict.reason is not None}):
        rest = sorted((verdict for verdict in verdicts if verdict.reason == reason), key=_by_lack)
        console.print(f"Does not fit {len(rest)}: {reason}")
        for verdict in rest:
            lacks = ", ".join(f"{what} {size:,} bytes" for what, size in verdict.fit.missing.items())
            console.print(f"  {verdict.fit.part.name} ({verdict.fit.part.core}){f': {lacks}' if lacks else ''}")


def _part_json(verdict: PartVerdict) -> dict[str, Any]:
    fit = dataclasses.asdict(verdict.fit)
    return {"name": verdict.fit.part.name, "core": verdict.fit.part.core, "reason": verdict.reason} | {
        key: fit[key] for key in ("missing", "program", "arena", "code_bytes", "data_bytes")
    }


def fit(argv) -> int:
    name = one_program(argv)
    if FLAGS.part and FLAGS.core:
        raise ToolError("--part has its core; give either --part or --core")
    if FLAGS.core is not None:
        FLAGS["core"].value = core_flag("core", FLAGS.core)
    chosen = [parts.load(FLAGS.part)] if FLAGS.part else [] if FLAGS.core else list(parts.table().values())
    cores = [FLAGS.core] if FLAGS.core else [] if FLAGS.part else list(core_table())
    _, info = read_program(name)
    try:
        method = generate.method_of(info, FLAGS.method)
    except generate.Refused as error:
        raise ToolError(f"{name}: {error}") from error
    found = [judge(info, method, core) for core in cores]
    verdicts = [judge_part(info, method, part) for part in chosen]
    if FLAGS.json:
        needed = {
            "program_bytes": info["file_bytes"],
            "arena_bytes": generate.arena_bytes(method),
            "target": info["target"],
        }
        rows = {"fits": [dataclasses.asdict(fit) for fit in found], "parts": [*map(_part_json, verdicts)]}
        print(json.dumps(needed | rows, indent=1))
    else:
        arena = generate.arena_bytes(method)
        _console().print(
            f"{name}, method {method['name']}: flash {info['file_bytes']:,} bytes for the .pte, RAM {arena:,} bytes for the arena"
        )
        if verdicts:
            _print_parts(verdicts)
        if found:
            _print_table(method, found)
    return 1 if (FLAGS.core and found[0].reason) or (FLAGS.part and verdicts[0].reason) else 0


def main(argv) -> int:
    try:
        return fit(argv)
    except (ToolError, ValueError) as error:
        print(f"fit: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    app.run(main)
