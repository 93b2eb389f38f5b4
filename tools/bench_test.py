"""The kernels stay as fast as recorded.

After an improvement: bazel run //tools:bench -- --record tools/bench_recorded.json
"""

import json
from pathlib import Path

import pytest

from tools import bench

_RECORDED = json.loads((Path(__file__).parent / "bench_recorded.json").read_text())
_CORES = bench.available_cores()


@pytest.mark.parametrize("core", sorted(_CORES))
def test_no_count_rises_by_more_than_two_percent(core):
    if bench.compiler(core) != _RECORDED["compiler"]:
        pytest.skip(f"recorded with {_RECORDED['compiler']}, built with {bench.compiler(core)}: the counts do not compare")
    counts = bench.count(core, _CORES[core])
    assert counts.keys() == _RECORDED[core].keys()
    risen = {case: (counts[case], before) for case, before in _RECORDED[core].items() if counts[case] > 1.02 * before}
    assert not risen


@pytest.mark.parametrize("core", sorted(_CORES))
def test_every_case_of_the_yardstick_is_measured(core):
    assert _RECORDED[core].keys() >= bench.yardstick()["layer"][core].keys()


@pytest.mark.parametrize("case", ["quantize 224x224x3", "quantize 3x224x224 to NHWC", "dequantize 224x224x3 to NCHW"])
def test_floats_cost_less_than_four_instructions_each_on_m55(case):
    assert _RECORDED["m55"][case] < 4 * 3 * 224 * 224
