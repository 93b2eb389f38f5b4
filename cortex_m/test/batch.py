"""Many programs in one start of a universal runner, bytes in and bytes out. Standard library only.

    runner = BatchRunner("cortex_m55")
    results = runner.run([Job(program, [x], outputs=1), Job(other, [x, y], outputs=2)])
    results[0].outputs[0]       # bytes
    results[1].error            # None, or the device's sentence
    runner.run([Job(program, [x], outputs=1)], layers=True)[0].layers   # (LayerCount(0, "cortex_m::quantize_per_tensor", 8112), ...)

`core` is the name of a platform in //platforms, or "host". The program that runs them is //cortex_m/runner:universal or, where
that is not built, universal_int8, which has the kernels of int8 programs alone. It is looked for in $CORTEX_M_RUNNERS (a
folder) or, if that is not set, in cortex_m/runner of the runfiles (list it in the `data` of a pytest_test) and in bazel-bin.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cortex_m import simulator
from cortex_m.boards import boards

# A result and, of a run with --profile or --trace, the lines of its instructions.
_RESULT = re.compile(r"^result \d+: (ok, .*|error: .*)\n((?:(?:instruction|trace) .*\n)*)", re.MULTILINE)
_TRACE = re.compile(r"^trace (\d+) (\d+)$", re.MULTILINE)
_LAYER = re.compile(r"^instruction (\d+) (.*): (\d+)$", re.MULTILINE)
_MEASURED = re.compile(r"ok, load (\d+), inference (\d+), arena (\d+), state (\d+)")
# How a simulated program can end because of one line of the list; the others go on in another start.
_FATAL = ("fault", "stack overflow", "unexpected interrupt", "abort", "lockup")


@dataclass(frozen=True)
class Job:
    """A program, the bytes of its inputs, and how many outputs it has."""

    program: bytes
    inputs: Sequence[bytes]
    outputs: int


@dataclass(frozen=True)
class LayerCount:
    """Executed instructions of one instruction of a program: its index, the operator it calls ("control" for a jump or move)."""

    index: int
    op: str
    instructions: int


def read_layers(printed: str) -> tuple[LayerCount, ...]:
    """The lines that a runner prints with --profile (cortex_m/runner/profile.h). Rounds of a loop are added up."""
    rows: dict[tuple[int, str], int] = {}
    for index, op, count in _LAYER.findall(printed):
        key = int(index), op
        rows[key] = rows.get(key, 0) + int(count)
    return tuple(LayerCount(index, op, count) for (index, op), count in sorted(rows.items()))


@dataclass(frozen=True)
class RawResult:
    """What became of one program.

    outputs: bytes of its outputs; empty if it was refused.
    error: why it was refused or how it crashed, else None.
    load, inference: executed instructions; 0 on the host, which counts none.
    arena, state: bytes of planned memory and of the runtime's own tables.
    crashed: whether it ended the runner (a fault, a signal) instead of being refused.
    layers: what each instruction of the program cost, in their order, if that was asked for. Their sum is a little less than
        `inference`, which counts the executor too.
    trace: (instruction, bytes as they lie in memory) of each tensor that a call has computed, if that was asked for.
    """

    outputs: tuple[bytes, ...] = ()
    error: str | None = None
    load: int = 0
    inference: int = 0
    arena: int = 0
    state: int = 0
    crashed: bool = False
    layers: tuple[LayerCount, ...] = ()
    trace: tuple[tuple[int, bytes], ...] = ()


class BatchRunner:
    """A universal runner. Raises FileNotFoundError if there is none for the core, ValueError for a core without a board.

    runner: path of an ELF (or program of this machine) to use instead of the one that is looked for.
    simulator: as for cortex_m.simulator.run.
    """

    def __init__(self, core: str, runner: str | os.PathLike | None = None, simulator: str = "qemu") -> None:
        self.core = core
        self.board = "host" if core == "host" else boards.for_core(core)
        self.runner = Path(runner).absolute() if runner is not None else _find_runner(core)
        self._simulator = simulator

    def run(
        self, jobs: Sequence[Job], timeout: float = 300.0, layers: bool = False, trace: bool = False
    ) -> list[RawResult]:
        """One RawResult for each job, in order.

        A program that crashes the runner has the crash as its error, and the following ones run in another start.
        timeout: seconds of a start.
        layers: whether to count for each instruction of a program, in another inference than the one that is measured.
        trace: whether to take the tensors of each instruction, in another inference; not together with layers.

        Raises SimulatorError if a start takes longer or the simulator itself fails, ValueError for layers on the host.
        """
        if layers and self.board == "host":
            raise ValueError("the host counts no instructions, so none for each layer: ask a core")
        if layers and trace:
            raise ValueError("layers and trace are two runs: ask for one of them")
        arguments = ["--batch", "list.txt", *(["--profile"] if layers else []), *(["--trace"] if trace else [])]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            lines = _write(jobs, folder)
            results: list[RawResult] = []
            while len(results) < len(lines):
                (folder / "list.txt").write_text("".join(lines[len(results) :]))
                stdout, crash = self._start(folder, arguments, timeout)
                for text, profile in _RESULT.findall(stdout):
                    results.append(_result(text, profile, jobs[len(results)].outputs, folder, len(results)))
                if len(results) == len(lines) and crash is None:
                    break
                if len(results) >= len(lines) or crash is None:
                    message = crash or f"{self.runner.name} did not run every program: {stdout[-200:]}"
                    raise simulator.SimulatorError("status", message, None, stdout)
                results.append(RawResult(error=crash, crashed=True))
        return results

    def _start(self, folder: Path, arguments: list[str], timeout: float) -> tuple[str, str | None]:
        """Console of one start, and the sentence of the crash that ended it early, or None."""
        if self.board != "host":
            try:
                return self._simulate(folder, arguments, timeout), None
            except simulator.SimulatorError as error:
                if error.kind not in _FATAL:
                    raise
                return error.stdout, str(error)
        command = [str(self.runner), *arguments]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired as error:
            message = f"{self.runner.name} did not end within {timeout:g} s and was stopped"
            raise simulator.SimulatorError("timeout", message, None, str(error.stdout)) from None
        if done.returncode < 0:
            return done.stdout, f"{self.runner.name} was killed by {signal.Signals(-done.returncode).name}"
        if done.returncode > 0 and done.stderr:  # a sanitizer speaks there, the runner does not
            return done.stdout, f"{self.runner.name}: {done.stderr.strip()}"
        return done.stdout, None

    def _simulate(self, folder: Path, arguments: list[str], timeout: float) -> str:
        return simulator.run(
            self.board, self.runner, arguments, cwd=folder, timeout=timeout, simulator=self._simulator
        ).stdout


def _write(jobs: Sequence[Job], folder: Path) -> list[str]:
    """The lines of the list. Files of equal content are written once."""
    written: dict[bytes, str] = {}

    def place(data: bytes) -> str:
        if data not in written:
            written[data] = f"{len(written)}.bin"
            (folder / written[data]).write_bytes(data)
        return written[data]

    return [
        " ".join([place(job.program), *map(place, job.inputs), f"out{number}"]) + "\n"
        for number, job in enumerate(jobs)
    ]


def _result(text: str, profile: str, count: int, folder: Path, number: int) -> RawResult:
    measured = _MEASURED.fullmatch(text)
    if measured is None:
        return RawResult(error=text.removeprefix("error: "))
    outputs = tuple((folder / f"out{number}-{i}.bin").read_bytes() for i in range(count))
    load, inference, arena, state = map(int, measured.groups())
    return RawResult(
        outputs, None, load, inference, arena, state, False, read_layers(profile), _read_trace(profile, folder, number)
    )


def _read_trace(printed: str, folder: Path, number: int) -> tuple[tuple[int, bytes], ...]:
    rows = [(int(index), int(size)) for index, size in _TRACE.findall(printed)]
    if not rows:
        return ()
    data = (folder / f"out{number}-trace.bin").read_bytes()
    found, begin = [], 0
    for index, size in rows:
        found.append((index, data[begin : begin + size]))
        begin += size
    return tuple(found)


def _find_runner(core: str) -> Path:
    names = [name if core == "host" else f"{name}_{core}.elf" for name in ("universal", "universal_int8")]
    named = os.environ.get("CORTEX_M_RUNNERS")
    package = Path(__file__).absolute().parent.parent
    folders = [Path(named)] if named else [package / "runner", package.parent / "bazel-bin" / "cortex_m" / "runner"]
    for name in names:
        for folder in folders:
            if (folder / name).is_file():
                return (folder / name).absolute()
    raise FileNotFoundError(
        f"there is no {' or '.join(names)} in {', '.join(map(str, folders))}: build it with "
        f"`bazel build //cortex_m/runner:{names[0].removesuffix('.elf')}`, or name its folder in CORTEX_M_RUNNERS"
    )
