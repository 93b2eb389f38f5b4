"""The seal of a program."""

import binascii

import pytest

from cortex_m.seal import SEAL_BYTES, is_sealed, seal, target_of, unsealed
from cortex_m.target_config import Backend, CortexM, CortexMTargetConfig

PROGRAM = bytes(range(200))
M55 = CortexMTargetConfig(CortexM.M55)


def test_seal_is_target_magic_and_crc():
    content = PROGRAM + b"cortex-m55\0\0\0\0\0\0" + bytes([0, 0, 0, 0])
    assert seal(PROGRAM, M55) == content + b"cm-seal2" + binascii.crc32(content).to_bytes(4, "little")
    assert len(seal(PROGRAM, M55)) == len(PROGRAM) + SEAL_BYTES


@pytest.mark.parametrize("cpu", [None, *CortexM])
def test_target_is_read_back(cpu):
    config = CortexMTargetConfig(cpu)
    assert target_of(seal(PROGRAM, config)) == config
    for isa in Backend:
        if cpu is not None and isa > config.backend:
            narrow = CortexMTargetConfig(cpu, isa)
            assert target_of(seal(PROGRAM, narrow)) == narrow


def test_what_has_no_seal_has_no_target():
    assert target_of(PROGRAM) is None
    assert unsealed(PROGRAM) == PROGRAM and not is_sealed(PROGRAM)


def test_a_second_seal_is_refused():
    with pytest.raises(ValueError, match="has a seal already"):
        seal(seal(PROGRAM, M55), CortexMTargetConfig.any())


def test_unsealed_gives_the_program_back():
    assert unsealed(seal(PROGRAM, M55)) == PROGRAM


@pytest.mark.parametrize("position", [0, 99, 199, 200, 209, 215, 217, 219, 228, 231])
def test_damage_is_refused(position):
    damaged = bytearray(seal(PROGRAM, M55))
    damaged[position] ^= 4
    for read in (unsealed, target_of):
        with pytest.raises(ValueError, match="checksum is not that of its bytes"):
            read(bytes(damaged))


def test_the_first_form_of_the_seal_is_refused():
    old = PROGRAM + b"cm-seal1" + binascii.crc32(PROGRAM).to_bytes(4, "little")
    for read in (unsealed, target_of):
        with pytest.raises(ValueError, match="older exporter, which named no target: export it again"):
            read(old)
