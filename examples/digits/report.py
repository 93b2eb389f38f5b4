"""Accuracy of the digits network: in float, in int8 on this machine, and on a simulated Cortex-M.

    bazel run //examples/digits:report
    bazel run //examples/digits:report -- --core=cortex_m4

Network, weights and program come from the build. The simulated core gets all pictures that were held out in one start; exit
status 0 means that it gave the host's bytes for each of them.
"""

import logging
import sys
import time
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from absl import app, flags
from rich.console import Console
from rich.table import Table

from cortex_m.simulator import MissingSimulator, SimulatorError

FLAGS = flags.FLAGS
flags.DEFINE_enum("core", "cortex_m55", ["cortex_m55", "cortex_m4"], "The core to simulate.")
flags.DEFINE_string("program", "examples/digits/digits.pte", "The .pte; that of the build if not given.")
flags.DEFINE_float("timeout", 600, "Seconds after which the simulator is stopped.")


@dataclass(frozen=True)
class Measured:
    """right: how many of the `count` pictures got their digit. seconds: of all of them."""

    where: str
    right: int
    count: int
    seconds: float

    @property
    def accuracy(self) -> float:
        return self.right / self.count


@dataclass(frozen=True)
class Report:
    """Of the held-out pictures. differing: how many of them have other bytes on the device than on the host."""

    rows: list[Measured]
    differing: int
    instructions: int


def measure(program: bytes, weights: Path, core: str, timeout: float) -> Report:
    """Runs all held-out pictures three ways."""
    import torch

    from cortex_m.host import Program
    from cortex_m.test.device import Device
    from examples.digits.net import samples, trained

    _, held_out = samples()
    images = held_out.images[:, None]  # the program takes one picture at a time

    def measured(where: str, run) -> tuple[Measured, torch.Tensor]:
        begin = time.monotonic()
        scores = run()
        seconds = time.monotonic() - begin
        right = int((scores.argmax(1) == held_out.labels).sum())
        return Measured(where, right, len(held_out.labels), seconds), scores

    with torch.no_grad():
        floating, _ = measured("PyTorch, float32", lambda: trained(weights)(held_out.images))
    host, predicted = measured("host, int8", lambda: Program(program).run_batch((images,))[0][:, 0])
    results = []

    def simulate() -> torch.Tensor:
        results.extend(Device(core).run([(program, (image,)) for image in images], timeout))
        refused = [result.error for result in results if result.error]
        if refused:
            raise SimulatorError("status", f"{core} refuses the program: {refused[0]}", None, "")
        return torch.cat([result.outputs[0] for result in results])

    device, given = measured(f"{core}, int8, simulated", simulate)
    differing = int((given.view(torch.int32) != predicted.contiguous().view(torch.int32)).any(1).sum())
    return Report([floating, host, device], differing, results[0].inference)


def print_report(report: Report, core: str) -> None:
    table = Table(title=f"Handwritten digits, {report.rows[0].count} that were held out")
    for name in ("computed by", "right", "accuracy", "seconds"):
        table.add_column(name, justify="left" if name == "computed by" else "right")
    for row in report.rows:
        table.add_row(row.where, str(row.right), f"{row.accuracy:.2%}", f"{row.seconds:.2f}")
    console = Console()
    console.print(table)
    console.print(f"{core}: {report.instructions:,} instructions for a picture (instructions are not cycles)")


def main(argv) -> int:
    logging.disable(logging.WARNING)  # what torch says of CUDA extensions
    if len(argv) > 1:
        print(f"report: error: {argv[1]}: arguments are given as flags; see --help", file=sys.stderr)
        return 1
    weights = Path(str(resources.files("examples.digits").joinpath("weights.pt")))
    try:
        report = measure(Path(FLAGS.program).read_bytes(), weights, FLAGS.core, FLAGS.timeout)
    except (SimulatorError, MissingSimulator, ValueError) as error:
        print(f"report: error: {error}", file=sys.stderr)
        return 1
    print_report(report, FLAGS.core)
    if report.differing:
        print(f"report: error: {report.differing} pictures have other bytes on the device", file=sys.stderr)
        return 1
    print("the device's scores equal the host's, bit for bit")
    return 0


if __name__ == "__main__":
    app.run(main)
