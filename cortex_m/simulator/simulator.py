"""One run of one ELF: start the simulator, wait with a limit, tell what happened."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from cortex_m.boards import boards
from cortex_m.simulator import command as commands

# cortex_m/boards/platform.h
EXIT_FAULT = 120
EXIT_STACK_OVERFLOW = 121
EXIT_UNEXPECTED_INTERRUPT = 122
EXIT_ABORT = 123

# More than this of a program's output is not read.
_OUTPUT_LIMIT = 64 << 20


@dataclass(frozen=True)
class Result:
    """How a program ended.

    status: its exit status, 0 to 255.
    stdout: what it wrote to the console.
    values: the lines "key: value" of its console, the last one for each key.
    """

    status: int
    stdout: str
    values: dict[str, str] = field(default_factory=dict)


class SimulatorError(RuntimeError):
    """The program did not end with status 0. The message is one sentence.

    kind: "timeout", "lockup", "fault", "stack overflow", "unexpected interrupt", "abort", "status" (a status of the
    program's own) or "simulator" (the simulator itself failed).
    status: the exit status where there is one.
    stdout: what the program wrote before.
    """

    def __init__(self, kind: str, message: str, status: int | None, stdout: str):
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.stdout = stdout


def run(
    board: str,
    elf: str | os.PathLike[str],
    args: Sequence[str] = (),
    cwd: str | os.PathLike[str] | None = None,
    timeout: float = 60.0,
    simulator: str = "qemu",
    check: bool = True,
    plugin: str | None = None,
) -> Result:
    """Runs `elf` with `args` on a board and returns how it ended.

    board: its name, "mps3_an547".
    cwd: folder that the program's file names are relative to; the current one if None.
    timeout: seconds of the host after which the simulator is killed.
    simulator: "qemu", "fvp", or the path of a qemu-system-arm.
    plugin: of QEMU, with its arguments: "FILE,name=value".
    check: False to get a Result for a status of the program's own (1 to 119) instead of an error.

    Raises SimulatorError, MissingSimulator, FileNotFoundError for an ELF that is not there, and ValueError for arguments
    that semihosting cannot pass on.
    """
    table = boards.load(board)
    elf = Path(elf).absolute()
    if not elf.is_file():
        raise FileNotFoundError(f"there is no ELF {elf}")
    cwd = Path(cwd or ".").absolute()
    if simulator == "fvp":
        if plugin is not None:
            raise ValueError("an FVP takes no plugin of QEMU")
        executable = commands.find_fvp(table)
        command = commands.fvp_command(table, elf, args, executable, cwd, timeout)
    else:
        executable = commands.find_qemu() if simulator == "qemu" else simulator
        command = commands.qemu_command(table, elf, args, executable, plugin)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        status = _wait(command, cwd, timeout, out, err)
        stdout, stderr = _text(out), _text(err)
    if status is None:
        last = _last_line(stdout)
        raise SimulatorError(
            "timeout",
            f"{elf.name} on {board} did not end within {timeout:g} s and was stopped; "
            + (f"its last line was: {last}" if last else "it had printed nothing"),
            None,
            stdout,
        )
    error = _error(f"{elf.name} on {board}", Path(executable).name, status, stdout, stderr)
    if error is not None and (check or error.kind != "status"):
        raise error
    return Result(status, stdout, _values(stdout))


def _wait(command: list[str], cwd: Path, timeout: float, out: IO[bytes], err: IO[bytes]) -> int | None:
    """Exit status of the command, negative for a signal; None if it took too long. Leaves no process behind."""
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=_no_core_file,  # noqa: PLW1509 (setrlimit takes no lock)
        )
    except FileNotFoundError as error:
        raise commands.MissingSimulator(f"there is no simulator {command[0]}") from error
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _no_core_file() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_OUTPUT_LIMIT).decode(errors="replace")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def _line_after(prefix: str, text: str) -> str | None:
    return next((line[len(prefix) :] for line in text.splitlines() if line.startswith(prefix)), None)


def _error(what: str, simulator: str, status: int, stdout: str, stderr: str) -> SimulatorError | None:
    """What a status means, or None for success. `what` is the subject of the sentence."""

    def error(kind: str, message: str) -> SimulatorError:
        return SimulatorError(kind, message, status, stdout)

    fault = _line_after("fault: ", stdout)
    if status == EXIT_STACK_OVERFLOW:
        return error("stack overflow", f"{what}: {fault or 'the stack overflowed'}")
    if status == EXIT_FAULT:
        return error("fault", f"{what} ended with a fault: {fault or 'it says nothing of it'}")
    if status == EXIT_UNEXPECTED_INTERRUPT:
        return error("unexpected interrupt", f"{what} was ended by an interrupt: {fault or 'it does not say which'}")
    if status == EXIT_ABORT:
        return error("abort", f"{what}: {fault or 'abort() was called'}")
    if "Lockup" in stderr:
        return error(
            "lockup", f"{what} locked up: a fault happened where the core cannot take one ({_last_of_lockup(stderr)})"
        )
    if status < 0:
        return error("simulator", f"{simulator} was killed by {_signal_name(-status)} while it ran {what}")
    # A launcher of another name still starts QEMU, which speaks under its own.
    own = _line_after(f"{commands.QEMU}: ", stderr) or _line_after(f"{simulator}: ", stderr)
    if status != 0 and own is not None:
        return error("simulator", f"{simulator} failed to run {what}: {own}")
    message = _line_after("error: ", stdout)
    # An FVP does not hand every program's status on; the programs' own words do.
    if status == 0 and fault is not None:
        return error("fault", f"{what} ended with a fault: {fault}")
    if status == 0:
        return None
    return error(
        "status", f"{what} ended with status {status}: {message or _last_line(stdout) or 'it had printed nothing'}"
    )


def _last_of_lockup(stderr: str) -> str:
    return next(line for line in stderr.splitlines() if "Lockup" in line)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _values(stdout: str) -> dict[str, str]:
    pairs = (line.split(": ", 1) for line in stdout.splitlines() if ": " in line)
    return dict(pairs)
