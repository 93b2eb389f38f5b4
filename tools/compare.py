"""Runs a model in float, by the reference operators, on this machine and on simulated cores, and compares layer by layer.

What the reference operators give is what every core must give, bit for bit: the first layer where one does not is named,
with the element. Between float and int8 stands the accuracy of each layer, SQNR in dB.

Examples:
  bazel run //tools:compare -- --entry=$PWD/net.py:model
  bazel run //tools:compare -- --entry=$PWD/net.py:model --cores=cortex_m4 --target=cortex-m4
  bazel run //tools:compare -- model.pte --input=image.npy --cores=host,cortex_m55 --json=layers.json
"""

from __future__ import annotations

import dataclasses
import json
import logging
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from absl import app, flags

from tools.program_file import ToolError, core_flag, read_program, typed_path

FLAGS = flags.FLAGS
flags.DEFINE_string("entry", None, "FILE.py:FUNCTION that returns the model, as for export; or name a .pte instead.")
flags.DEFINE_string("target", "any", "With --entry: the core to export for.")
flags.DEFINE_bool("progress", True, "Say on standard error which step runs.")
flags.DEFINE_list(
    "cores", ["host", "cortex_m55"], "Where to run: platforms, cortex_m55, and host for the device's code here."
)
flags.DEFINE_multi_string("input", [], "A .npy file for each input of a .pte; without any, seeded random values.")
flags.DEFINE_string("json", None, "Also write every layer's comparison to this file.")
flags.DEFINE_string("runner", None, "A universal runner's ELF to use in place of the built one; for a single core.")
flags.DEFINE_string("simulator", "qemu", "qemu, fvp, or the path of a qemu-system-arm.")
flags.DEFINE_float("timeout", 600.0, "Seconds for each core.")


@dataclasses.dataclass(frozen=True)
class Difference:
    """Of one tensor: how many of its elements differ, and the first of them."""

    wrong: int
    elements: int
    index: tuple[int, ...]  # logical
    given: float
    expected: float

    def __str__(self) -> str:
        where = ", ".join(map(str, self.index))
        return f"{self.wrong:,} of {self.elements:,} elements; the first, [{where}], is {self.given:g} and must be {self.expected:g}"


@dataclasses.dataclass
class Row:
    """One instruction. differences: by core, None where its tensors are equal."""

    index: int
    op: str
    layer: str
    source: str
    sqnr_db: float | None = None
    differences: dict[str, Difference | None] = dataclasses.field(default_factory=dict)


def difference(given: bytes, expected: Any) -> Difference | None:
    """expected: a tensor; given: bytes in the same memory order."""
    import torch

    from cortex_m.host.tensor_bytes import tensor_to_bytes

    want = tensor_to_bytes(expected)
    if given == want:
        return None
    if len(given) != len(want):
        raise ToolError(
            f"the runner gives {len(given)} bytes where the program plans {len(want)}: it runs another program"
        )
    order = sorted(range(expected.dim()), key=lambda dim: (-expected.stride(dim), dim))
    sizes = [expected.shape[dim] for dim in order]
    got, right = (torch.frombuffer(bytearray(data), dtype=expected.dtype) for data in (given, want))
    size = expected.element_size()
    wrong = [i for i in range(len(got)) if given[i * size : (i + 1) * size] != want[i * size : (i + 1) * size]]
    position, logical = wrong[0], [0] * len(order)
    for dim, extent in reversed(list(zip(order, sizes))):
        position, logical[dim] = divmod(position, extent)
    return Difference(len(wrong), len(got), tuple(logical), float(got[wrong[0]]), float(right[wrong[0]]))


class Progress:
    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self, step: str) -> None:
        if FLAGS.progress:
            print(f"[{time.monotonic() - self._start:6.1f} s] {step}", file=sys.stderr, flush=True)


def _export() -> tuple[bytes, list, list[Row]]:
    """Program, inputs and rows of --entry, with the accuracy of each layer. The exporter is a program of its own."""
    with tempfile.TemporaryDirectory() as folder:
        program, report, vectors = Path(folder, "model.pte"), Path(folder, "report.json"), Path(folder, "vectors")
        command = [
            sys.executable, str(Path(__file__).absolute().parent / "export.py"), f"--entry={FLAGS.entry}", f"--target={FLAGS.target}",
            f"--program={program}", f"--report_json={report}", f"--vectors={vectors}", f"--progress={str(FLAGS.progress).lower()}",
        ]  # fmt: skip
        done = subprocess.run(command, check=False, env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
        if done.returncode != 0:
            raise ToolError(f"--entry={FLAGS.entry} was not exported; what the exporter said stands above")
        data, exported = program.read_bytes(), json.loads(report.read_text())
        files = json.loads((vectors / "vectors.json").read_text())["input"]
        inputs = [(vectors / entry["file"]).read_bytes() for entry in files]
    from cortex_m.host.signature import read_signature

    accuracy = {layer["index"]: layer for layer in exported["accuracy"]["layers"]}
    rows = []
    for i in exported["instructions"]:
        layer = accuracy.get(i["index"])
        exact = layer is not None and layer["max_error"] == 0.0
        sqnr = None if layer is None else math.inf if exact else layer["sqnr_db"]
        rows.append(Row(i["index"], i["op"], i["module"] or (i["value"] or {}).get("node", ""), i["source"], sqnr))
    return data, [spec.from_bytes(value) for spec, value in zip(read_signature(data).inputs, inputs)], rows


def _load(name: str) -> tuple[bytes, list, list[Row]]:
    """Program, inputs and rows of a .pte."""
    program, _ = read_program(name)
    import numpy as np
    import torch

    from cortex_m.analysis.layers import ProgramFacts
    from cortex_m.host.signature import TensorSpec, read_signature

    specs = read_signature(program).inputs
    if FLAGS.input and len(FLAGS.input) != len(specs):
        raise ToolError(f"{name} takes {len(specs)} inputs, but --input is given {len(FLAGS.input)} times")
    generator = torch.Generator().manual_seed(0)
    inputs: list[Any] = []
    for position, spec in enumerate(specs):
        if not isinstance(spec, TensorSpec):
            raise ToolError(f"input {position} of {name} is a number, which cannot be given here")
        if not FLAGS.input:
            inputs.append(_random(spec, generator))
            continue
        path = typed_path(FLAGS.input[position])
        try:
            value = torch.from_numpy(np.load(path, allow_pickle=False))
        except (OSError, ValueError) as error:
            raise ToolError(f"--input={FLAGS.input[position]} is no .npy file that can be read: {error}") from error
        if tuple(value.shape) != spec.shape or value.dtype != spec.dtype:
            raise ToolError(
                f"--input={FLAGS.input[position]} has {value.dtype} {tuple(value.shape)}; input {position} of {name} is "
                f"{spec.dtype} {spec.shape}"
            )
        inputs.append(value)
    rows = [Row(layer.index, layer.op, "", layer.source) for layer in ProgramFacts.of(program).layers]
    return program, inputs, rows


def _random(spec: Any, generator: Any) -> Any:
    import torch

    if spec.dtype.is_floating_point:
        return torch.randn(spec.shape, generator=generator).to(spec.dtype)
    if spec.dtype == torch.bool:
        return torch.randint(0, 2, spec.shape, generator=generator).to(torch.bool)
    limits = torch.iinfo(spec.dtype)
    low, high = max(limits.min, -(2**31)), min(limits.max, 2**31 - 1)
    return torch.randint(low, high + 1, spec.shape, generator=generator).to(spec.dtype)


def run_everywhere(program: bytes, inputs: list, rows: list[Row], progress: Progress) -> None:
    """Fills the differences of the rows."""
    from cortex_m.host.interpreter import ReferenceProgram
    from cortex_m.host.signature import read_signature
    from cortex_m.test.batch import BatchRunner, Job

    signature = read_signature(program)
    progress("running the reference operators")
    expected: list[tuple[int, Any]] = []
    ReferenceProgram(program).run(
        inputs, lambda call: expected.extend((call.index, output.clone()) for output in call.outputs)
    )
    job = Job(program, [spec.to_bytes(value) for spec, value in zip(signature.inputs, inputs)], len(signature.outputs))
    by_index = {row.index: row for row in rows}
    for core in FLAGS.cores:
        progress(f"running on {core}")
        (result,) = BatchRunner(core, FLAGS.runner, FLAGS.simulator).run([job], FLAGS.timeout, trace=True)
        if result.error is not None:
            raise ToolError(f"{core} does not run the program: {result.error}")
        if [index for index, _ in result.trace] != [index for index, _ in expected]:
            raise ToolError(
                f"{core} executes other instructions than the reference operators: their sequence cannot be compared"
            )
        for row in rows:
            row.differences[core] = None
        for (index, data), (_, tensor) in zip(result.trace, expected):
            row = by_index[index]
            row.differences[core] = row.differences[core] or difference(data, tensor)


def _print_table(rows: list[Row], has_float: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False, markup=False)
    table = Table()
    table.add_column("#", justify="right")
    table.add_column("operator")
    table.add_column("layer")
    if has_float:
        table.add_column("float, dB", justify="right")
    for core in FLAGS.cores:
        table.add_column(f"{core} against reference")
    for row in rows:
        cells = [str(row.index), row.op.removeprefix("cortex_m::"), row.layer or row.source]
        if has_float:
            cells.append("" if row.sqnr_db is None else "exact" if math.isinf(row.sqnr_db) else f"{row.sqnr_db:.2f}")
        for core in FLAGS.cores:
            found = row.differences[core]
            cells.append("equal" if found is None else f"{found.wrong:,} of {found.elements:,} differ")
        table.add_row(*cells)
    console.print(table)


def verdict(rows: list[Row], core: str) -> str | None:
    """The sentence for the first layer that differs; None if all are equal."""
    row = next((row for row in rows if row.differences[core] is not None), None)
    if row is None:
        return None
    place = ", ".join(part for part in (row.layer, row.source) if part)
    return (
        f"{core} differs from the reference first in instruction {row.index}, {row.op}{f' ({place})' if place else ''}: "
        f"{row.differences[core]}. All instructions before it are equal, so its kernel is at fault."
    )


def compare(argv) -> bool:
    """Whether all cores agree with the reference."""
    if (len(argv) == 2) == (FLAGS.entry is not None) or len(argv) > 2:
        raise ToolError("name either one .pte or an --entry; --help has examples")
    from cortex_m.target_config import CortexMTargetConfig

    if not FLAGS.cores:
        raise ToolError("--cores is empty: name host, or a core")
    FLAGS["cores"].value = [core_flag("cores", core, host=True) for core in FLAGS.cores]
    if FLAGS.runner and len(FLAGS.cores) != 1:
        raise ToolError("--runner is of one core: give --cores with that one")
    if FLAGS.entry and FLAGS.input:
        raise ToolError("--input is for a .pte; an --entry brings its own example inputs")
    CortexMTargetConfig.from_target_string(FLAGS.target)
    progress = Progress()
    progress("importing torch")
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    program, inputs, rows = _export() if FLAGS.entry else _load(argv[1])
    run_everywhere(program, inputs, rows, progress)
    _print_table(rows, FLAGS.entry is not None)
    sentences = {core: verdict(rows, core) for core in FLAGS.cores}
    if FLAGS.json:
        layers = [dataclasses.asdict(row) for row in rows]
        for layer in layers:
            if layer["sqnr_db"] is not None and math.isinf(layer["sqnr_db"]):
                layer["sqnr_db"] = None
        typed_path(FLAGS.json).write_text(json.dumps({"layers": layers, "verdicts": sentences}, indent=1) + "\n")
    for core, sentence in sentences.items():
        print(sentence or f"{core}: all {len(rows)} instructions equal the reference, bit for bit")
    return not any(sentences.values())


def main(argv) -> int:
    from cortex_m.simulator import MissingSimulator, SimulatorError

    try:
        return 0 if compare(argv) else 1
    except (ToolError, ValueError, SimulatorError, MissingSimulator, FileNotFoundError) as error:
        print(f"compare: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    app.run(main)
