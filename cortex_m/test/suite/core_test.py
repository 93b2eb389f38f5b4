"""Each case on each core: the reference's bytes in out, every other byte of memory as it was; each refusal with its reason.

Bazel runs this file once for each core (-k "[cortex_m55-"), with that core's runner. "sanitized" is the host with AddressSanitizer and
UndefinedBehaviorSanitizer, each tensor in a memory of its own. What is expected comes from the reference, which
oracle_test.py compares with exact integer arithmetic.
"""

import os
from functools import lru_cache
from pathlib import Path

import pytest

from cortex_m.target_config import core_table
from cortex_m.test.batch import BatchRunner
from cortex_m.test.suite.archive import Archive

_ARCHIVE = Archive(Path("cortex_m/test/suite/cases.zip"))
# Which programs of the archive a core runs.
_VARIANTS = {"host": "HOST", "sanitized": "apart", **{core: entry["isa"] for core, entry in core_table().items()}}


def _runner(core: str) -> BatchRunner:
    if core == "sanitized":
        folder = os.environ.get("CORTEX_M_RUNNERS", "cortex_m/runner")
        return BatchRunner("host", runner=Path(folder) / "universal_int8_sanitized")
    return BatchRunner(core)


@lru_cache(maxsize=1)
def _differences(core: str) -> dict[tuple[str, bool], list[str]]:
    """For each operator, its calls and its refusals: what is wrong, in sentences. One start runs all of them."""
    jobs = list(_ARCHIVE.jobs(_VARIANTS[core]))
    found: dict[tuple[str, bool], list[str]] = {}
    for job, result in zip(jobs, _runner(core).run([job.job for job in jobs], timeout=900)):
        wrong = found.setdefault((job.op, job.kind == "refusal"), [])
        difference = job.difference(result)
        if difference:
            wrong.append(f"{job.op}: {job.name}: {difference}")
    return found


@pytest.mark.parametrize("op", _ARCHIVE.operators)
@pytest.mark.parametrize("core", _VARIANTS)
def test_calls(core, op):
    # An operator for some cores' kernels alone has nothing but refusals on the others.
    assert _differences(core).get((op, False), []) == []


@pytest.mark.parametrize("op", _ARCHIVE.operators)
@pytest.mark.parametrize("core", _VARIANTS)
def test_refusals(core, op):
    assert _differences(core)[op, True] == []
