"""From counts to cycles: each block's cycles by a model of the core, jumps, and memories that answer late."""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from cortex_m.boards import boards
from cortex_m.cycles import llvm, tables
from cortex_m.cycles.counts import Block, Segment

_V6M, _V7M, _V7EM = "thumbv6m-none-eabi", "thumbv7m-none-eabi", "thumbv7em-none-eabi"
_V8M, _V81M = "thumbv8m.main-none-eabi", "thumbv8.1m.main-none-eabi"


@dataclass(frozen=True)
class Core:
    """cpu: as LLVM calls it. branch: cycles of a branch; jump: what one that is taken costs beside that; bus: bytes of an access."""

    cpu: str
    triple: str
    branch: float
    jump: float
    bus: int = 4


# Jumps: M0, M0+, M3, M4, M23 after Arm's manuals (where they give a range, its middle); M7 and M85 predict branches; M33 and M55
# refill a short pipeline.
CORES = {
    "cortex_m0": Core("cortex-m0", _V6M, 1, 2),
    "cortex_m0plus": Core("cortex-m0plus", _V6M, 1, 1),
    "cortex_m3": Core("cortex-m3", _V7M, 1, 2),
    "cortex_m4": Core("cortex-m4", _V7EM, 1, 2),
    "cortex_m7": Core("cortex-m7", _V7EM, 1, 0, bus=8),
    "cortex_m23": Core("cortex-m23", "thumbv8m.base-none-eabi", 1, 1),
    "cortex_m33": Core("cortex-m33", _V8M, 1, 2),
    "cortex_m35p": Core("cortex-m33", _V8M, 1, 2),
    "cortex_m55": Core("cortex-m55", _V81M, 1, 2, bus=8),
    "cortex_m85": Core("cortex-m85", _V81M, 1, 0, bus=8),
}

_BRANCH = re.compile(
    r"(b|bl|bx|blx|bxns|blxns|cbz|cbnz|tbb|tbh|b(eq|ne|[cl][sceot]|mi|pl|vs|vc|h[is]|l[so]|g[et]))(\.[nw])?$"
)
_LOOP = re.compile(r"(wls|dls|le|lctp)(tp)?(\.(8|16|32|64))?$")


@dataclass(frozen=True)
class BlockEstimate:
    """cycles: of all executions in the segment."""

    block: Block
    lines: list[str]
    cycles: float


@dataclass(frozen=True)
class Estimate:
    """cycles: blocks and waits together. waits: cycles that the core stands still for memories."""

    cycles: float
    waits: float
    blocks: list[BlockEstimate]


def is_loop(line: str) -> bool:
    """Whether an instruction is of those for loops without overhead: it costs nothing, after the first time, nor does its jump."""
    return _LOOP.match(line.split(maxsplit=1)[0]) is not None


def plain(lines: Iterable[str]) -> list[str]:
    """The instructions without branches, and without an IT that has nothing behind it then."""
    kept = [line for line in lines if not is_loop(line) and not _BRANCH.match(line.split()[0])]
    return kept[:-1] if kept and re.match(r"it[te]*$", kept[-1].split()[0]) else kept


class Estimator:
    """Estimates for one ELF on one core. Raises MissingLlvm where LLVM is not installed."""

    def __init__(self, core: str, elf: str | os.PathLike[str]) -> None:
        self._name = core
        self._core = CORES[core]
        self._text = llvm.disassemble(elf, self._core.triple, self._core.cpu)
        self._addresses = sorted(self._text)
        self._memories = boards.load(boards.for_core(core))["memories"]
        self._cycles: dict[tuple[int, int], float] = {}

    def lines(self, block: Block) -> list[str]:
        """The block's instructions. ValueError if the ELF has others there."""
        first = bisect.bisect_left(self._addresses, block.address)
        addresses = self._addresses[first : first + block.instructions]
        if len(addresses) != block.instructions or addresses[0] != block.address:
            raise ValueError(f"the ELF has no {block.instructions} instructions at {block.address:#x}, and so many ran")
        return [self._text[a] for a in addresses]

    def _learn(self, blocks: Iterable[Block]) -> None:
        """Fills self._cycles, all new blocks by one call of llvm-mca."""
        new = {
            (b.address, b.instructions): self.lines(b)
            for b in blocks
            if (b.address, b.instructions) not in self._cycles
        }
        bodies = [plain(lines) for lines in new.values()]
        table = tables.TABLES.get(self._name)
        if table is not None:
            values = [tables.cycles(table, body) for body in bodies]
        else:
            values = llvm.cycles(bodies, self._core.triple, self._core.cpu)
        for (key, lines), value in zip(new.items(), values, strict=True):
            branches = sum(1 for line in lines if _BRANCH.match(line.split()[0]))
            self._cycles[key] = value + branches * self._core.branch

    def learn(self, segments: Iterable[Segment]) -> None:
        """Prepares many segments at once, which is faster than one by one."""
        self._learn({(b.address, b.instructions): b for segment in segments for b in segment.blocks}.values())

    def estimate(self, segment: Segment) -> Estimate:
        self._learn(segment.blocks)
        blocks = []
        for block in segment.blocks:
            lines = self.lines(block)
            jumps = 0 if is_loop(lines[-1]) else block.jumps
            cycles = block.executions * self._cycles[(block.address, block.instructions)] + jumps * self._core.jump
            blocks.append(BlockEstimate(block, lines, cycles))
        blocks.sort(key=lambda b: -b.cycles)
        waits = sum(self._wait(address, accesses, size) for address, (accesses, size) in segment.traffic.items())
        return Estimate(sum(b.cycles for b in blocks) + waits, waits, blocks)

    def _wait(self, address: int, accesses: int, size: int) -> float:
        """The simulator tells a vector's elements one by one; on the bus they are words of its width."""
        for memory in self._memories:
            if memory["origin"] <= address < memory["origin"] + memory["length"]:
                return memory.get("wait_percent", 0) / 100 * min(accesses, size / self._core.bus)
        return 0.0
