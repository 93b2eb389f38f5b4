"""All cases as a file: programs, inputs and expected outputs, so that a core is tested without torch.

    archive = Archive(Path("cases.zip"))
    jobs = archive.jobs("MVE")                  # what a core with that instruction set runs
    for job in jobs: ...
    job.difference(result)                      # None, or what is wrong, in a sentence

write_archive.py writes it. Standard library only.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cortex_m.test.batch import Job, RawResult


@dataclass(frozen=True)
class CaseJob:
    """A case for one instruction set.

    kind: as for a Case, or "refusal".
    expected: bytes of the out tensor; None if the device must refuse the call.
    regions: name, begin and end of the tensors in the arena; empty if each tensor is a memory of its own.
    """

    op: str
    name: str
    kind: str
    program: bytes
    inputs: tuple[bytes, ...]
    expected: bytes | None
    regions: tuple[tuple[str, int, int], ...]

    @property
    def job(self) -> Job:
        return Job(self.program, self.inputs, 1)

    def difference(self, result: RawResult) -> str | None:
        """What is wrong with the device's answer, or None."""
        if result.crashed:
            return f"crashed: {result.error}"
        if self.kind == "refusal" and result.error is not None:
            return _reason_missing(result.error, self.op)
        if result.error is not None:
            return f"was refused: {result.error}"
        if self.expected is None:
            return "was run instead of refused"
        if not self.regions:
            return _differing("out", result.outputs[0], self.expected)
        return self._arena_difference(result.outputs[0], self.expected)

    def _arena_difference(self, after: bytes, expected: bytes) -> str | None:
        wanted = bytearray(self.inputs[0])
        for name, begin, end in self.regions:
            if name == "out":
                wanted[begin:end] = expected
            elif name.endswith("scratch"):
                wanted[begin:end] = after[begin:end]
        if after == wanted:
            return None
        for name, begin, end in self.regions:
            difference = _differing(name, after[begin:end], bytes(wanted[begin:end]))
            if difference:
                return difference
        position = next(i for i, pair in enumerate(zip(after, wanted)) if pair[0] != pair[1])
        return f"wrote {self._place(position)}"

    def _place(self, position: int) -> str:
        before = [region for region in self.regions if region[2] <= position]
        if not before:
            return f"byte -{self.regions[0][1] - position} of {self.regions[0][0]}"
        name, begin, end = before[-1]
        following = [region for region in self.regions if region[1] > position]
        if following and following[0][1] - position < position - end + 1:
            return f"byte -{following[0][1] - position} of {following[0][0]}"
        return f"byte {position - begin} of {name}, which has {end - begin}"


def _differing(name: str, got: bytes, wanted: bytes) -> str | None:
    if got == wanted:
        return None
    wrong = [i for i, pair in enumerate(zip(got, wanted)) if pair[0] != pair[1]]
    if not wrong:
        return f"{name} has {len(got)} bytes instead of {len(wanted)}"
    first = wrong[0]
    return f"{name} differs in {len(wrong)} of {len(wanted)} bytes, the first at offset {first}: {got[first]} instead of {wanted[first]}"


def _reason_missing(error: str, op: str) -> str | None:
    """A refusal names the operator and says more than that something was wrong."""
    if f"cortex_m::{op}" not in error:
        return f"was refused without the operator's name: {error}"
    if "the kernel library refused the arguments" in error:
        return f"was refused without a reason: {error}"
    return None


class Archive:
    """The file that ArchiveWriter makes."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as file:
            self._index: dict[str, Any] = json.loads(file.read("index.json"))
            self._blobs = {name: file.read(name) for name in file.namelist() if name != "index.json"}

    @property
    def operators(self) -> list[str]:
        """Those that have a case, in alphabetical order."""
        return sorted({entry["op"] for entry in self._index["cases"]})

    def jobs(self, variant: str) -> Iterator[CaseJob]:
        """variant: an instruction set, "MVE", "DSP" or "SCALAR"; or "HOST", or "apart" (program.py)."""
        for entry in self._index["cases"]:
            number = entry["programs"].get(variant)
            if number is None:
                continue
            stored = self._index["programs"][number]
            yield CaseJob(
                entry["op"],
                entry["name"],
                entry["kind"],
                self._blobs[stored["program"]],
                tuple(self._blobs[name] for name in stored["inputs"]),
                None if entry["expected"] is None else self._blobs[entry["expected"]],
                tuple(tuple(region) for region in stored["regions"]),
            )


class ArchiveWriter:
    """Collects cases; equal bytes are stored once, and equal cases give equal files."""

    def __init__(self) -> None:
        self._blobs: dict[bytes, str] = {}
        self._programs: dict[str, int] = {}
        self._index: dict[str, list] = {"cases": [], "programs": []}

    def _blob(self, data: bytes) -> str:
        return self._blobs.setdefault(data, str(len(self._blobs)))

    def add_program(self, program: bytes, inputs: tuple[bytes, ...], regions: list[tuple[str, int, int]]) -> int:
        """Its number."""
        stored = {"program": self._blob(program), "inputs": [self._blob(data) for data in inputs], "regions": regions}
        key = json.dumps(stored)
        if key not in self._programs:
            self._programs[key] = len(self._programs)
            self._index["programs"].append(stored)
        return self._programs[key]

    def add_case(self, op: str, name: str, kind: str, expected: bytes | None, programs: dict[str, int]) -> None:
        """programs: number of the program by variant."""
        blob = None if expected is None else self._blob(expected)
        entry = {"op": op, "name": name, "kind": kind, "expected": blob, "programs": programs}
        self._index["cases"].append(entry)

    def write(self, path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            for name, data in [
                ("index.json", json.dumps(self._index).encode()),
                *((n, d) for d, n in self._blobs.items()),
            ]:
                file.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 1)
