"""Arm MPS3 FPGA board with image AN547: Corstone-300 with a Cortex-M55.

Addresses are those of Arm application note AN547, in their Secure aliases: the core leaves reset in Secure state, and
this platform stays there. The fields are explained in //cortex_m/boards:boards.bzl.
"""

BOARD = {
    "name": "mps3_an547",
    "title": "Arm MPS3 AN547 (Corstone-300)",
    "cores": ["cortex_m55", "cortex_m85"],
    "qemu_machine": "mps3-an547",
    "fvp": ["FVP_Corstone_SSE-300_Ethos-U55", "FVP_Corstone_SSE-300_Ethos-U65", "FVP_Corstone_SSE-300"],
    "processor_hz": 32000000,
    "icount_shift": 5,
    "interrupts": 96,
    "memories": [
        {"name": "ITCM", "origin": 0x10000000, "length": 0x00080000, "access": "rx"},
        {"name": "DTCM", "origin": 0x30000000, "length": 0x00080000, "access": "rw"},
        # Calibrated beside the SRAM of an Alif E8, behind its cache; so is DDR, for want of a figure of its own.
        {"name": "SRAM", "origin": 0x31000000, "length": 0x00200000, "access": "rw", "wait_percent": 50},
        # The FPGA board has 2 GiB; the Secure alias in the memory map is 256 MiB of it.
        {"name": "DDR", "origin": 0x70000000, "length": 0x10000000, "access": "rw", "wait_percent": 50},
    ],
    "code": "ITCM",
    "data": "DTCM",
    "model": ["ITCM", "DDR"],
    "arena": ["DTCM", "SRAM", "DDR"],
    "pool": "DDR",
    "stack_bytes": 16384,
}
