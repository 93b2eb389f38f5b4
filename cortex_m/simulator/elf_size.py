"""Flash and RAM of a bare-metal ELF, by what they hold.

    elf_size.py RUNNER.elf
    {"code": 30712, "constants": 4120, "model": 312064, "data": 16, "bss": 5220, "arena": 138240, "stack": 16384, ...}

The sections are those of cortex_m/boards/linker.ld.template. `flash` is what must be stored: code, constants, model and
the initial values of data. `ram` is data, bss, arena and stack. All in bytes, alignment between sections not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import sys
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


def sections(elf: str | os.PathLike[str]) -> dict[str, int]:
    """Sizes in bytes of the sections that occupy memory of the device, by name. Raises ValueError for another file."""
    data = Path(elf).read_bytes()
    if data[:6] != b"\x7fELF\x01\x01":
        raise ValueError(f"{elf} is not a 32-bit little-endian ELF")
    try:
        (table_offset,) = struct.unpack_from("<I", data, 32)
        entry_size, count, names_index = struct.unpack_from("<HHH", data, 46)
        # sh_name, sh_type, sh_flags, sh_addr, sh_offset, sh_size
        headers = [struct.unpack_from("<6I", data, table_offset + i * entry_size) for i in range(count)]
        names_offset = headers[names_index][4]
        sizes = {}
        for name, _, flags, _, _, size in headers:
            if flags & _SHF_ALLOC and size:
                begin = names_offset + name
                sizes[data[begin : data.index(b"\0", begin)].decode()] = size
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"{elf} is a damaged ELF: {error}") from error
    return sizes


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
