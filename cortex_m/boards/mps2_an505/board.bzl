"""Arm MPS2+ FPGA board with image AN505: IoT Kit with a Cortex-M33, whose instructions include those of the Cortex-M23 and
M35P.

Addresses are those of Arm application note AN505, in their Secure aliases: the core leaves reset in Secure state, and
this platform stays there. The fields are explained in //cortex_m/boards:boards.bzl.
"""

BOARD = {
    "name": "mps2_an505",
    "title": "Arm MPS2+ AN505",
    "cores": ["cortex_m23", "cortex_m33", "cortex_m35p"],
    "qemu_machine": "mps2-an505",
    "fvp": ["FVP_MPS2_Cortex-M33"],
    "processor_hz": 20000000,
    "icount_shift": 5,
    "interrupts": 124,
    "memories": [
        {"name": "FLASH", "origin": 0x10000000, "length": 0x00400000, "access": "rx"},
        {"name": "SRAM", "origin": 0x38000000, "length": 0x00400000, "access": "rw"},
        {"name": "PSRAM", "origin": 0x80000000, "length": 0x01000000, "access": "rw"},
    ],
    "code": "FLASH",
    "data": "SRAM",
    "model": ["FLASH", "PSRAM"],
    "arena": ["SRAM", "PSRAM"],
    "pool": "PSRAM",
    "stack_bytes": 16384,
}
