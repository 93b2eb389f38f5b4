"""Counts instructions of the int8 kernels on simulated cores and compares them with a peer's.

    bazel run //tools:bench -- --cores m55,m4
    bazel run //tools:bench -- --json bench.json

Counts are exact and the same in every run, but instructions are not cycles. The peer's numbers, and the versions they are
of, stand in bench_yardstick.json.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from pathlib import Path

from absl import app, flags

from cortex_m import simulator
from cortex_m.boards import boards

FLAGS = flags.FLAGS
flags.DEFINE_list("cores", None, "Short names: m55,m4,m3. All that have a board by default.")
flags.DEFINE_string("json", None, "Also write the table to this file.")
flags.DEFINE_string("record", None, "Write the counts to this file: bench_recorded.json, which bench_test holds them against.")

_HERE = Path(__file__).parent
_PROGRAMS = Path("cortex_m/nn/bench")


def yardstick() -> dict:
    """versions and, by core and case, the peer's instructions."""
    return json.loads((_HERE / "bench_yardstick.json").read_text())


def available_cores() -> dict[str, str]:
    """Short name ("m55") to board, for each core that the yardstick knows and that has a board."""
    board_of = {core: name for name in boards.names() for core in boards.load(name)["cores"]}
    return {name: board_of[f"cortex_{name}"] for name in yardstick()["layer"] if f"cortex_{name}" in board_of}


def count(core: str, board: str) -> dict[str, int]:
    """Instructions by case."""
    elf = _PROGRAMS / f"bench_cortex_{core}.elf"
    result = simulator.run(board, elf, timeout=300)
    lines = [line.rsplit(": ", 1) for line in result.stdout.splitlines()]
    return {case: int(value) for case, value in lines}


def compiler(core: str) -> str:
    """What the measured program was compiled with, "gcc 12": another one gives other counts."""
    found = re.search(rb"GCC: \([^)]*\) (\d+)\.", (_PROGRAMS / f"bench_cortex_{core}.elf").read_bytes())
    if found is None:
        raise ValueError(f"the bench program of {core} does not say which GCC compiled it")
    return f"gcc {found[1].decode()}"


def rows(core: str, counts: dict[str, int]) -> list[dict]:
    """One row for each case that both sides have, in the yardstick's order."""
    peer = yardstick()["layer"][core]
    return [
        {
            "core": core,
            "case": case,
            "kind": "layer",
            "instructions": counts[case],
            "yardstick": peer[case],
            "ratio": round(counts[case] / peer[case], 4),
        }
        for case in peer
        if case in counts
    ]


def geometric_mean(table: list[dict]) -> float:
    return math.exp(sum(math.log(row["instructions"] / row["yardstick"]) for row in table) / len(table))


def versions(core: str) -> dict[str, str]:
    """Of the compiler, the simulator and the peer."""
    qemu = subprocess.run(["qemu-system-arm", "--version"], capture_output=True, text=True, check=True).stdout
    return {"compiler": compiler(core), "simulator": qemu.splitlines()[0], "yardstick": yardstick()["versions"]}


def _write(name: str, content: dict) -> None:
    target = Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / name
    target.write_text(json.dumps(content, indent=1) + "\n")


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]}")
    cores = available_cores()
    names = FLAGS.cores or list(cores)
    unknown = [name for name in names if name not in cores]
    if unknown:
        raise app.UsageError(f"no board or no yardstick for {', '.join(unknown)}; there is one for {', '.join(cores)}")
    report: dict = {"versions": versions(names[0]), "rows": [], "geomean": {}}
    recorded: dict = {"compiler": compiler(names[0])}
    for core in names:
        recorded[core] = count(core, cores[core])
        table = rows(core, recorded[core])
        report["rows"] += table
        report["geomean"][core] = {"layer": round(geometric_mean(table), 4)}
        print(f"{core:42} {'instructions':>12} {'yardstick':>12} {'ratio':>7}")
        for row in table:
            print(f"{row['case']:42} {row['instructions']:12,} {row['yardstick']:12,} {row['ratio']:7.3f}")
        print(f"{'geometric mean':68} {report['geomean'][core]['layer']:7.3f}\n", flush=True)
    if FLAGS.json:
        _write(FLAGS.json, report)
    if FLAGS.record:
        _write(FLAGS.record, recorded)


if __name__ == "__main__":
    app.run(main)
