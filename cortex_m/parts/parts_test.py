"""The table of parts, and what fits into them, by sums done by hand."""

from collections import Counter

import pytest

from cortex_m.parts import parts
from cortex_m.parts.parts import KIB, Part
from cortex_m.target_config import core_table

SMALL = Part("small", "", "cortex_m4", 48, {"flash": 64 * KIB}, {"SRAM": 16 * KIB}, "")
SPLIT = Part("split", "", "cortex_m7", 48, {"flash": 64 * KIB}, {"TCM": 16 * KIB, "SRAM": 32 * KIB}, "")


def test_the_table_is_whole():
    table = parts.table()
    assert len(table) >= 50
    assert Counter(part.core for part in table.values()).keys() >= {*core_table()} - {"cortex_m23", "cortex_m35p"}
    assert {part.vendor for part in table.values()} >= {
        "ST",
        "Nordic",
        "NXP",
        "Renesas",
        "Infineon",
        "Microchip",
        "Alif",
    }
    for part in table.values():
        assert part.source and part.name == part.name.lower() and 8 <= part.mhz <= 1000
        assert 8 * KIB <= part.ram_bytes <= 16 << 20 and 32 * KIB <= part.flash_bytes <= 32 << 20


def test_some_parts_against_their_documents():
    l4r5 = parts.load("stm32l4r5zi")
    assert (l4r5.core, l4r5.mhz, l4r5.flash_bytes, l4r5.ram_bytes) == ("cortex_m4", 120, 2 << 20, 640 * KIB)
    nrf = parts.load("nrf52840")
    assert (nrf.core, nrf.mhz, nrf.flash_bytes, nrf.ram_bytes) == ("cortex_m4", 64, 1 << 20, 256 * KIB)
    assert parts.load("alif_e3_hp").ram == {"DTCM": 1 << 20, "SRAM0": 4 << 20, "SRAM1": 2560 * KIB}


def test_names_are_found_by_their_order_codes():
    assert parts.load("STM32L4R5ZIT6U").name == "stm32l4r5zi"
    with pytest.raises(parts.UnknownPart, match="there is no part stm32l4r9 in parts.yaml; alike are stm32l4r5zi, "):
        parts.load("stm32l4r9")
    with pytest.raises(parts.UnknownPart, match="there is no part z80 in parts.yaml, which has "):
        parts.load("z80")


@pytest.mark.parametrize("over", [0, 1])
def test_flash_holds_the_program_and_code(over):
    fit = parts.fit(SMALL, 40 * KIB + over, 0)
    assert fit.missing == ({"flash": 1} if over else {})
    assert fit.code_bytes == 24 * KIB - over and fit.program == (None if over else "flash")


@pytest.mark.parametrize("over", [0, 1])
def test_ram_holds_arena_and_data(over):
    fit = parts.fit(SMALL, 0, 10 * KIB + over)
    assert fit.missing == ({"RAM": 1} if over else {})
    assert fit.data_bytes == 6 * KIB - over and fit.arena == (None if over else "SRAM")


@pytest.mark.parametrize(
    ("arena", "memory", "missing"),
    [(16 * KIB, "TCM", {}), (16 * KIB + 1, "SRAM", {}), (32 * KIB, "SRAM", {}), (32 * KIB + 1, None, {"RAM": 1})],
)
def test_the_arena_is_in_one_piece_and_data_beside_it(arena, memory, missing):
    fit = parts.fit(SPLIT, 0, arena)
    assert (fit.arena, fit.missing) == (memory, missing)


def test_what_is_linked_takes_the_place_of_the_reserves():
    assert parts.fit(SMALL, 40 * KIB, 10 * KIB, code_bytes=24 * KIB, data_bytes=6 * KIB).missing == {}
    assert parts.fit(SMALL, 40 * KIB, 10 * KIB, code_bytes=24 * KIB + 1, data_bytes=6 * KIB + 2).missing == {
        "flash": 1,
        "RAM": 2,
    }


def test_both_can_be_missing():
    assert parts.fit(SMALL, 1 << 20, 1 << 20).missing == {"flash": (1 << 20) - 40 * KIB, "RAM": (1 << 20) - 10 * KIB}
