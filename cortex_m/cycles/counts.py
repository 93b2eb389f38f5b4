"""How often each block of a program runs, and what it reads and writes, on the simulator. blocks.c counts."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cortex_m import simulator
from cortex_m.boards import boards
from cortex_m.simulator import elf_size

# A program passes it where it begins and ends to measure.
MARK = "platform_instructions"
_PAGE_BITS = 19  # blocks.c: kPageBits
_FIRST_QEMU_WITH_VERSION_2 = 9


@dataclass(frozen=True)
class Block:
    """A stretch of code without a jump into or out of its middle. jumps: how often control did not go on behind its end."""

    address: int
    instructions: int
    executions: int
    jumps: int


@dataclass
class Segment:
    """What ran between two passes of the mark. traffic: by address of a stretch of 2^19 bytes, (accesses, bytes)."""

    blocks: list[Block] = field(default_factory=list)
    traffic: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def instructions(self) -> int:
        return sum(block.instructions * block.executions for block in self.blocks)


def count(
    core: str,
    elf: str | os.PathLike[str],
    args: Sequence[str] = (),
    cwd: str | os.PathLike[str] | None = None,
    timeout: float = 600.0,
) -> tuple[simulator.Result, list[Segment]]:
    """Runs `elf` on the core's board: how it ended, and its segments in order, the first from reset on.

    Raises what simulator.run raises, and FileNotFoundError for a plugin that is not built.
    """
    mark = elf_size.Functions(elf).address(MARK)
    with tempfile.TemporaryDirectory() as folder:
        counted = Path(folder) / "counts.txt"
        option = f"{plugin()},out={counted}" + ("" if mark is None else f",split={mark:#x}")
        result = simulator.run(boards.for_core(core), elf, args, cwd, timeout, plugin=option)
        return result, read(counted.read_text())


def read(text: str) -> list[Segment]:
    """The segments of a file that blocks.c wrote."""
    segments: list[Segment] = []
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "segment":
            segments.append(Segment())
        elif kind == "block":
            segments[-1].blocks.append(Block(int(words[0], 16), *map(int, words[1:])))
        else:
            segments[-1].traffic[int(words[0], 16) << _PAGE_BITS] = (int(words[1]), int(words[2]))
    return segments


def measured(segments: list[Segment]) -> list[Segment]:
    """Those between the two passes of the mark that begin and end a measurement: loading and inference of a runner."""
    return segments[1::2]


def plugin() -> Path:
    """The plugin for the QEMU that is installed. FileNotFoundError says how to build it."""
    version = subprocess.run(["qemu-system-arm", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"version (\d+)\.", version)
    if found is None:
        raise ValueError(f"qemu-system-arm does not say its version: {version!r}")
    name = f"libblocks_v{2 if int(found[1]) >= _FIRST_QEMU_WITH_VERSION_2 else 1}.so"
    here = Path(__file__).absolute().parent
    paths = [here / name, here.parent.parent / "bazel-bin" / "cortex_m" / "cycles" / name]
    for path in paths:
        if path.is_file():
            return path
    raise FileNotFoundError(f"the simulator's plugin is not built: bazel build //cortex_m/cycles:{name}")
