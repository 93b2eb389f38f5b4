"""docs/operators.md: which operator is tested with which element types on which core.

python -m cortex_m.test.suite.document docs/operators.md
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

import torch

from cortex_m.ops.operators import read_schemas
from cortex_m.target_config import Backend, core_table
from cortex_m.test.suite.case import Case, reference
from cortex_m.test.suite.refusals import all_refusals
from cortex_m.test.suite.registry import all_cases

_HEAD = """<!-- Made by `python -m cortex_m.test.suite.document docs/operators.md`; document_test compares. Do not edit. -->

# Operators and their tests

The operators of `cortex_m/ops/operators.yaml`, and how many calls of each are compared byte for byte with its Python reference. A core's
column is the test `//cortex_m/test/suite:<core>_test`, which runs the universal runner on the simulated core; `host` is the same C++ on
the machine that builds. In each call the whole arena is watched: inputs and the guards around each input, scratch and output must be
untouched. `//cortex_m/test/suite:oracle_test` compares the reference with a second computation in exact integers, and sees to it
that at most half of a call's outputs sit at a rail. `//cortex_m/test/suite:sanitized_test` repeats all of it on the host under
AddressSanitizer and UndefinedBehaviorSanitizer.

*Chosen* calls cover shapes, strides, paddings, layouts and the edges of the numbers; *drawn* ones are hypothesis' layer
parameters; *exhaustive* ones go through all pairs or all values. A *refusal* is a call with one bad argument, which must fail with
the operator's own reason. An operator for the kernels of some cores is refused by the others, each of its calls.

"""
_KINDS = ("example", "drawn", "exhaustive")


def _types(case: Case) -> str:
    """Element types of the first tensor and of the output."""
    first = next(value for value in case.arguments if isinstance(value, torch.Tensor))
    given, result = (str(dtype).removeprefix("torch.") for dtype in (first.dtype, reference(case).dtype))
    return given if given == result else f"{given} → {result}"


def _row(cells: list) -> str:
    return "| " + " | ".join(str(cell) if cell else "" for cell in cells) + " |"


def document() -> str:
    """The whole file."""
    counts: dict[str, dict[str, Counter]] = defaultdict(lambda: defaultdict(Counter))
    runs: dict[str, dict[str, Counter]] = defaultdict(lambda: defaultdict(Counter))  # by core
    isas = {core: Backend[entry["isa"]] for core, entry in core_table().items()}
    for case in all_cases():
        counts[case.op][_types(case)][case.kind] += 1
        runs[case.op][_types(case)].update(["host", *(core for core, isa in isas.items() if isa in case.backends)])
    refusals = Counter(refusal.case.op for refusal in all_refusals())
    cores = ["host", *(core.removeprefix("cortex_").upper().replace("PLUS", "+") for core in core_table())]
    header = ["operator", "element types", "chosen", "drawn", "exhaustive", *cores, "refusals"]
    lines = [_row(header), _row(["---"] * len(header))]
    for op in read_schemas():
        for number, (types, kinds) in enumerate(sorted(counts[op].items())):
            first = number == 0
            lines.append(
                _row(
                    [
                        f"`{op}`" if first else "",
                        types,
                        *(kinds[kind] for kind in _KINDS),
                        *(runs[op][types][core] for core in ["host", *isas]),
                        refusals[op] * first,
                    ]
                )
            )
    return (
        _HEAD
        + "\n".join(lines)
        + "\n\n## Schemas\n\n"
        + "".join(f"    {schema}\n" for schema in read_schemas().values())
    )


def main(argv: list[str]) -> None:
    Path(argv[1]).write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv)
