"""Everything that a report says, as one JSON-able dict: what pages and tables are made of.

    {"model": "//examples:mobilenet_model", "target": "any", "cores": {"cortex_m55": {...}}, "layers": [...], ...}

Figures are measured or read, not estimated: instructions are those that a simulated core executed, flash and RAM are the
ELF's, the layers' tensors and memory are the program's.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cortex_m.analysis.kernels import kernel_set
from cortex_m.analysis.layers import ProgramFacts
from cortex_m.analysis.memory import MemoryPlan
from cortex_m.boards import boards
from cortex_m.report.flash import read_flash
from cortex_m.simulator import elf_size, run
from cortex_m.test.batch import read_layers


@dataclass(frozen=True)
class Measured:
    """What a runner printed on a simulated core. values: its "key: value" lines. layers: instructions by index."""

    values: dict[str, str]
    layers: dict[int, int]

    def number(self, key: str) -> int:
        return int(self.values[key])


def measure(elf: Path, core: str, vectors: Path, simulator: str, timeout: float) -> Measured:
    """Runs the model's runner once on its example inputs, and once more counting by layer. Raises SimulatorError."""
    inputs = json.loads((vectors / "vectors.json").read_text())["input"]
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--profile", "--output-prefix", "output"]
        for entry in inputs:  # into the folder: what semihosting can pass on is short
            Path(folder, entry["file"]).write_bytes((vectors / entry["file"]).read_bytes())
            arguments += ["--input", entry["file"]]
        result = run(boards.for_core(core), elf, arguments, cwd=folder, timeout=timeout, simulator=simulator)
        wrong = [
            number
            for number, entry in enumerate(json.loads((vectors / "vectors.json").read_text())["expected"])
            if Path(folder, f"output-{number}.bin").read_bytes() != (vectors / entry["file"]).read_bytes()
        ]
    if wrong:
        raise ValueError(
            f"{elf.name} on {core} gives another output {wrong[0]} than was predicted; `compare` says from which layer on"
        )
    return Measured(result.values, {row.index: row.instructions for row in read_layers(result.stdout)})


def collect(
    name: str, program: bytes, report: dict[str, Any], elves: dict[str, Path], measured: dict[str, Measured]
) -> dict[str, Any]:
    """name: label of the model. report: the exporter's. elves, measured: by core, of the same cores."""
    facts, plan = ProgramFacts.of(program), MemoryPlan.of(program)
    return {
        "model": name,
        "target": report["target"],
        "inputs": report["inputs"],
        "outputs": report["outputs"],
        "program_bytes": len(program),
        "constant_bytes": facts.constant_bytes,
        "macs": facts.macs,
        "sqnr_db": report["sqnr_db"],
        "samples": report["accuracy"]["samples"],
        "refusals": report["refusals"],
        "layout_copies": report["layout_copies"],
        "left_out": [row["node"] for row in report["left_out"]],
        "cores": {core: _core(elves[core], measured[core]) for core in elves},
        "layers": _layers(facts, report, measured),
        "memory": plan.to_json(),
    }


def _core(elf: Path, measured: Measured) -> dict[str, Any]:
    sizes, flash = elf_size.report(elf), read_flash(elf)
    stack = measured.number("stack used")
    return {
        "board": measured.values["board"],
        "flash_bytes": flash.total,
        "flash_sections": flash.sections,
        "flash_groups": {group: size for group, size in flash.groups.items() if size},
        "flash_files": [{"file": file, "group": group, "bytes": size} for file, group, size in flash.files],
        "ram_bytes": sizes["arena"] + sizes["data"] + sizes["bss"] + stack,
        "ram": {
            "arena": sizes["arena"],
            "method state": measured.number("method state"),
            "console, board and other data": sizes["data"] + sizes["bss"] - measured.number("method state"),
            "stack, as deep as it was used": stack,
        },
        "load_instructions": measured.number("load instructions"),
        "inference_instructions": measured.number("inference instructions"),
    }


def _layers(facts: ProgramFacts, report: dict[str, Any], measured: dict[str, Measured]) -> list[dict[str, Any]]:
    lowered = {row["index"]: row for row in report["instructions"]}
    accuracy = {row["index"]: row for row in report["accuracy"]["layers"]}
    rows = []
    for layer in facts.layers:
        known = lowered.get(layer.index, {})
        if known.get("op") != layer.op:  # the lists are not of one program: no row may speak of another's layer
            raise ValueError(
                f"instruction {layer.index} is {layer.op} in the program and {known.get('op')} in the exporter's report"
            )
        exact = accuracy.get(layer.index)
        rows.append(
            {
                "index": layer.index,
                "op": layer.op,
                "module": known["module"],
                "source": known["source"],
                "is_portable": layer.is_portable,
                "inputs": [str(tensor) for tensor in layer.inputs],
                "outputs": [str(tensor) for tensor in layer.outputs],
                "macs": layer.macs,
                "constant_bytes": layer.constant_bytes,
                "constants": [asdict(tensor) for tensor in layer.constants],
                "scratch_bytes": layer.scratch_bytes,
                "kernel": {core: layer.kernels.get(kernel_set(core).name.lower(), "") for core in measured},
                "instructions": {
                    core: counts.layers[layer.index]
                    for core, counts in measured.items()
                    if layer.index in counts.layers
                },
                "value": exact["value"] if exact else None,
                "sqnr_db": exact["sqnr_db"] if exact else None,
                "is_exact": exact is not None and exact["max_error"] == 0.0,
                "max_error": exact["max_error"] if exact else None,
                "max_steps": exact["max_steps"] if exact else None,
            }
        )
    return rows
