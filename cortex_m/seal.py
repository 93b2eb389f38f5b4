"""The seal of a .pte: target and checksum behind the program, which the device checks before it uses a byte.

    sealed = seal(program, CortexMTargetConfig(CortexM.M55))    # executorch's own tools read it as before
    unsealed(sealed) == program
    target_of(sealed) -> CortexMTargetConfig(CortexM.M55)

A flipped bit in a weight leaves a valid program of another network; the seal is how the runtime refuses it, and a program
that was exported for other cores. The form is that of cortex_m/runtime/seal.h, 32 bytes: the target's name, 16 bytes filled
up with zeros; the numbers of the program's instruction set and of its core's widest, 255 for any; two zeros; b"cm-seal2";
and the CRC-32 of all bytes before the last twelve, little-endian.
"""

import struct
import zlib

from cortex_m.target_config import Backend, CortexMTargetConfig

_OLD_MAGIC = b"cm-seal1"
_MAGIC = b"cm-seal2"
_TARGET = struct.Struct("<16sBB2x")
_CHECKED = struct.Struct("<8sI")
_ANY = 255
SEAL_BYTES = _TARGET.size + _CHECKED.size


def is_sealed(program: bytes) -> bool:
    """Whether there is a seal at the end, right or wrong."""
    return program[-_CHECKED.size : -4] in (_MAGIC, _OLD_MAGIC)


def seal(program: bytes, target: CortexMTargetConfig) -> bytes:
    """The program with a seal. Raises ValueError for one that has a seal already."""
    if is_sealed(program):
        raise ValueError("the program has a seal already")
    isa = core = _ANY
    if target.cpu is not None:
        isa, core = target.backend, CortexMTargetConfig(target.cpu).backend
    content = program + _TARGET.pack(target.target_string.encode(), isa, core)
    return content + _CHECKED.pack(_MAGIC, zlib.crc32(content))


def unsealed(program: bytes) -> bytes:
    """The program without its seal, if it has one. Raises ValueError if the seal is not that of these bytes."""
    if not is_sealed(program):
        return program
    _check(program)
    return program[:-SEAL_BYTES]


def target_of(program: bytes) -> CortexMTargetConfig | None:
    """What a sealed program was exported for; None without a seal. Raises ValueError if the seal is not right."""
    if not is_sealed(program):
        return None
    _check(program)
    name, isa, core = _TARGET.unpack(program[-SEAL_BYTES : -_CHECKED.size])
    config = CortexMTargetConfig.from_target_string(name.rstrip(b"\0").decode())
    return config if isa == core else CortexMTargetConfig(config.cpu, Backend(isa))


def _check(program: bytes) -> None:
    magic, checksum = _CHECKED.unpack(program[-_CHECKED.size :])
    if magic == _OLD_MAGIC:
        raise ValueError("the program was sealed by an older exporter, which named no target: export it again")
    if len(program) < SEAL_BYTES or zlib.crc32(program[: -_CHECKED.size]) != checksum:
        raise ValueError("the program is damaged: its checksum is not that of its bytes")
