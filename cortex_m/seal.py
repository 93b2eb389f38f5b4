"""The seal of a .pte: a checksum behind the program, which the device checks before it uses a byte.

    sealed = seal(program)        12 bytes longer; executorch's own tools read it as before
    unsealed(sealed) == program

A flipped bit in a weight leaves a valid program of another network; the seal is how the runtime refuses it. The form is
that of cortex_m/runtime/seal.h: b"cm-seal1" and the CRC-32 of all bytes before it, little-endian.
"""

import struct
import zlib

_MAGIC = b"cm-seal1"
SEAL_BYTES = len(_MAGIC) + 4


def is_sealed(program: bytes) -> bool:
    """Whether there is a seal at the end, right or wrong."""
    return program[-SEAL_BYTES:-4] == _MAGIC


def seal(program: bytes) -> bytes:
    """The program with a seal; one that has a seal already is returned as it is."""
    if is_sealed(program):
        return program
    return program + _MAGIC + struct.pack("<I", zlib.crc32(program))


def unsealed(program: bytes) -> bytes:
    """The program without its seal, if it has one. Raises ValueError if the seal is not that of these bytes."""
    if not is_sealed(program):
        return program
    content, (checksum,) = program[:-SEAL_BYTES], struct.unpack("<I", program[-4:])
    if zlib.crc32(content) != checksum:
        raise ValueError("the program is damaged: its checksum is not that of its bytes")
    return content
