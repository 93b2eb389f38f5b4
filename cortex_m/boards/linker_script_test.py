"""The generated linker scripts, by linking small programs with them and reading where everything went."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cortex_m.boards import boards

_SCRIPTS = Path("cortex_m/boards").resolve()
_GCC = "arm-none-eabi-gcc"

pytestmark = pytest.mark.parametrize("board", boards.names())

_MAIN = """
#include <stdint.h>
void Reset_Handler(void);
__attribute__((section(".vectors"), used)) void (*const vectors[])(void) = {Reset_Handler};
__attribute__((section(".model"), used)) const uint8_t model[33] = {1};
__attribute__((section(".arena"))) uint8_t arena[ARENA_BYTES];
const uint8_t* volatile constant = model;
uint32_t initialised = 5;
uint32_t zeroed[10];
"""


def _link(board, folder, script="default", arena_bytes=1000, body="zeroed[0] = initialised + arena[3];"):
    """The ELF and, if linking failed, the linker's words."""
    source = folder / "main.c"
    source.write_text(_MAIN + f"void Reset_Handler(void) {{ {body} }}\n")
    elf = folder / "main.elf"
    command = [
        *(_GCC, "-mcpu=cortex-m4", "-mthumb", "-Os", f"-DARENA_BYTES={arena_bytes}", "-nostartfiles"),
        *(
            "-g3",
            "-Wl,--gc-sections",
            "-Wl,--orphan-handling=error",
            "-T",
            _SCRIPTS / f"{board}_{script}.ld",
            source,
            "-o",
            elf,
        ),
    ]
    assert shutil.which(_GCC), f"{_GCC} is not on PATH"
    process = subprocess.run(command, capture_output=True, check=False, text=True)
    return elf, "" if process.returncode == 0 else process.stderr


def _sections(elf):
    """Name -> (address, size)."""
    output = subprocess.run(["arm-none-eabi-objdump", "-h", elf], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^ *\d+ (\.\w+) +([0-9a-f]{8})  ([0-9a-f]{8})", output, re.MULTILINE)
    return {name: (int(address, 16), int(size, 16)) for name, size, address in rows}


def _inside(board, name, address, size):
    memory = boards.memory(boards.load(board), name)
    return memory["origin"] <= address and address + size <= memory["origin"] + memory["length"]


def test_sections_lie_in_their_memories(board, tmp_path):
    elf, error = _link(board, tmp_path)
    assert not error
    table = boards.load(board)
    sections = _sections(elf)
    for section, memory in [
        (".vectors", table["code"]),
        (".text", table["code"]),
        (".model", table["model"][0]),
        (".stack", table["data"]),
        (".data", table["data"]),
        (".bss", table["data"]),
        (".arena", table["arena"][0]),
    ]:
        assert _inside(board, memory, *sections[section]), section
    assert sections[".arena"][1] == 1000
    assert sections[".model"][0] % 16 == 0
    assert sections[".arena"][0] % 16 == 0


def test_vectors_and_stack_are_at_the_bottom_of_their_memories(board, tmp_path):
    elf, _ = _link(board, tmp_path)
    table = boards.load(board)
    sections = _sections(elf)
    assert sections[".vectors"][0] == boards.memory(table, table["code"])["origin"]
    assert sections[".stack"] == (boards.memory(table, table["data"])["origin"], table["stack_bytes"])


def test_no_code_shares_a_page_with_the_guard_of_null_pointers(board, tmp_path):
    """QEMU would run such code a thousand times slower (linker_script.bzl)."""
    elf, _ = _link(board, tmp_path)
    sections = _sections(elf)
    if sections[".vectors"][0] == 0:
        assert sections[".text"][0] >= 1024
    assert sections[".vectors"][1] in (256, 512, 1024)


def test_places_and_stack_can_be_chosen(board, tmp_path):
    elf, error = _link(board, tmp_path, "chosen", arena_bytes=8 << 20)
    assert not error
    table = boards.load(board)
    sections = _sections(elf)
    assert _inside(board, table["arena"][-1], *sections[".arena"])
    assert _inside(board, table["model"][-1], *sections[".model"])
    assert sections[".stack"][1] == 4096


def test_arena_that_is_too_large_does_not_link(board, tmp_path):
    table = boards.load(board)
    first = boards.memory(table, table["arena"][0])
    _, error = _link(board, tmp_path, arena_bytes=first["length"])
    assert f"region `{first['name']}' overflowed" in error


@pytest.mark.parametrize("call", ["malloc(8)", "calloc(2, 4)", "realloc(zeroed, 8)"])
def test_heap_does_not_link(board, tmp_path, call):
    name = call.split("(")[0]
    _, error = _link(board, tmp_path, body=f"void* {name}(); constant = {call};")
    assert "a heap is linked in" in error or "undefined reference to `_sbrk'" in error


def test_a_section_that_the_script_does_not_place_is_named(board, tmp_path):
    _, error = _link(
        board, tmp_path, body='static __attribute__((section(".dtcn"))) int misspelt = 1; zeroed[0] = misspelt++;'
    )
    assert "unplaced orphan section `.dtcn' from" in error
    elf, error = _link(board, tmp_path, body='static __attribute__((section(".state"))) int kept; zeroed[0] = kept++;')
    assert not error
    assert _inside(board, boards.load(board)["data"], *_sections(elf)[".state"])
