"""Runs a model's runner on a simulated board: every output against the prediction, bit for bit, and the budgets.

    model_on_device.py --elf=RUNNER.elf --core=cortex_m55 --vectors=FOLDER --program_info=INFO.json \\
        --max_flash_bytes=60000 --max_instructions=2000000 --min_sqnr_db=30 --baseline=net_baseline.json

FOLDER is what the exporter wrote (samples.py); --input and --expected, .npy files, take its place. With --core=host the
runner is a program for this machine. What is over its budget is shown row by row beside the baseline, which the same command
with --record=net_baseline.json writes. Exit status 0 means that all outputs are right and all budgets are kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cortex_m.boards import boards
from cortex_m.simulator import MissingSimulator, SimulatorError, elf_size, run
from cortex_m.test import accuracy, figures, samples
from cortex_m.test.batch import read_layers
from cortex_m.test.budgets import Budgets, check_part, summary
from cortex_m.test.samples import Sample


@dataclass(frozen=True)
class Run:
    """What the runner printed and gave for one sample; `again`, in a second run of the same start, where that was asked for."""

    printed: str
    outputs: tuple[bytes, ...]
    again: tuple[bytes, ...] = ()

    def value(self, key: str) -> int:
        """A figure of the lines "key: value". Raises ValueError if the runner did not print it."""
        for line in self.printed.splitlines():
            if line.startswith(key + ": "):
                return int(line.rsplit(": ", 1)[1])
        raise ValueError(f"the runner printed no {key}")


def difference(got: bytes, want: bytes) -> str | None:
    """How two outputs differ, in a clause; None if they do not."""
    if got == want:
        return None
    if len(got) != len(want):
        return f"has {len(got)} bytes, {len(want)} were predicted"
    wrong = [position for position, pair in enumerate(zip(got, want)) if pair[0] != pair[1]]
    return f"differs from the prediction in {len(wrong)} of {len(want)} bytes, the first at offset {wrong[0]}"


def execute(options: argparse.Namespace, arguments: list[str], folder: Path, timeout: float) -> str:
    """Runs the runner in `folder` and returns what it printed; raises SimulatorError for every other end than status 0."""
    if options.core != "host":
        board = boards.for_core(options.core)
        simulator = options.simulator
        if "/" in simulator:  # it runs in another folder
            simulator = str(Path(simulator).absolute())
        return run(board, options.elf, arguments, cwd=folder, timeout=timeout, simulator=simulator).stdout
    command = [str(options.elf.resolve()), *arguments]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise SimulatorError("timeout", f"{options.elf.name} did not end within {timeout:g} s", None, "") from None
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or [f"status {done.returncode}"]
        raise SimulatorError("status", f"{options.elf.name}: {lines[-1]}", done.returncode, done.stdout)
    return done.stdout


def run_samples(options: argparse.Namespace, cases: Sequence[Sample], layers: bool = False) -> list[Run]:
    """One start for each sample, and another of two runs where a second run is predicted; options.timeout are the seconds of
    all together.

    layers: whether the first start also counts the instructions of each layer.
    """
    end = time.monotonic() + options.timeout
    runs = []
    for number, sample in enumerate(cases):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            arguments = ["--output-prefix", "output"]
            for position, data in enumerate(sample.inputs):
                (folder / f"{position}.bin").write_bytes(data)  # here: what semihosting can pass on is short
                arguments += ["--input", f"{position}.bin"]
            profile = ["--profile"] if layers and number == 0 else []
            printed = execute(options, arguments + profile, folder, max(1.0, end - time.monotonic()))
            outputs = _read_outputs(folder, printed)
            again: tuple[bytes, ...] = ()
            if sample.expected_again:
                twice = execute(options, [*arguments, "--repeat", "2"], folder, max(1.0, end - time.monotonic()))
                again = _read_outputs(folder, twice)
            runs.append(Run(printed, outputs, again))
    return runs


def _read_outputs(folder: Path, printed: str) -> tuple[bytes, ...]:
    return tuple((folder / f"output-{i}.bin").read_bytes() for i in range(Run(printed, ()).value("outputs")))


def compare(cases: Sequence[Sample], runs: Sequence[Run]) -> list[str]:
    """One sentence for each output that is not the bytes it must be."""
    sentences = []
    for number, (sample, run_) in enumerate(zip(cases, runs, strict=True)):
        for position, want in enumerate(sample.expected or ()):
            wrong = difference(run_.outputs[position], want)
            if wrong:
                where = f" of sample {number}" if len(cases) > 1 else ""
                sentences.append(f"output {position}{where} {wrong}")
        for position, want in enumerate(sample.expected_again):
            wrong = difference(run_.again[position], want)
            if wrong:
                sentences.append(f"output {position} of a second run {wrong}")
    return sentences


def measure(elf: Path, runs: Sequence[Run], report: dict[str, Any] | None) -> figures.Figures:
    """Figures of a board's runner. Instructions of an inference: the most that any sample took."""
    sizes = elf_size.report(elf)
    state = runs[0].value("method state")
    module_of = {row["index"]: row["module"] for row in (report or {}).get("instructions", [])}
    return figures.Figures(
        compiler=elf_size.compiler(elf),
        flash={key: sizes[key] for key in ("code", "constants", "model", "data")},
        symbols=elf_size.symbols(elf),
        ram={
            "arena": sizes["arena"],
            "method state": state,
            "other data": sizes["data"] + sizes["bss"] - state,
            "stack, as deep as used": runs[0].value("stack used"),
        },
        load=runs[0].value("load instructions"),
        inference=max(run_.value("inference instructions") for run_ in runs),
        layers={
            f"{row.index} {row.op} {module_of.get(row.index, '')}".rstrip(): row.instructions
            for row in read_layers(runs[0].printed)
        },
    )


def judge(
    cases: Sequence[Sample], runs: Sequence[Run], program: samples.Program, report: dict[str, Any] | None
) -> accuracy.Accuracy | None:
    """Accuracy over the samples whose float outputs are known; None if there is none."""
    ends = (report or {}).get("outputs", [{}] * len(program.outputs))
    pairs = []
    for sample, run_ in zip(cases, runs):
        if sample.reference is None:
            continue
        values = []
        for spec, data, end in zip(program.outputs, run_.outputs, ends):
            value = spec.from_bytes(data)
            if end.get("scale") is not None:
                value = (value.astype(np.float64) - end["zero_point"]) * end["scale"]
            values.append(value)
        pairs.append((sample.reference, values))
    return accuracy.measure(pairs) if pairs else None


def check(options: argparse.Namespace) -> tuple[str, list[str], list[str]]:
    """One line of figures; a sentence for each thing that is wrong; tables of what is over its budget."""
    program = samples.read_program(options.program_info)
    report = json.loads(options.report.read_text()) if options.report else None
    budgets = Budgets.from_options(options)
    if options.input or options.expected:
        cases = samples.from_arrays(program, options.input, options.expected, exact=not budgets.of_accuracy)
    else:
        cases = samples.from_vectors(options.vectors)
    on_board = options.core != "host"
    then = (
        figures.read(options.baseline, options.core) if options.baseline and on_board and not options.record else None
    )
    runs = run_samples(
        options, cases, layers=on_board and (budgets.of_costs or then is not None or options.record is not None)
    )
    sentences = compare(cases, runs)
    reached = judge(cases, runs, program, report)
    now = measure(options.elf, runs, report) if on_board else None
    exceeded, tables = budgets.check(now, then, reached)
    if options.part:
        unfit = check_part(options.part, options.core, options.part_cores.split(","), now)
        tables += [figures.flash_table(now, then), figures.ram_table(now, then)] if unfit and now else []
        exceeded += unfit
    if options.record and now is not None and not sentences:  # whatever the budgets are
        figures.write(options.record, options.core, now, options.record_cores.split(","))
        exceeded, tables = [], []
    compared = sum(len(sample.expected or ()) + len(sample.expected_again) for sample in cases)
    equal = f"{compared - len(sentences)} of {compared} outputs equal the prediction, bit for bit" if compared else ""
    return summary(equal, budgets, now, then, reached), sentences + exceeded, tables


def parser() -> argparse.ArgumentParser:
    parse = argparse.ArgumentParser(
        description="Compares a model on a simulated board with its prediction and budgets."
    )
    parse.add_argument("--elf", type=Path, required=True, help="the runner")
    parse.add_argument("--core", required=True, help="platform it is built for, cortex_m55; or host")
    parse.add_argument("--program_info", type=Path, required=True, help="what program_info printed of the .pte")
    parse.add_argument("--vectors", type=Path, help="the exporter's folder of inputs and outputs")
    parse.add_argument("--input", type=Path, action="append", default=[], help=".npy of an input; once for each")
    parse.add_argument("--expected", type=Path, action="append", default=[], help=".npy of an output; once for each")
    parse.add_argument("--report", type=Path, help="the exporter's report, JSON: names of the layers")
    parse.add_argument("--part", help="a microcontroller of parts.yaml that it must fit into")
    parse.add_argument("--part_cores", default="", help="all cores that the model is tested on, separated by commas")
    parse.add_argument("--max_flash_bytes", type=int, help="budget: code, constants, model and initial values")
    parse.add_argument("--max_ram_bytes", type=int, help="budget: arena, data and the stack as deep as used")
    parse.add_argument("--max_instructions", type=int, help="budget: of one inference")
    parse.add_argument("--min_sqnr_db", type=float, help="budget: of each output against the float model's")
    parse.add_argument(
        "--min_top1_agreement", type=float, help="budget, 0 to 1: same largest channel as the float model"
    )
    parse.add_argument("--baseline", type=Path, help="recorded figures, to show what grew since")
    parse.add_argument("--how_to_record", help="what to tell whoever has no baseline")
    parse.add_argument("--record", type=Path, help="file to write the figures to")
    parse.add_argument("--record_cores", default="", help="cores whose figures stay in that file, separated by commas")
    parse.add_argument("--simulator", default="qemu", help="qemu, fvp or the path of a qemu-system-arm")
    parse.add_argument("--timeout", type=float, default=300.0, help="seconds before the simulator is stopped")
    return parse


def main(argv: list[str] | None = None) -> int:
    options = parser().parse_args(argv)
    line: str = ""
    tables: list[str] = []
    try:
        line, sentences, tables = check(options)
    except figures.BaselineError as error:
        sentences = [f"{error}; {options.how_to_record}" if options.how_to_record else str(error)]
    except (SimulatorError, MissingSimulator, OSError, ValueError) as error:
        sentences = [str(error)]
    if tables:
        print("\n\n".join(tables), end="\n\n", flush=True)
        if not options.baseline and options.how_to_record:
            print(f"No baseline is recorded, so nothing says what grew: {options.how_to_record}\n", flush=True)
    name = f"{options.elf.name} on {options.core}"
    if line and not sentences:
        print(f"{name}: {line}")
    for sentence in sentences:
        print(f"error: {name}: {sentence}", file=sys.stderr)
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())
