"""Command lines of the simulators, from a board's table.

QEMU is the default. An Arm Fixed Virtual Platform is used when asked for: the executables a board names are looked for
in $FVP_PATH (a folder, or the executable itself) and on PATH.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from cortex_m.boards.boards import Board

QEMU = "qemu-system-arm"

# Arm's FVPs hand at most so many characters to the program.
_FVP_COMMAND_LINE_LIMIT = 256
# cortex_m/boards/semihosting.c: kMaxCommandLine less the final zero, and kMaxArguments.
_COMMAND_LINE_LIMIT = 2047
_ARGUMENT_LIMIT = 64


class MissingSimulator(RuntimeError):
    """The simulator is not installed. The message says what was looked for and how to get it."""


def program_line(program: str, args: Sequence[str]) -> list[str]:
    """argv of the simulated program. Raises ValueError for what semihosting cannot carry.

    Semihosting passes one line of text, which the program splits at spaces: an argument that is empty or contains white
    space would arrive as none or as several.
    """
    line = [program, *args]
    for argument in line:
        if not argument or any(c.isspace() for c in argument):
            raise ValueError(
                f"argument {argument!r} is empty or contains white space, which semihosting cannot pass on"
            )
    if len(line) > _ARGUMENT_LIMIT or len(" ".join(line).encode()) > _COMMAND_LINE_LIMIT:
        raise ValueError(
            f"{len(line)} arguments with {len(' '.join(line))} characters are more than the {_ARGUMENT_LIMIT} arguments "
            f"and {_COMMAND_LINE_LIMIT} characters that a board takes"
        )
    return line


def qemu_command(
    board: Board, elf: Path, args: Sequence[str], executable: str = QEMU, plugin: str | None = None
) -> list[str]:
    """The command that runs `elf` on the board's QEMU machine, console on stdout, counting instructions.

    plugin: what follows QEMU's -plugin, "FILE,name=value".
    """
    semihosting = ["enable=on", "target=native"]
    # In QEMU's option syntax a comma ends a value, and two are one comma.
    semihosting += ["arg=" + argument.replace(",", ",,") for argument in program_line(elf.name, args)]
    return [
        executable,
        *("-machine", board["qemu_machine"]),
        *("-display", "none"),
        *("-monitor", "none"),
        *("-serial", "null"),
        *("-semihosting-config", ",".join(semihosting)),
        *("-icount", f"shift={board['icount_shift']}"),
        *(("-plugin", plugin) if plugin else ()),
        *("-kernel", str(elf)),
    ]


def fvp_command(board: Board, elf: Path, args: Sequence[str], executable: str, cwd: Path, timeout: float) -> list[str]:
    """The command that runs `elf` on an Arm FVP with the board's memory map.

    `timeout` is in seconds of the host, and is enforced by the FVP too, which otherwise outlives a lost parent.
    """
    line = " ".join(program_line(elf.name, args))
    if len(line) > _FVP_COMMAND_LINE_LIMIT:
        raise ValueError(
            f"a command line of {len(line)} characters is longer than the {_FVP_COMMAND_LINE_LIMIT} of an FVP"
        )
    cpu = "armcortexm4ct" if "MPS2" in Path(executable).name else "cpu0"
    parameters = {
        f"{cpu}.semihosting-enable": "1",
        f"{cpu}.semihosting-cmd_line": line,
        f"{cpu}.semihosting-cwd": str(cwd),
        # The program has its own stack and no heap.
        f"{cpu}.semihosting-stack_base": "0",
        f"{cpu}.semihosting-heap_limit": "0",
    }
    if cpu == "cpu0":
        parameters |= {
            "mps3_board.visualisation.disable-visualisation": "1",
            "mps3_board.telnetterminal0.start_telnet": "0",
            "mps3_board.uart0.out_file": "-",
            "mps3_board.uart0.shutdown_on_eot": "1",
        }
    else:
        parameters |= {
            "fvp_mps2.mps2_visualisation.disable-visualisation": "1",
            "fvp_mps2.telnetterminal0.start_telnet": "0",
        }
    settings = [word for key, value in parameters.items() for word in ("-C", f"{key}={value}")]
    return [executable, *settings, "--quiet", "--timelimit", str(max(1, round(timeout))), "-a", str(elf)]


def find_qemu(environment: Mapping[str, str] = os.environ) -> str:
    """Path of qemu-system-arm. Raises MissingSimulator."""
    found = shutil.which(QEMU, path=environment.get("PATH"))
    if found is None:
        raise MissingSimulator(f"{QEMU} is not installed: it is not on PATH; Debian's package of that name has it")
    return found


def find_fvp(board: Board, environment: Mapping[str, str] = os.environ) -> str:
    """Path of the first of the board's FVPs that is installed. Raises MissingSimulator."""
    given = environment.get("FVP_PATH")
    if given and Path(given).is_file():
        return given
    for name in board["fvp"]:
        found = shutil.which(name, path=given) if given else None
        found = found or shutil.which(name, path=environment.get("PATH"))
        if found is not None:
            return found
    raise MissingSimulator(
        f"no FVP for board {board['name']} is installed: none of {', '.join(board['fvp'])} is in $FVP_PATH or on PATH; "
        "Arm offers them for download"
    )
