"""From a verified program to everything a runner of exactly this program needs at build time.

    generate.py --info program_info.json --kernels available.txt --core cortex_m55 --report report.json \\
        --config model_config.h --selected kernels.txt --placement placement.ld \\
        --program net.pte --template model.S.template --assembly model.S

Reads what `program_info` printed about a .pte, the names of the operators there are kernels for (one a line) and,
if given, the exporter's report, which knows the layer of each instruction. Writes
  --config     model_config.h: method name, buffer sizes, planned memories (//cortex_m/runner:embedded.cc includes it)
  --selected   the operators that the program calls, one a line: what to link
  --placement  the memories of arena and model, for the linker script (//cortex_m/boards:linker_script.bzl)
  --assembly   the template with the program's path and fingerprint: the source that embeds it
A program that was exported for other cores, needs a kernel that is missing, or does not fit the board, is refused with one
sentence and status 1. Without --core the runner is for the host, where every program runs. Standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from cortex_m.boards import boards
from cortex_m.target_config import Backend, CortexMTargetConfig

# What a runner needs beside model and arena: code and constants in the code memory, state and buffers of the runtime in
# the data memory. A generous bound; the linker checks the exact sum.
CODE_RESERVE = 96 << 10
DATA_RESERVE = 32 << 10

ALIGNMENT = 16  # cortex_m/runtime/program.h: kDataAlignment


class Refused(ValueError):
    """The program cannot be run by this runner or on this board; the message is one sentence."""


@dataclass(frozen=True)
class Placement:
    """Memories of the board for the arena and for the program."""

    arena: str
    model: str

    def linker_script(self) -> str:
        return f'REGION_ALIAS("ARENA", {self.arena})\nREGION_ALIAS("MODEL", {self.model})\n'


def method_of(info: dict[str, Any], name: str | None) -> dict[str, Any]:
    """The method called `name` of program_info's output, or the first one."""
    for method in info["methods"]:
        if name in (None, method["name"]):
            return method
    raise Refused(f"the program has no method {name}; it has {', '.join(m['name'] for m in info['methods'])}")


def check_target(info: dict[str, Any], core: CortexMTargetConfig) -> None:
    """Raises Refused for a program that was exported for a core with another instruction set than `core`'s."""
    if info["target"] is None:  # another exporter's
        return
    target = CortexMTargetConfig.from_target_string(info["target"]["core"])
    if target.cpu is not None:
        target = CortexMTargetConfig(target.cpu, Backend[info["target"]["instruction_set"]])
    if target.cpu is not None and (core.cpu is None or not target.runs_on(core.cpu)):
        raise Refused(
            f"it was exported for {target}, which is not for {core}: export it for {core.target_string}, or for any"
        )


def check_kernels(method: dict[str, Any], available: set[str], report: dict[str, Any] | None) -> None:
    """Raises Refused naming the first instruction whose operator has no kernel, and how many more there are."""
    missing = [i for i in method["instructions"] if i["kind"] == "kernel" and i["operator"] not in available]
    if not missing:
        return
    first = missing[0]
    place = f"instruction {first['index']}"
    layer = layer_of(first, report) or first.get("source", "")
    if layer:
        place += f", {layer}"
    others = sorted({i["operator"] for i in missing} - {first["operator"]})
    more = f"; nor have {', '.join(others)}" if others else ""
    raise Refused(f"operator {first['operator']} ({place}) has no kernel in this runner{more}")


def layer_of(instruction: dict[str, Any], report: dict[str, Any] | None) -> str:
    """ "layer features.3.conv, net.py:12" of an instruction, as far as the exporter's report knows it."""
    for row in (report or {}).get("instructions", []):
        if row["index"] == instruction["index"]:
            layer = f"layer {row['module']}" if row.get("module") else ""
            return ", ".join(part for part in (layer, row.get("source", "")) if part)
    return ""


def unplanned_bytes(method: dict[str, Any]) -> int:
    """Memory for the inputs and outputs that the exporter left to the runner, each aligned."""
    ends = {end["value"]: end for end in method["inputs"] + method["outputs"]}
    sizes = [end["nbytes"] for end in ends.values() if end["type"] == "tensor" and end["memory_id"] == 0]
    return sum(_align(size) for size in sizes)


def arena_bytes(method: dict[str, Any]) -> int:
    """All memory in the .arena section: planned buffers and unplanned inputs and outputs."""
    return sum(_align(size) for size in method["planned_bytes"]) + unplanned_bytes(method)


def place(board: boards.Board, arena: int, model: int, arena_memory: str | None = None) -> Placement:
    """The first memories of the board, in its order of preference, with room for `arena` and `model` bytes.

    arena_memory: the one memory that the arena may be in, if it matters.
    Raises Refused, with both sizes, if there is none.
    """
    if arena_memory not in (None, *board["arena"]):
        raise Refused(
            f"board {board['name']} has no memory {arena_memory} for the arena; it has {', '.join(board['arena'])}"
        )

    def room(name: str, beside_model: str | None = None) -> int:
        length = boards.memory(board, name)["length"]
        if name == board["code"]:
            length -= CODE_RESERVE
        if name == board["data"]:
            length -= board["stack_bytes"] + DATA_RESERVE
        if name == beside_model:
            length -= _align(model)
        return length

    def choose(what: str, names: list[str], size: int, beside_model: str | None = None) -> str:
        for name in names:
            if size <= room(name, beside_model):
                return name
        largest = max(names, key=lambda name: room(name, beside_model))
        raise Refused(
            f"the {what} of {size} bytes does not fit board {board['name']}: "
            f"its largest memory for it, {largest}, has {max(0, room(largest, beside_model))} bytes left"
        )

    model_memory = choose("program", board["model"], model)
    arena_memories = [arena_memory] if arena_memory else board["arena"]
    return Placement(choose("arena", arena_memories, arena, model_memory), model_memory)


def method_sizes(method: dict[str, Any]) -> str:
    """The initialiser of a MethodSizes (cortex_m/runtime/method_buffers.h)."""
    fields = ("operators", "slots", "arguments", "integers", "tensors", "tensor_pointers")
    return f"{{{', '.join(str(method['sizes'][field]) for field in fields)}}}"


def arena_spans(method: dict[str, Any], arena: str) -> tuple[list[str], str]:
    """Initialisers of the planned memories' spans, and of the span for unplanned inputs and outputs, in the array `arena`.

    The memories lie one behind the other, each aligned, and are arena_bytes() together. A memory of no bytes is null.
    """
    end = 0
    spans = []
    for size in [*method["planned_bytes"], unplanned_bytes(method)]:
        spans.append(f"{{{arena} + {end}, {size}}}" if size else "{nullptr, 0}")
        end += _align(size)
    return spans[:-1], spans[-1]


def config_header(method: dict[str, Any], verify_at: str = "build") -> str:
    """The text of model_config.h. verify_at: "build", or "init" for a check at each start, too."""
    total = arena_bytes(method)
    planned, unplanned = arena_spans(method, "arena")
    lines = [
        "// Generated by //cortex_m/runner:generate from the program that is embedded with it.",
        "#ifndef MODEL_CONFIG_H_",
        "#define MODEL_CONFIG_H_",
        "",
        '#include "cortex_m/runner/model_buffers.h"',
        "",
        "namespace cortex_m {",
        "namespace model {",
        "",
        f"constexpr char kMethod[] = {json.dumps(method['name'])};",
        f"constexpr MethodSizes kSizes = {method_sizes(method)};",
        f"constexpr size_t kArenaBytes = {total};",
        f"constexpr bool kVerifiedAtBuild = {str(verify_at == 'build').lower()};",
        "",
    ]
    if total:  # an array needs an element
        lines += [f"CORTEX_M_ARENA inline uint8_t arena[{total}];", ""]
    lines += ["inline Span<const Span<uint8_t>> Planned() {"]
    if planned:
        lines += [
            f"  static const Span<uint8_t> spans[] = {{{', '.join(planned)}}};",
            f"  return {{spans, {len(planned)}}};",
        ]
    else:
        lines += ["  return {};"]
    lines += [
        "}",
        f"inline Span<uint8_t> Unplanned() {{ return {unplanned}; }}",
        "",
        "}  // namespace model",
        "}  // namespace cortex_m",
        "",
        "#endif  // MODEL_CONFIG_H_",
        "",
    ]
    return "\n".join(lines)


def fingerprint(program: Path) -> str:
    """SHA-256 of a program's bytes, for the assembler source that embeds them: another program makes another source.

    The compiler's list of the files that it read (GCC's -MD) does not have what `.incbin` reads, and an incremental build
    believes that list: a source that names the program's path alone would not be assembled again.
    """
    return hashlib.sha256(program.read_bytes()).hexdigest()


def _align(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Generates what a runner of one program is built from.")
    parser.add_argument("--info", required=True, help="what program_info printed")
    parser.add_argument("--kernels", required=True, help="names of the available operators, one a line")
    parser.add_argument("--core", help="platform of //platforms that the runner is for; none for the host")
    parser.add_argument("--arena", help="memory of the board for the arena; if not given the first in which it fits")
    parser.add_argument("--report", help="the exporter's report, JSON")
    parser.add_argument("--method", help="name of the method; the first one if not given")
    parser.add_argument("--verify_at", default="build", choices=["build", "init"], help="when the program is verified")
    parser.add_argument("--name", default="the program", help="what error messages call the program")
    parser.add_argument("--config", required=True, help="model_config.h to write")
    parser.add_argument("--selected", required=True, help="list of operators to write")
    parser.add_argument("--placement", required=True, help="linker script fragment to write")
    parser.add_argument("--program", required=True, help="the .pte")
    parser.add_argument("--template", required=True, help="of the assembler source that embeds it")
    parser.add_argument("--assembly", required=True, help="assembler source to write")
    options = parser.parse_args(argv)
    info = json.loads(Path(options.info).read_text())
    report = json.loads(Path(options.report).read_text()) if options.report else None
    available = set(Path(options.kernels).read_text().split())
    try:
        core = CortexMTargetConfig.from_platform(options.core) if options.core else None
        if core is not None:
            check_target(info, core)
        method = method_of(info, options.method)
        check_kernels(method, available, report)
        placement = ""
        if core is not None:
            board = boards.load(boards.for_core(options.core))
            placement = place(board, arena_bytes(method), info["file_bytes"], options.arena).linker_script()
    except Refused as error:
        print(f"error: {options.name}: {error}", file=sys.stderr)
        return 1
    Path(options.config).write_text(config_header(method, options.verify_at))
    Path(options.selected).write_text("".join(name + "\n" for name in method["operators"]))
    Path(options.placement).write_text(placement)
    embed = Template(Path(options.template).read_text())
    Path(options.assembly).write_text(
        embed.substitute(program=options.program, fingerprint=fingerprint(Path(options.program)))
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
