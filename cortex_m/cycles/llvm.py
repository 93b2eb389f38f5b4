"""LLVM's disassembler and its models of pipelines, llvm-objdump and llvm-mca of LLVM 19 or newer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence

_NEWEST, _OLDEST = 30, 19
_ITERATIONS = 50
_LINE = re.compile(r"^([0-9a-f]+):\s+(?!(?:[0-9a-f]{2} )+)([a-z].*)$")


class MissingLlvm(RuntimeError):
    """LLVM's tools are not installed. The message says how to get them."""


def find(tool: str, environment: Mapping[str, str] = os.environ) -> str:
    """Path of the newest `tool` of LLVM that there is. Raises MissingLlvm."""
    for version in range(_NEWEST, _OLDEST - 1, -1):
        found = shutil.which(f"{tool}-{version}", path=environment.get("PATH"))
        if found is not None:
            return found
    raise MissingLlvm(
        f"estimated cycles need {tool}-{_OLDEST} or newer, which is not on PATH: apt-get install llvm-{_OLDEST} brings it"
    )


def disassemble(elf: str | os.PathLike[str], triple: str, cpu: str) -> dict[int, str]:
    """Each instruction's text by its address, without comments."""
    command = [find("llvm-objdump"), "-d", "--no-show-raw-insn", f"--triple={triple}", f"--mcpu={cpu}", os.fspath(elf)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = (_LINE.match(line.lstrip()) for line in text.splitlines())
    return {int(m[1], 16): " ".join(m[2].split("@")[0].split()) for m in lines if m is not None}


def cycles(blocks: Sequence[Sequence[str]], triple: str, cpu: str) -> list[float]:
    """Of each sequence of instructions, repeated often: cycles of one repetition. An instruction unknown to the model counts one."""
    wanted = [number for number, block in enumerate(blocks) if block]
    source = "".join(
        f"# LLVM-MCA-BEGIN {number}\n" + "".join(f"\t{line}\n" for line in blocks[number]) + "# LLVM-MCA-END\n"
        for number in wanted
    )
    result = [0.0] * len(blocks)
    if not wanted:
        return result
    command = [
        find("llvm-mca"),
        f"--mtriple={triple}",
        f"--mcpu={cpu}",
        f"--iterations={_ITERATIONS}",
        "--json",
        "--instruction-info=0",
        "--resource-pressure=0",
        "--skip-unsupported-instructions=any",
    ]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"llvm-mca failed: {done.stderr.splitlines()[-1] if done.stderr else done.returncode}")
    for region in json.loads(done.stdout)["CodeRegions"]:
        number, summary = int(region["Name"]), region["SummaryView"]
        unknown = len(blocks[number]) - summary["Instructions"] / _ITERATIONS
        result[number] = summary["TotalCycles"] / _ITERATIONS + max(0.0, unknown)
    missing = [number for number in wanted if result[number] == 0.0]
    for number in missing:  # nothing in them that the model knows
        result[number] = float(len(blocks[number]))
    return result
