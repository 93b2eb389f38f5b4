"""Arm MPS2 FPGA board with image AN385: a Cortex-M3, whose instructions include those of the Cortex-M0 and M0+.

Addresses are those of Arm application note AN385. The fields are explained in //cortex_m/boards:boards.bzl.
"""

BOARD = {
    "name": "mps2_an385",
    "title": "Arm MPS2 AN385",
    "cores": ["cortex_m0", "cortex_m0plus", "cortex_m3"],
    "qemu_machine": "mps2-an385",
    "fvp": ["FVP_MPS2_Cortex-M3"],
    "processor_hz": 25000000,
    "icount_shift": 5,
    "interrupts": 32,
    "memories": [
        {"name": "FLASH", "origin": 0x00000000, "length": 0x00400000, "access": "rx"},
        {"name": "SRAM", "origin": 0x20000000, "length": 0x00400000, "access": "rw"},
        {"name": "PSRAM", "origin": 0x21000000, "length": 0x01000000, "access": "rw"},
    ],
    "code": "FLASH",
    "data": "SRAM",
    "model": ["FLASH", "PSRAM"],
    "arena": ["SRAM", "PSRAM"],
    "pool": "PSRAM",
    "stack_bytes": 16384,
}
