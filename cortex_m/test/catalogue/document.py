"""docs/catalogue.md: what becomes of each module and function of torch.nn and of each core ATen operator.

python -m cortex_m.test.catalogue.document docs/catalogue.md        (bazel run //tools:catalogue)
"""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from cortex_m.test.catalogue.case import Calls
from cortex_m.test.catalogue.judge import Row, rows
from cortex_m.test.catalogue.sections import SECTIONS
from cortex_m.test.device import Device

_HEAD = """<!-- Made by `bazel run //tools:catalogue`; //cortex_m/test/catalogue:catalogue_test compares. Do not edit. -->

# What becomes int8

Every module of `torch.nn`, every function of `torch.nn.functional` and every core ATen operator of torch {version}, each in one
typical call: exported with `export_model`, run by the host program and on a simulated Cortex-M55, which gave the same bytes.

| | |
| --- | --- |
| int8 | all of it; with `strict = True` it passes |
| partly int8 | some operators of it stay float; `strict = True` is an error with the reason |
| float | it runs in float, with the portable kernels; `strict = True` is an error with the reason |
| exact | nothing is computed on floats: integers, booleans, copies, or nothing at all |
| refused | an error in one sentence |
| fault | known to be wrong; it will be mended |

*dB* is the signal to noise of the worst output against PyTorch in float, on a sample that calibration has not seen; *equal* is no noise
at all. Inputs are uniform in -2..2 where the function has values there. Movements and clamps follow a tanh, as they stay in the type of what is before them. `nn` is
`torch.nn`, `F` is `torch.nn.functional`. What the words of a reason mean: [quantizer](quantizer.md), [portable operators](portable_ops.md).
"""


def section(calls: Calls, found: Sequence[Row]) -> str:
    """A heading, a table with a row for each of `found`, and the names that have no call."""
    lines = [f"## {calls.title}", ""]
    if found:
        lines += ["| call | becomes | dB | reason |", "| --- | --- | --- | --- |"]
        lines += [f"| {' | '.join(cells(row))} |" for row in found]
        lines.append("")
    reasons: dict[str, list[str]] = {}
    for name, reason in calls.without.items():
        reasons.setdefault(reason, []).append(f"`{name}`")
    lines += [line for reason, names in reasons.items() for line in (f"No call, {reason}: {', '.join(names)}.", "")]
    return "\n".join(lines)


def cells(row: Row) -> tuple[str, str, str, str]:
    state = "fault" if row.fault else row.state
    reason = (row.fault if row.fault and not row.reason else row.reason).replace("|", "\\|")
    return f"`{row.name}`", state, "" if row.sqnr_db is None else _decibels(row.sqnr_db), reason


def _decibels(value: float) -> str:
    return "equal" if value == math.inf else "none" if value == -math.inf else f"{value:.0f}"


def read(text: str) -> dict[str, dict[str, tuple[str, str, str]]]:
    """For each heading its rows by name: becomes, dB, reason."""
    found: dict[str, dict[str, tuple[str, str, str]]] = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("## "):
            title = line.removeprefix("## ")
            found[title] = {}
        elif line.startswith("| `") and title:
            name, state, decibels, reason = line.removeprefix("| ").removesuffix(" |").split(" | ", 3)
            found[title][name.strip("`")] = (state, decibels.strip(), reason)
    return found


def summary(states: Iterable[str], without: int) -> str:
    """The counts, for the top of the document."""
    counts = Counter(states)
    order = ("int8", "partly int8", "float", "exact", "refused", "fault")
    parts = ", ".join(f"{counts[state]} {state}" for state in order if counts[state])
    return f"{sum(counts.values())} calls: {parts}. {without} names have no call.\n"


def assemble(sections: Sequence[tuple[Calls, str]]) -> str:
    """The whole file, from the text of each section."""
    body = "\n".join(text for _, text in sections)
    states = [state for table in read(body).values() for state, _, _ in table.values()]
    count = summary(states, sum(len(calls.without) for calls, _ in sections))
    return f"{_HEAD.format(version=torch.__version__.split('+')[0])}\n{count}\n{body}".rstrip() + "\n"


def main(arguments: Sequence[str]) -> None:
    torch.set_num_threads(1)
    path = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), arguments[0] if arguments else "docs/catalogue.md")
    device = Device("cortex_m55")
    made = []
    for calls in SECTIONS:
        print(f"{calls.title}: {len(calls.calls)} calls", flush=True)
        found = rows(calls.calls, device)
        for row in found:
            if row.fault:
                print(f"  fault: {row.name}: {row.fault}", flush=True)
        made.append((calls, section(calls, found)))
    path.write_text(assemble(made), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
