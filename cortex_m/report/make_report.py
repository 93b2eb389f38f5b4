"""Writes the report of a model: measures its runners on simulated cores, and puts all that is known of it together.

    make_report.py --name=//:net --program=net.pte --report=net.report.json --vectors=net.vectors \\
        --runner=cortex_m55=net_m55.elf --html=net.html --json=net.json --text=net.txt
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Writes the report of a model.")
    parser.add_argument("--name", required=True, help="of the model, for the title")
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--report", type=Path, required=True, help="JSON that the exporter wrote")
    parser.add_argument("--vectors", type=Path, required=True, help="folder of inputs and expected outputs")
    parser.add_argument("--runner", action="append", required=True, metavar="CORE=ELF", help="once for each core")
    parser.add_argument("--simulator", default="qemu", help="qemu, fvp or the path of a qemu-system-arm")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each core")
    parser.add_argument("--html", type=Path, required=True)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--text", type=Path, required=True)
    options = parser.parse_args(argv)
    simulator = str(Path(options.simulator).absolute()) if "/" in options.simulator else options.simulator
    elves = {core: Path(elf).absolute() for core, elf in (runner.split("=", 1) for runner in options.runner)}
    # Where matplotlib keeps what it knows of fonts; a build action has no home.
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("MPLCONFIGDIR", folder)
        from cortex_m.report.collect import collect, measure
        from cortex_m.report.page import html, terminal
        from cortex_m.simulator import MissingSimulator, SimulatorError

        try:
            measured = {
                core: measure(elf, core, options.vectors, simulator, options.timeout) for core, elf in elves.items()
            }
            exported = json.loads(options.report.read_text())
            report = collect(options.name, options.program.read_bytes(), exported, elves, measured)
        except (SimulatorError, MissingSimulator, OSError, ValueError) as error:
            print(f"error: {options.name}: {error}", file=sys.stderr)
            return 1
        options.json.write_text(json.dumps(report, indent=1) + "\n")
        options.html.write_text(html(report))
        options.text.write_text(terminal(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
