"""What kernels and whole inferences cost on simulated cores, in executed instructions, beside a peer's.

    bazel run //tools:bench -- --cores m55,m4
    bazel run //tools:bench -- --json bench.json
    CMSIS_NN_PATH=FOLDER bazel run --config=peer //tools:bench -- --peer --kinds=layer

Layers are single calls of cortex_m/nn; models are inferences with float inputs and outputs, exported for the core. Counts are exact and
the same in every run, but instructions are not cycles. The peer's numbers, and the versions they are of, stand in
bench_yardstick.json; --peer counts its layers anew.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from absl import app, flags

from cortex_m import cycles, simulator
from cortex_m.boards import boards
from cortex_m.simulator import elf_size

FLAGS = flags.FLAGS
flags.DEFINE_list("cores", None, "Short names: m55,m4,m3. All that have a board by default.")
flags.DEFINE_list("kinds", ["layer", "model"], "layer, model or both.")
flags.DEFINE_string("json", None, "Also write the tables to this file.")
flags.DEFINE_string(
    "record", None, "Write the figures to this file: bench_recorded.json, which bench_test holds them against."
)
flags.DEFINE_bool("peer", False, "Count CMSIS-NN's layers in this run, instead of reading them from the yardstick.")
flags.DEFINE_bool("cycles", False, "Also print estimated cycles (docs/cycles.md). Wants LLVM 19 or newer.")
flags.DEFINE_string("record_yardstick", None, "With --peer: write its figures to this file, bench_yardstick.json.")

_HERE = Path(__file__).parent
_PROGRAMS = Path("cortex_m/nn/bench")
_MODELS = Path("tools/bench_models")
KINDS = ("layer", "model")
NETWORKS = {
    "DS-CNN": "ds_cnn",
    "ResNet8": "resnet8",
    "MobileNetV1-0.25, 96x96": "mobilenet_v1_025",
    "deep autoencoder": "deep_autoencoder",
    "MobileNetV2, 224x224": "mobilenet_v2",
}
# Of a case: {"instructions": ..., "flash_bytes": ..., "ram_bytes": ...}, bytes for models alone.
Figures = dict[str, int]


def yardstick() -> dict:
    """versions; by core and case, the peer's instructions ("layer", "model") and bytes ("memory")."""
    return json.loads((_HERE / "bench_yardstick.json").read_text())


def available_cores() -> dict[str, str]:
    """Short name ("m55") to board, for each core that the yardstick knows and that has a board."""
    board_of = {core: name for name in boards.names() for core in boards.load(name)["cores"]}
    return {name: board_of[f"cortex_{name}"] for name in yardstick()["layer"] if f"cortex_{name}" in board_of}


def kinds_of(core: str) -> list[str]:
    """What is measured on a core: the models are exported for some of them alone."""
    return [kind for kind in KINDS if core in yardstick()[kind]]


def measure(core: str, board: str, kind: str) -> dict[str, Figures]:
    """Figures by case; says on standard error what runs."""
    if kind == "layer":
        _progress(f"{core}: layers")
        return {case: {"instructions": count} for case, count in count_layers(core, board).items()}
    return {case: measure_model(core, board, case) for case in NETWORKS}


def peer_layers(core: str, board: str) -> dict[str, int]:
    """CMSIS-NN's instructions by case. FileNotFoundError if its programs are not built."""
    if not (_PROGRAMS / f"bench_peer_cortex_{core}.elf").is_file():
        raise FileNotFoundError(
            "--peer: CMSIS-NN's programs are not built; add --config=peer to the command, before the target, "
            "and name its folder in $CMSIS_NN_PATH"
        )
    _progress(f"{core}: CMSIS-NN's layers")
    return count_layers(core, board, "bench_peer")


def count_layers(core: str, board: str, program: str = "bench") -> dict[str, int]:
    """Instructions by case."""
    result = simulator.run(board, _PROGRAMS / f"{program}_cortex_{core}.elf", timeout=300)
    lines = [line.rsplit(": ", 1) for line in result.stdout.splitlines()]
    return {case: int(value) for case, value in lines}


def estimate_layers(core: str, program: str = "bench") -> dict[str, int]:
    """Estimated cycles by case. Raises MissingLlvm."""
    _progress(f"{core}: layers, for an estimate of cycles")
    elf = _PROGRAMS / f"{program}_cortex_{core}.elf"
    result, segments = cycles.count(f"cortex_{core}", elf)
    estimator, layers = cycles.Estimator(f"cortex_{core}", elf), cycles.measured(segments)
    estimator.learn(layers)
    names = [line.rsplit(": ", 1)[0] for line in result.stdout.splitlines()]
    return {name: round(estimator.estimate(layer).cycles) for name, layer in zip(names, layers, strict=True)}


def measure_model(core: str, board: str, case: str) -> Figures:
    """One inference. flash_bytes: code, constants and .pte; ram_bytes: planned arena and state of the runtime."""
    _progress(f"{core}: {case}")
    network = NETWORKS[case]
    elf = _MODELS / f"{network}_{core}.elf"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "input.bin").write_bytes((_MODELS / f"{network}.bin").read_bytes())
        arguments = ["--input", "input.bin", "--output-prefix", "output"]
        printed = simulator.run(board, elf, arguments, cwd=folder, timeout=600).stdout
    values = dict(line.rsplit(": ", 1) for line in printed.splitlines() if ": " in line)
    return {
        "instructions": int(values["inference instructions"]),
        "flash_bytes": elf_size.report(elf)["flash"],
        "ram_bytes": int(values["arena"]) + int(values["method state"]),
    }


def compiler(core: str) -> str:
    """What the measured program was compiled with, "gcc 12": another one gives other counts."""
    found = re.search(rb"GCC: \([^)]*\) (\d+)\.", (_PROGRAMS / f"bench_cortex_{core}.elf").read_bytes())
    if found is None:
        raise ValueError(f"the bench program of {core} does not say which GCC compiled it")
    return f"gcc {found[1].decode()}"


def rows(core: str, kind: str, measured: dict[str, Figures], peer: dict[str, int] | None = None) -> list[dict]:
    """One row for each case that both sides have, in the order of `peer`: the yardstick's figures if None."""
    peer = peer or yardstick()[kind][core]
    return [
        {
            "core": core,
            "case": case,
            "kind": kind,
            "instructions": measured[case]["instructions"],
            "yardstick": peer[case],
            "ratio": round(measured[case]["instructions"] / peer[case], 4),
            "flash_bytes": measured[case].get("flash_bytes"),
            "ram_bytes": measured[case].get("ram_bytes"),
        }
        for case in peer
        if case in measured
    ]


def geometric_mean(table: list[dict]) -> float:
    return math.exp(sum(math.log(row["instructions"] / row["yardstick"]) for row in table) / len(table))


def memory_rows(table: list[dict]) -> list[tuple[str, int, int, int, int]]:
    """(case, flash, the peer's, RAM, the peer's) of the models whose bytes the yardstick has."""
    known = yardstick()["memory"]
    found = []
    for row in table:
        peer = known.get(row["core"], {}).get(row["case"]) if row["kind"] == "model" else None
        if peer is not None:
            flash, ram = peer["code"] + peer["pte"], peer["arena"] + peer["state"]
            found.append((row["case"], row["flash_bytes"], flash, row["ram_bytes"], ram))
    return found


def versions(core: str) -> dict:
    """Of the compiler, the simulator and the peer."""
    qemu = subprocess.run(["qemu-system-arm", "--version"], capture_output=True, text=True, check=True).stdout
    return {"compiler": compiler(core), "simulator": qemu.splitlines()[0], "yardstick": yardstick()["versions"]}


def print_cycles(core: str, ours: dict[str, int], peer: dict[str, int] | None) -> None:
    """Estimated cycles of layers, and of the peer's with --peer."""
    print(f"{core + ', layers, cycles':42} {'estimate':>13}" + (f" {'peer, est.':>13} {'ratio':>7}" if peer else ""))
    for case, count in ours.items():
        beside = f" {peer[case]:13,} {count / peer[case]:7.3f}" if peer and case in peer else ""
        print(f"{case:42} {count:13,}{beside}")
    if peer:
        logs = [math.log(ours[case] / peer[case]) for case in peer]
        print(f"{'geometric mean':70} {math.exp(sum(logs) / len(logs)):7.3f}")
    print("every figure is an estimate: docs/cycles.md\n", flush=True)


def print_table(core: str, kind: str, table: list[dict]) -> None:
    print(
        f"{core + ', ' + kind + 's':42} {'instructions':>13} {'yardstick':>13} {'ratio':>7} {'flash':>10} {'RAM':>10}"
    )
    for row in table:
        sizes = "".join(f" {row[key]:10,}" for key in ("flash_bytes", "ram_bytes") if row[key] is not None)
        print(f"{row['case']:42} {row['instructions']:13,} {row['yardstick']:13,} {row['ratio']:7.3f}{sizes}")
    print(f"{'geometric mean':70} {geometric_mean(table):7.3f}\n", flush=True)
    memory = memory_rows(table)
    if memory:
        titles = f"{'flash':>10} {'yardstick':>10} {'ratio':>7} {'RAM':>10} {'yardstick':>10} {'ratio':>7}"
        print(f"{core + ', bytes':42} {titles}")
        for case, *pairs in memory:
            cells = [f"{ours:10,} {peer:10,} {ours / peer:7.3f}" for ours, peer in (pairs[:2], pairs[2:])]
            print(f"{case:42} {' '.join(cells)}")
        print(flush=True)


def _progress(text: str) -> None:
    print(f"measuring {text}", file=sys.stderr, flush=True)


def _path(name: str) -> Path:
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / name


def recorded() -> dict:
    """The record by compiler ("gcc 12"): by core, the instructions of layers; under "model", by core, all figures."""
    return json.loads((_HERE / "bench_recorded.json").read_text())


def recorded_figures(measured: dict[str, dict[str, dict[str, Figures]]]) -> dict:
    """The record with what was measured by core and kind. What was not measured is as in the file."""
    kept = recorded()
    of_compiler = kept.setdefault(compiler(next(iter(measured))), {})
    for core, kinds in measured.items():
        if "layer" in kinds:
            of_compiler[core] = {case: figures["instructions"] for case, figures in kinds["layer"].items()}
        if "model" in kinds:
            of_compiler.setdefault("model", {})[core] = kinds["model"]
    return kept


def _check_flags(argv: list[str], cores: dict[str, str], names: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]}")
    unknown = [name for name in names if name not in cores]
    if unknown:
        raise app.UsageError(f"no board or no yardstick for {', '.join(unknown)}; there is one for {', '.join(cores)}")
    if not FLAGS.kinds or not set(FLAGS.kinds) <= set(KINDS):
        raise app.UsageError(f"--kinds={','.join(FLAGS.kinds)}: there are {' and '.join(KINDS)}")
    if FLAGS.peer and "layer" not in FLAGS.kinds:
        raise app.UsageError("--peer counts layers: add --kinds=layer")
    if FLAGS.record_yardstick and not FLAGS.peer:
        raise app.UsageError("--record_yardstick writes what --peer counts: add --peer")


def main(argv: list[str]) -> None:
    cores = available_cores()
    names = FLAGS.cores or list(cores)
    _check_flags(argv, cores, names)
    report: dict = {"versions": versions(names[0]), "rows": [], "geomean": {core: {} for core in names}}
    measured: dict[str, dict[str, dict[str, Figures]]] = {core: {} for core in names}
    peers = yardstick()
    for core in names:
        if FLAGS.peer:
            try:
                peers["layer"][core] = peer_layers(core, cores[core])
            except FileNotFoundError as error:
                raise app.UsageError(str(error)) from None
        for kind in [kind for kind in FLAGS.kinds if kind in kinds_of(core)]:
            measured[core][kind] = measure(core, cores[core], kind)
            table = rows(core, kind, measured[core][kind], peers[kind][core])
            report["rows"] += table
            report["geomean"][core][kind] = round(geometric_mean(table), 4)
            print_table(core, kind, table)
            if FLAGS.cycles and kind == "layer":
                try:
                    report.setdefault("estimated_cycles", {})[core] = estimate_layers(core)
                    beside = estimate_layers(core, "bench_peer") if FLAGS.peer else None
                except cycles.MissingLlvm as error:
                    raise app.UsageError(str(error)) from None
                print_cycles(core, report["estimated_cycles"][core], beside)
    if FLAGS.json:
        _path(FLAGS.json).write_text(json.dumps(report, indent=1) + "\n")
    if FLAGS.record:
        _path(FLAGS.record).write_text(json.dumps(recorded_figures(measured), indent=1) + "\n")
    if FLAGS.record_yardstick:
        _path(FLAGS.record_yardstick).write_text(json.dumps(peers, indent=1) + "\n")


if __name__ == "__main__":
    app.run(main)
