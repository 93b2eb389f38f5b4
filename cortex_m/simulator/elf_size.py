"""Flash and RAM of a bare-metal ELF, by what they hold.

    elf_size.py RUNNER.elf
    {"code": 30712, "constants": 4120, "model": 312064, "data": 16, "bss": 5220, "arena": 138240, "stack": 16384, ...}

The sections are those of cortex_m/boards/linker.ld.template. `flash` is what must be stored: code, constants, model and
the initial values of data. `ram` is data, bss, arena and stack. All in bytes, alignment between sections not counted.
"""

from __future__ import annotations

import argparse
import bisect
import ctypes
import functools
import json
import os
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

_KEY_OF_SECTION = {
    ".vectors": "code",
    ".text": "code",
    ".ARM.exidx": "code",
    ".rodata": "constants",
    ".model": "model",
    ".data": "data",
    ".bss": "bss",
    ".arena": "arena",
    ".stack": "stack",
}
_SHF_ALLOC = 2
_SHT_SYMTAB = 2
_FUNCTION = 2  # STT_FUNC
_FUNCTION_OR_OBJECT = (1, _FUNCTION)  # STT_OBJECT


@dataclass(frozen=True)
class _Section:
    """A header of the ELF's table of sections, with its name."""

    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int


def _read(elf: str | os.PathLike[str]) -> tuple[bytes, list[_Section]]:
    """The file and its sections. Raises ValueError for what is no ELF of a Cortex-M."""
    data = Path(elf).read_bytes()
    if data[:6] != b"\x7fELF\x01\x01":
        raise ValueError(f"{elf} is not a 32-bit little-endian ELF")
    try:
        (table_offset,) = struct.unpack_from("<I", data, 32)
        entry_size, count, names_index = struct.unpack_from("<HHH", data, 46)
        # sh_name, sh_type, sh_flags, sh_addr, sh_offset, sh_size, sh_link
        headers = [struct.unpack_from("<7I", data, table_offset + i * entry_size) for i in range(count)]
        names = headers[names_index][4]
        return data, [
            _Section(_text(data, names + name), kind, flags, offset, size, link)
            for name, kind, flags, _, offset, size, link in headers
        ]
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"{elf} is a damaged ELF: {error}") from error


def _text(data: bytes, begin: int) -> str:
    return data[begin : data.index(b"\0", begin)].decode()


def sections(elf: str | os.PathLike[str]) -> dict[str, int]:
    """Sizes in bytes of the sections that occupy memory of the device, by name. Raises ValueError for another file."""
    return {section.name: section.size for section in _read(elf)[1] if section.flags & _SHF_ALLOC and section.size}


def symbols(elf: str | os.PathLike[str]) -> dict[str, int]:
    """Bytes of flash of each function and constant, by its name in C++ (`plain_name`); those of one name, the instances of a
    template for example, added up. The model is none of them.

    What has no symbol (padding, merged strings, veneers) is missing: the sum is less than code and constants. A stripped ELF
    gives an empty dict. Raises ValueError for another file.
    """
    data, table = _read(elf)
    places: dict[
        tuple[int, int], tuple[str, int]
    ] = {}  # a place with several names counts once, by the first in the alphabet
    try:
        for symtab in table:
            if symtab.kind != _SHT_SYMTAB:
                continue
            for at in range(symtab.offset, symtab.offset + symtab.size, 16):
                name, value, size, info, _, index = struct.unpack_from("<IIIBBH", data, at)
                if not size or info & 15 not in _FUNCTION_OR_OBJECT or index >= len(table):
                    continue
                if _KEY_OF_SECTION.get(table[index].name) in ("code", "constants", "data"):
                    place = index, value & ~1  # without the bit that says Thumb
                    text = _text(data, table[symtab.link].offset + name)
                    places[place] = min(places.get(place, (text, size)), (text, size))
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"{elf} is a damaged ELF: {error}") from error
    sizes: dict[str, int] = {}
    for text, size in places.values():
        text = plain_name(demangle(text))
        sizes[text] = sizes.get(text, 0) + size
    return dict(sorted(sizes.items()))


class Functions:
    """The functions of an ELF, by name and by address."""

    def __init__(self, elf: str | os.PathLike[str]) -> None:
        """Raises ValueError for what is no ELF of a Cortex-M."""
        self._of: dict[str, int] = {}
        data, table = _read(elf)
        for symtab in table:
            if symtab.kind != _SHT_SYMTAB:
                continue
            for at in range(symtab.offset, symtab.offset + symtab.size, 16):
                name, value, _, info = struct.unpack_from("<IIIB", data, at)
                if info & 15 == _FUNCTION:
                    self._of[_text(data, table[symtab.link].offset + name)] = (
                        value & ~1
                    )  # without the bit that says Thumb
        self._sorted = sorted((address, name) for name, address in self._of.items())

    def address(self, name: str) -> int | None:
        """Of the first instruction of a function, by its symbol; None if there is none."""
        return self._of.get(name)

    def at(self, address: int) -> str:
        """Name (`plain_name`) of the function that an address lies in; "" before the first."""
        place = bisect.bisect_right(self._sorted, (address, "\U0010ffff"))
        return plain_name(demangle(self._sorted[place - 1][1])) if place else ""


def compiler(elf: str | os.PathLike[str]) -> str:
    """What compiled most of the ELF, as its .comment says: "GCC: (15:12.2.rel1-1) 12.2.1 20221205"; "" if it does not."""
    data, table = _read(elf)
    for section in table:
        if section.name == ".comment":
            return data[section.offset : section.offset + section.size].split(b"\0")[0].decode()
    return ""


def demangle(name: str) -> str:
    """The C++ name of a symbol; the symbol where there is no libstdc++ or it is no such name."""
    library = _libstdcpp()
    if library is None or not name.startswith("_Z"):
        return name
    status = ctypes.c_int()
    text = library.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if status.value != 0:
        return name
    try:
        return ctypes.string_at(text).decode()
    finally:
        _free(text)


def plain_name(name: str) -> str:
    """A demangled name without arguments, return type, contents of <> and what GCC appends to clones; a lambda is its function.

    "cortex_m::Status cortex_m::(anonymous namespace)::Find<true>(int) [clone .isra.0]" is "cortex_m::(anonymous)::Find<>".
    """
    text = name.replace("(anonymous namespace)", "{anonymous}").split(" [clone")[0]
    kept, depth = [], 0
    for character in text:
        depth -= character == ">"
        if depth == 0:
            kept.append(character)
        depth += character == "<"
    text = "".join(kept).split("(")[0]
    return text.split(" ")[-1].replace("{anonymous}", "(anonymous)")


@functools.cache
def _libstdcpp() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return None
    library.__cxa_demangle.restype = ctypes.c_void_p
    return library


def _free(address: int) -> None:
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    libc.free(address)


def report(elf: str | os.PathLike[str]) -> dict[str, int]:
    """The sizes by use, with `flash` and `ram`. Raises ValueError for a section that it cannot place."""
    result = dict.fromkeys(("code", "constants", "model", "data", "bss", "arena", "stack"), 0)
    for name, size in sections(elf).items():
        if name not in _KEY_OF_SECTION:
            raise ValueError(f"{elf} has a section {name} that the linker script does not know")
        result[_KEY_OF_SECTION[name]] += size
    result["flash"] = sum(result[key] for key in ("code", "constants", "model", "data"))
    result["ram"] = sum(result[key] for key in ("data", "bss", "arena", "stack"))
    return result


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Prints flash and RAM of a bare-metal ELF as JSON.")
    parser.add_argument("elf")
    options = parser.parse_args(argv)
    try:
        print(json.dumps(report(options.elf)))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
