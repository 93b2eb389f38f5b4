"""Runs a model's runner on a simulated board and compares every output with the prediction, bit for bit.

    model_on_device.py --elf=RUNNER.elf --core=cortex_m55 --vectors=FOLDER [--simulator=qemu] [--timeout=300]

FOLDER is what the exporter wrote: input_N.bin, expected_N.bin and vectors.json. With --core=host the runner is a program
for this machine. Standard library only; exit status 0 means that all outputs are the predicted bytes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from cortex_m.boards import boards
from cortex_m.simulator import MissingSimulator, SimulatorError, run


def difference(got: bytes, want: bytes) -> str | None:
    """How two outputs differ, in a clause; None if they do not."""
    if got == want:
        return None
    if len(got) != len(want):
        return f"has {len(got)} bytes, {len(want)} were predicted"
    wrong = [position for position, pair in enumerate(zip(got, want)) if pair[0] != pair[1]]
    return f"differs from the prediction in {len(wrong)} of {len(want)} bytes, the first at offset {wrong[0]}"


def execute(options: argparse.Namespace, arguments: list[str], folder: Path) -> str:
    """Runs the runner in `folder` and returns what it printed; raises SimulatorError for every other end than status 0."""
    if options.core != "host":
        board = boards.for_core(options.core)
        simulator = options.simulator
        if "/" in simulator:  # it runs in another folder
            simulator = str(Path(simulator).absolute())
        return run(board, options.elf, arguments, cwd=folder, timeout=options.timeout, simulator=simulator).stdout
    command = [str(options.elf.resolve()), *arguments]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=options.timeout, check=False)
    except subprocess.TimeoutExpired:
        raise SimulatorError("timeout", f"{options.elf.name} did not end within {options.timeout:g} s", None, "") from None
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or [f"status {done.returncode}"]
        raise SimulatorError("status", f"{options.elf.name}: {lines[-1]}", done.returncode, done.stdout)
    return done.stdout


def compare(options: argparse.Namespace, folder: Path) -> tuple[str, list[str]]:
    """What the runner printed, and one sentence for each output that is not the predicted bytes."""
    index = json.loads((options.vectors / "vectors.json").read_text())
    arguments = ["--output-prefix", "output"]
    for entry in index["input"]:
        # Into the folder: what semihosting can pass on is short.
        (folder / entry["file"]).write_bytes((options.vectors / entry["file"]).read_bytes())
        arguments += ["--input", entry["file"]]
    printed = execute(options, arguments, folder)
    sentences = []
    for number, entry in enumerate(index["expected"]):
        got = (folder / f"output-{number}.bin").read_bytes()
        wrong = difference(got, (options.vectors / entry["file"]).read_bytes())
        if wrong:
            sentences.append(f"output {number} {wrong}")
    equal = len(index["expected"]) - len(sentences)
    return f"{printed}{equal} of {len(index['expected'])} outputs equal the prediction, bit for bit\n", sentences


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compares a model on a simulated board with its prediction.")
    parser.add_argument("--elf", type=Path, required=True, help="the runner")
    parser.add_argument("--core", required=True, help="platform it is built for, cortex_m55; or host")
    parser.add_argument("--vectors", type=Path, required=True, help="folder of inputs and expected outputs")
    parser.add_argument("--simulator", default="qemu", help="qemu, fvp or the path of a qemu-system-arm")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds before the simulator is stopped")
    options = parser.parse_args(argv)
    try:
        with tempfile.TemporaryDirectory() as folder:
            printed, sentences = compare(options, Path(folder))
        print(printed, end="")
    except (SimulatorError, MissingSimulator, FileNotFoundError, ValueError) as error:
        sentences = [str(error)]
    for sentence in sentences:
        print(f"error: {options.elf.name} on {options.core}: {sentence}", file=sys.stderr)
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())
