"""The seal of a program."""

import binascii

import pytest

from cortex_m.seal import SEAL_BYTES, is_sealed, seal, unsealed

PROGRAM = bytes(range(200))


def test_seal_is_magic_and_crc_of_the_program():
    assert seal(PROGRAM) == PROGRAM + b"cm-seal1" + binascii.crc32(PROGRAM).to_bytes(4, "little")
    assert len(seal(PROGRAM)) == len(PROGRAM) + SEAL_BYTES


def test_sealing_twice_is_sealing_once():
    assert seal(seal(PROGRAM)) == seal(PROGRAM)


def test_unsealed_gives_the_program_back():
    assert unsealed(seal(PROGRAM)) == PROGRAM
    assert unsealed(PROGRAM) == PROGRAM and not is_sealed(PROGRAM)


@pytest.mark.parametrize("position", [0, 99, 199, 208, 211])
def test_damage_is_refused(position):
    damaged = bytearray(seal(PROGRAM))
    damaged[position] ^= 4
    with pytest.raises(ValueError, match="checksum is not that of its bytes"):
        unsealed(bytes(damaged))
