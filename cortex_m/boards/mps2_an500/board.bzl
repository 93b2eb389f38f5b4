"""Arm MPS2 FPGA board with image AN500: a Cortex-M7.

Addresses are those of Arm application note AN500. The fields are explained in //cortex_m/boards:boards.bzl.
"""

BOARD = {
    "name": "mps2_an500",
    "title": "Arm MPS2 AN500",
    "cores": ["cortex_m7"],
    "qemu_machine": "mps2-an500",
    "fvp": ["FVP_MPS2_Cortex-M7"],
    "processor_hz": 25000000,
    "icount_shift": 5,
    "interrupts": 32,
    "memories": [
        {"name": "FLASH", "origin": 0x00000000, "length": 0x00400000, "access": "rx"},
        {"name": "SRAM", "origin": 0x20000000, "length": 0x00400000, "access": "rw"},
        {"name": "PSRAM", "origin": 0x60000000, "length": 0x01000000, "access": "rw"},
    ],
    "code": "FLASH",
    "data": "SRAM",
    "model": ["FLASH", "PSRAM"],
    "arena": ["SRAM", "PSRAM"],
    "pool": "PSRAM",
    "stack_bytes": 16384,
}
