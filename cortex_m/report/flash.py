"""Flash of a runner's ELF, by what it is for: kernels, operators, runtime, start-up, the program, and each object file.

An ELF of Arm has mapping symbols ($t, $d: where code and data of an object file begin, ELF for the Arm Architecture,
section 5.5.5), and they stand behind the name of the file that they come from. So every byte of a section has its file, but for
the strings that the linker has merged: their symbols stand behind all files', and they are "texts".
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, replace
from pathlib import Path

# Sections of cortex_m/boards/linker.ld.template that are stored, and what is in them.
SECTIONS = {
    ".vectors": "vectors",
    ".text": "code",
    ".rodata": "constants",
    ".ARM.exidx": "unwinding",
    ".model": "program (.pte)",
    ".data": "initial data",
}
GROUPS = (
    "kernels",
    "operators",
    "runtime",
    "runner",
    "start-up and console",
    "C library",
    "texts",
    "other",
    "program (.pte)",
)
_BOARD = {"startup.c", "faults.c", "mpu.c", "semihosting.c", "ticks.c", "print.c"}
_RUNNER = {"embedded.cc", "files.cc", "profile.cc"}
_KERNEL_TABLE = "kernels.cc"
_FILE, _SYMTAB = 4, 2


@dataclass(frozen=True)
class Flash:
    """In bytes. sections: as in the ELF. groups: as in GROUPS. files: (object file's source, group, bytes), largest first."""

    sections: dict[str, int]
    groups: dict[str, int]
    files: tuple[tuple[str, str, int], ...]

    @property
    def total(self) -> int:
        return sum(self.sections.values())


@dataclass(frozen=True)
class _Symbol:
    name: str
    address: int
    kind: int
    section: int
    file: str  # of the last file symbol before it


def read_flash(elf: str | os.PathLike[str]) -> Flash:
    """Raises ValueError for a file that is no ELF of a Cortex-M, or has no symbols."""
    data = Path(elf).read_bytes()
    if data[:6] != b"\x7fELF\x01\x01":
        raise ValueError(f"{elf} is not a 32-bit little-endian ELF")
    try:
        return _read(data)
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"{elf} is a damaged ELF: {error}") from error


def _read(data: bytes) -> Flash:
    (table,) = struct.unpack_from("<I", data, 32)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 46)
    # sh_name, sh_type, sh_flags, sh_addr, sh_offset, sh_size, sh_link
    headers = [struct.unpack_from("<7I", data, table + i * entry_size) for i in range(count)]
    names = [_text(data, headers[names_index][4] + header[0]) for header in headers]
    symtab = next((header for header in headers if header[1] == _SYMTAB), None)
    if symtab is None:
        raise ValueError("it has no symbols")
    symbols = _symbols(data, symtab[4], symtab[5], headers[symtab[6]][4])
    merged = next((s.file for s in reversed(symbols) if s.file), "")
    symbols = [
        replace(s, file="texts") if s.file == merged and names[s.section] == ".rodata" else s
        for s in symbols
        if s.section < count
    ]
    groups_of = _groups(symbols)
    sections = {name: header[5] for name, header in zip(names, headers) if name in SECTIONS and header[5]}
    bytes_of: dict[str, int] = {}
    for index, (name, header) in enumerate(zip(names, headers)):
        if name in sections:
            for file, size in _owners(name, header[3], header[5], [s for s in symbols if s.section == index]):
                bytes_of[file] = bytes_of.get(file, 0) + size
    groups = dict.fromkeys(GROUPS, 0)
    files = []
    for file, size in bytes_of.items():
        group = file if file in GROUPS else groups_of.get(file, "other")
        groups[group] += size
        files.append((file, group, size))
    return Flash(sections, groups, tuple(sorted(files, key=lambda row: (-row[2], row[0]))))


def _text(data: bytes, begin: int) -> str:
    return data[begin : data.index(b"\0", begin)].decode()


def _symbols(data: bytes, offset: int, size: int, names: int) -> list[_Symbol]:
    found = []
    file = ""
    for at in range(offset, offset + size, 16):
        name, value, _, info, _, section = struct.unpack_from("<IIIBBH", data, at)
        kind = info & 15
        if kind == _FILE:
            file = _text(data, names + name)
        elif section:
            found.append(
                _Symbol(
                    _text(data, names + name),
                    value & ~1 if kind == 2 else value,
                    kind,
                    section,
                    file if not info >> 4 else "",
                )
            )
    return found


def _owners(section: str, begin: int, size: int, symbols: list[_Symbol]) -> list[tuple[str, int]]:
    """(file, bytes) of the stretches of a section."""
    if section == ".model":
        return [("program (.pte)", size)]
    marks = sorted({(s.address, s.file) for s in symbols if s.name[:2] in ("$t", "$d", "$a") and s.file})
    starts = [(begin, marks[0][1] if marks else "other"), *marks]
    ends = [address for address, _ in starts[1:]] + [begin + size]
    return [(file, end - start) for (start, file), end in zip(starts, ends) if end > start]


def _groups(symbols: list[_Symbol]) -> dict[str, str]:
    """The group of each file, by its name and the names of what it defines."""
    marks = sorted((s.section, s.address, s.file) for s in symbols if s.name[:2] in ("$t", "$d", "$a") and s.file)
    defined: dict[str, list[str]] = {file: [] for _, _, file in marks}
    position = 0
    for symbol in sorted((s for s in symbols if s.kind in (1, 2)), key=lambda s: (s.section, s.address)):
        while position + 1 < len(marks) and marks[position + 1][:2] <= (symbol.section, symbol.address):
            position += 1
        if marks and marks[position][0] == symbol.section:
            defined[marks[position][2]].append(symbol.name)
    return {file: _group(file, names) for file, names in defined.items()}


def _group(file: str, names: list[str]) -> str:
    if file in _BOARD:
        return "start-up and console"
    if file in _RUNNER:
        return "runner"
    if file == _KERNEL_TABLE or any(name.startswith(("_ZN8cortex_m3ops", "_ZN8cortex_m8portable")) for name in names):
        return "operators"
    if any(name.startswith(("arm_", "cortex_m_nn_")) for name in names):
        return "kernels"
    if any("8cortex_m" in name for name in names):
        return "runtime"
    return "C library" if names else "other"
