"""What a cortex_m_test says of a runner that is too large for its part, from figures made up here."""

import pytest

from cortex_m.parts import parts
from cortex_m.test.budgets import check_part
from cortex_m.test.figures import Figures

KIB = 1024


def figures(code: int, model: int, arena: int, data: int) -> Figures:
    flash = {"code": code, "constants": 0, "model": model, "data": 0}
    ram = {"arena": arena, "method state": 0, "other data": data, "stack, as deep as used": 0}
    return Figures("gcc 12", flash, {}, ram, 0, 0, {})


@pytest.mark.parametrize("over", [0, 1])
def test_one_byte_decides(over):
    # 64 KiB of flash and 20 KiB of RAM.
    assert parts.load("stm32f103c8").flash_bytes == 64 * KIB
    found = check_part("stm32f103c8", "cortex_m3", ["cortex_m3"], figures(40 * KIB, 24 * KIB + over, 16 * KIB, 4 * KIB))
    assert found == (
        [
            "it does not fit stm32f103c8: 1 bytes of flash too little, the model takes 24,577, code and constants 40,960 of 65,536"
        ]
        if over
        else []
    )
    found = check_part("stm32f103c8", "cortex_m3", ["cortex_m3"], figures(0, 0, 16 * KIB, 4 * KIB + over))
    assert found == (
        [
            "it does not fit stm32f103c8: 1 bytes of RAM too little, the arena takes 16,384 in one piece, data and stack 4,097 of 20,480"
        ]
        if over
        else []
    )
