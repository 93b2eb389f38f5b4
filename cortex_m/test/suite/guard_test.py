"""A kernel that reads or writes one byte too far is found: by the guards on each core, by the sanitizers on the host.

The kernels are those of cortex_m/runner/testing: test::poke copies its input and writes one byte more at an offset from out,
test::peek reads its input with an offset.
"""

import functools
from pathlib import Path

import pytest
import torch

from cortex_m.test.batch import BatchRunner
from cortex_m.test.suite.archive import CaseJob
from cortex_m.test.suite.program import GUARD, Out, ProgramMaker

_FOLDER = Path("cortex_m/runner/testing").resolve()
_RUNNERS = {"host": "universal", "cortex_m55": "universal_cortex_m55.elf", "cortex_m4": "universal_cortex_m4.elf"}
_SIZE = 21
_INPUT = torch.arange(-5, _SIZE - 5, dtype=torch.int8)
_CONTENT = _INPUT.numpy().tobytes()


def _job(kernel: str, numbers: list[int], apart: bool) -> CaseJob:
    maker = ProgramMaker(apart)
    x = maker.tensor("input", _INPUT, (0,), constant=False)
    numbers = [maker.value(number) for number in numbers]
    out = maker.uninitialised("out", Out((_SIZE,), torch.int8, (0,)))
    made = maker.finish(f"test::{kernel}", [x, *numbers, out, out])
    regions = tuple((region.name, region.begin, region.end) for region in made.regions)
    return CaseJob(kernel, "", "example", made.program, made.inputs, _CONTENT, regions)


def _differences(runner: BatchRunner, jobs: list[CaseJob]) -> list:
    return [job.difference(result) for job, result in zip(jobs, runner.run([job.job for job in jobs]))]


@functools.cache
def _runner(core: str) -> BatchRunner:
    return BatchRunner(core, _FOLDER / _RUNNERS[core])


def _sanitized() -> BatchRunner:
    return BatchRunner("host", _FOLDER / "universal_sanitized")


@pytest.mark.parametrize("core", _RUNNERS)
def test_each_byte_of_the_guards_is_watched(core):
    """Every offset from the guard before the first tensor to the guard behind the last one."""
    first = -(GUARD + _SIZE + 11 + GUARD)  # 11: to the next multiple of 16 from 21
    offsets = [offset for offset in range(first, _SIZE + GUARD) if not 0 <= offset < _SIZE]
    jobs = [_job("poke", [offset, 77], apart=False) for offset in offsets]
    found = _differences(_runner(core), jobs)
    assert len(found) == len(offsets) > 100
    for offset, sentence in zip(offsets, found):
        held = jobs[0].inputs[0][jobs[0].regions[-1][1] + offset]
        assert sentence is not None or held == 77, offset
    assert found[offsets.index(-1)] == "wrote byte -1 of out"
    assert found[offsets.index(_SIZE)] == f"wrote byte {_SIZE} of out, which has {_SIZE}"


@pytest.mark.parametrize("core", _RUNNERS)
def test_a_kernel_that_stays_inside_is_not_blamed(core):
    jobs = [_job("poke", [offset, _CONTENT[offset]], apart=False) for offset in range(_SIZE)]
    assert _differences(_runner(core), jobs) == [None] * _SIZE
    (wrong,) = _differences(_runner(core), [_job("poke", [3, 77], apart=False)])
    assert wrong == f"out differs in 1 of {_SIZE} bytes, the first at offset 3: 77 instead of {_CONTENT[3]}"


def test_the_sanitized_host_finds_each_access_outside_of_a_tensor():
    """Reads too, which no comparison of outputs shows: test::peek at +1 reads one byte behind its input."""
    jobs = [_job("peek", [offset], apart=True) for offset in (1, -1, 40)]
    jobs += [_job("poke", [offset, 77], apart=True) for offset in (-1, _SIZE, _SIZE + 40)]
    for sentence in _differences(_sanitized(), jobs):
        assert sentence.startswith("crashed: ") and "AddressSanitizer" in sentence


def test_the_sanitized_host_runs_what_is_right():
    jobs = [_job("peek", [0], apart=True), _job("poke", [5, _CONTENT[5]], apart=True)]
    assert _differences(_sanitized(), jobs) == [None, None]
