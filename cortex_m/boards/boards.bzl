"""The boards, and what follows from their tables by arithmetic.

Each board is a folder with a `board.bzl`, a pure literal that Starlark loads and Python reads with `ast`
(`cortex_m/boards/boards.py`). To add one: see docs/boards.md.

Fields of a board:
  name          its folder
  title         its name for people
  cores         platforms of //platforms it is the board of (cortex_m/cores.bzl says the same from the core's side; a test compares)
  qemu_machine  what follows -M
  fvp           executables of Arm's Fixed Virtual Platforms with this memory map, in order of preference
  processor_hz  clock of the processor, and so of SysTick
  icount_shift  QEMU's -icount shift: one instruction lasts 2^shift ns of virtual time
  interrupts    number of external interrupts, the length of the vector table less 16
  memories      name, origin and length in bytes, access (rx: code and constants; rw: never executed). Power-of-two
                lengths, aligned to their length: that is what the MPU of Armv7-M protects. wait_percent, 0 if it is not there:
                what a word of the bus costs in estimated cycles beside the pipeline's, in hundredths (docs/cycles.md)
  code, data    memories of code and constants, and of stack, .data and .bss
  model, arena  memories that may hold the embedded program and the planned arena, in order of preference (fastest first)
  pool          memory whose rest the universal runner divides among programs, inputs and arenas
  stack_bytes   stack of the runners
"""

load("//cortex_m/boards/mps2_an385:board.bzl", _mps2_an385 = "BOARD")
load("//cortex_m/boards/mps2_an386:board.bzl", _mps2_an386 = "BOARD")
load("//cortex_m/boards/mps2_an500:board.bzl", _mps2_an500 = "BOARD")
load("//cortex_m/boards/mps2_an505:board.bzl", _mps2_an505 = "BOARD")
load("//cortex_m/boards/mps3_an547:board.bzl", _mps3_an547 = "BOARD")

BOARDS = {board["name"]: board for board in [
    _mps2_an385,
    _mps2_an386,
    _mps2_an500,
    _mps2_an505,
    _mps3_an547,
]}

def instructions_per_tick(board):
    """The exact ratio of executed instructions to ticks of SysTick under QEMU's -icount.

    A tick lasts 10^9 / processor_hz ns and an instruction 2^icount_shift ns.

    Args:
      board: an entry of BOARDS.
    Returns:
      (numerator, denominator), reduced.
    """
    numerator = 1000000000
    denominator = board["processor_hz"] * (1 << board["icount_shift"])
    a, b = numerator, denominator
    for _ in range(64):  # Euclid; Starlark has no while
        if b == 0:
            break
        a, b = b, a % b
    return numerator // a, denominator // a

def memory(board, name):
    """The memory called `name` of a board; fails if there is none."""
    for candidate in board["memories"]:
        if candidate["name"] == name:
            return candidate
    fail("board %s has no memory %s" % (board["name"], name))
