"""Microcontrollers that can be bought, and whether a program fits into one.

    part = parts.load("stm32l4r5zi")
    fit = parts.fit(part, program_bytes=54_240, arena_bytes=20_464)
    fit.missing            # {} if it fits, else {"RAM": bytes}, {"flash": bytes}
    fit.code_bytes         # what is left of flash for the firmware's code

The table is parts.yaml. Sizes are exact, what a firmware needs beside the model is not known before it is linked: see RESERVES.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from cortex_m.target_config import core_table

KIB = 1024
# Code and constants of the runtime and the kernels of one network, compiled for size; RAM for stack and the runtime's state. What
# //examples/firmware:small and the models' runners take (docs/firmware.md), rounded up.
CODE_RESERVE = 24 * KIB
DATA_RESERVE = 6 * KIB


class UnknownPart(ValueError):
    """There is no such part; the message names those that are alike."""


@dataclass(frozen=True)
class Part:
    """One row of the table. core: platform name. flash, ram: bytes by the memory's name, the preferred one first."""

    name: str
    vendor: str
    core: str
    mhz: int
    flash: dict[str, int]
    ram: dict[str, int]
    source: str

    @property
    def flash_bytes(self) -> int:
        return sum(self.flash.values())

    @property
    def ram_bytes(self) -> int:
        return sum(self.ram.values())


@lru_cache(maxsize=1)
def table() -> dict[str, Part]:
    """All parts by name. Raises ValueError for a row that makes no sense."""
    rows = yaml.safe_load(Path(__file__).with_name("parts.yaml").read_text())
    found: dict[str, Part] = {}
    for row in rows:
        sizes = {kind: {name: kib * KIB for name, kib in row[kind].items()} for kind in ("flash", "ram")}
        part = Part(**(row | sizes))
        if (
            part.name in found
            or part.core not in core_table()
            or min(*sizes["flash"].values(), *sizes["ram"].values(), 1) < 1
        ):
            raise ValueError(f"parts.yaml: the row of {part.name} is a second one, or its core or sizes make no sense")
        found[part.name] = part
    return found


def load(name: str) -> Part:
    """The part of that name; case does not matter, nor what an order code has behind it. Raises UnknownPart."""
    wanted = name.lower()
    matches = [part for part in table().values() if wanted == part.name or wanted.startswith(part.name)]
    if matches:
        return max(matches, key=lambda part: len(part.name))
    alike = difflib.get_close_matches(wanted, table(), n=5, cutoff=0.5)
    raise UnknownPart(
        f"there is no part {name} in parts.yaml"
        + (f"; alike are {', '.join(alike)}" if alike else f", which has {len(table())}")
    )


@dataclass(frozen=True)
class PartFit:
    """A program in a part. Sizes in bytes.

    missing: what is too little, by "flash" and "RAM"; empty if the program fits.
    program, arena: the memories that they go into; None where there is none.
    code_bytes: what is left of flash for code and constants; negative where the program itself does not fit.
    data_bytes: what is left of RAM for stack and data.
    """

    part: Part
    missing: dict[str, int]
    program: str | None
    arena: str | None
    code_bytes: int
    data_bytes: int


def fit(
    part: Part, program_bytes: int, arena_bytes: int, code_bytes: int = CODE_RESERVE, data_bytes: int = DATA_RESERVE
) -> PartFit:
    """Places a program and its arena, each in one piece and in the first memory that has room.

    code_bytes, data_bytes: what a firmware needs beside them, in the same memory or in another.
    """
    flash = _lacking(part.flash, program_bytes, code_bytes)
    ram = _lacking(part.ram, arena_bytes, data_bytes)
    program, arena = _first(flash), _first(ram)
    missing = {
        kind: min(lacking.values()) for kind, lacking in {"flash": flash, "RAM": ram}.items() if _first(lacking) is None
    }
    return PartFit(
        part, missing, program, arena, part.flash_bytes - program_bytes, part.ram_bytes - arena_bytes
    )  # fmt: skip


def _lacking(memories: dict[str, int], size: int, reserve: int) -> dict[str, int]:
    """How many bytes each memory is too small by for `size`, and for `reserve` too where no other one has room for that."""
    found = {}
    for name, length in memories.items():
        beside = any(other >= reserve for known, other in memories.items() if known != name)
        found[name] = size + (0 if beside else reserve) - length
    return found


def _first(lacking: dict[str, int]) -> str | None:
    return next((name for name, bytes_ in lacking.items() if bytes_ <= 0), None)
