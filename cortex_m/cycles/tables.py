"""Cycles of instructions of the cores that LLVM has no model of, after Arm's technical reference manuals.

M0, M0+, M3 and M23 issue one instruction after the other, so a block costs the sum of its instructions. Multiplications are those of
the fast multiplier where the core may have either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_REGISTERS = re.compile(r"\{(.*)\}")


@dataclass(frozen=True)
class Table:
    """load, store: of one value. multiple: of a load or store of several, beside one a register. long_multiply: 32x32 to 64 bits."""

    load: int
    store: int
    multiple: int
    long_multiply: int
    multiply_accumulate: int
    divide: int
    consecutive_load: int  # a load behind a load, where the core overlaps them


TABLES = {
    "cortex_m0": Table(2, 2, 1, 1, 1, 1, 2),
    "cortex_m0plus": Table(2, 2, 1, 1, 1, 1, 2),
    "cortex_m3": Table(2, 1, 1, 4, 2, 7, 1),
    "cortex_m23": Table(2, 2, 1, 1, 1, 17, 2),
}


def _registers(operands: str) -> int:
    """How many registers a list such as {r4-r7, lr} has."""
    found = _REGISTERS.search(operands)
    total = 0
    for part in found[1].split(",") if found else []:
        first, _, final = part.strip().partition("-")
        total += int(final[1:]) - int(first[1:]) + 1 if final else 1
    return total


def cycles(table: Table, block: Sequence[str]) -> float:
    """Of one execution of the instructions, branches left out."""
    total, loaded = 0, False
    for line in block:
        name, _, operands = line.partition(" ")
        name = name.split(".")[0]
        cost, is_load = 1, False
        if name.startswith(("ldm", "stm", "push", "pop")):
            cost = table.multiple + _registers(operands)
        elif name.startswith("ldrd"):
            cost = 1 + table.load
        elif name.startswith("strd"):
            cost = 1 + table.store
        elif name.startswith("ldr"):
            cost, is_load = (table.consecutive_load if loaded else table.load), True
        elif name.startswith("str"):
            cost = table.store
        elif name.startswith(("smlal", "umlal")):
            cost = table.long_multiply + 1
        elif name.startswith(("smull", "umull")):
            cost = table.long_multiply
        elif name.startswith(("mla", "mls")):
            cost = table.multiply_accumulate
        elif name.startswith(("sdiv", "udiv")):
            cost = table.divide
        total += cost
        loaded = is_load
    return float(total)
