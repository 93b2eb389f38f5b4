"""Kernels and inferences stay as fast, and models as small, as recorded.

After an improvement: bazel run //tools:bench -- --record tools/bench_recorded.json
"""

import functools
import json
from pathlib import Path

import pytest

from tools import bench

_RECORDED = json.loads((Path(__file__).parent / "bench_recorded.json").read_text())
_CORES = bench.available_cores()


def _recorded(core: str, kind: str) -> dict[str, bench.Figures]:
    if kind == "model":
        return _RECORDED["model"][core]
    return {case: {"instructions": count} for case, count in _RECORDED[core].items()}


@functools.cache
def _measured(core: str, kind: str) -> dict[str, bench.Figures]:
    return bench.measure(core, _CORES[core], kind)


def risen(measured: dict[str, bench.Figures], recorded: dict[str, bench.Figures]) -> list[str]:
    """A sentence for each figure that is more than 2 % above the recorded one."""
    assert measured.keys() == recorded.keys()
    return [
        f"{case}: {figure} {measured[case][figure]:,}, recorded {before:,}"
        for case, figures in recorded.items()
        for figure, before in figures.items()
        if measured[case][figure] > 1.02 * before
    ]


@pytest.mark.parametrize("kind", bench.KINDS)
@pytest.mark.parametrize("core", sorted(_CORES))
def test_no_figure_rises_by_more_than_two_percent(core, kind):
    if bench.compiler(core) != _RECORDED["compiler"]:
        pytest.skip(
            f"recorded with {_RECORDED['compiler']}, built with {bench.compiler(core)}: the figures do not compare"
        )
    assert risen(_measured(core, kind), _recorded(core, kind)) == []


@pytest.mark.parametrize("kind", bench.KINDS)
@pytest.mark.parametrize("core", sorted(_CORES))
def test_every_case_of_the_yardstick_is_measured(core, kind):
    assert _recorded(core, kind).keys() >= bench.yardstick()[kind][core].keys()


@pytest.mark.parametrize("case", ["quantize 224x224x3", "quantize 3x224x224 to NHWC", "dequantize 224x224x3 to NCHW"])
def test_floats_cost_less_than_four_instructions_each_on_m55(case):
    assert _RECORDED["m55"][case] < 4 * 3 * 224 * 224


def test_a_rise_is_found_in_each_figure():
    before = {"net": {"instructions": 1000, "flash_bytes": 500, "ram_bytes": 100}}
    assert risen({"net": {"instructions": 1020, "flash_bytes": 510, "ram_bytes": 102}}, before) == []
    assert risen({"net": {"instructions": 1021, "flash_bytes": 500, "ram_bytes": 103}}, before) == [
        "net: instructions 1,021, recorded 1,000", "net: ram_bytes 103, recorded 100",
    ]  # fmt: skip


def test_recording_one_core_keeps_the_others():
    layers = {"conv": {"instructions": 7}}
    assert bench.recorded_figures({"m55": {"layer": layers}}) == {**_RECORDED, "m55": {"conv": 7}}


def test_rows_have_the_fields_of_the_report():
    """docs/bazel.md names them."""
    case = "DS-CNN"
    peer = bench.yardstick()["model"]["m55"][case]
    (row,) = bench.rows("m55", "model", {case: {"instructions": peer // 2, "flash_bytes": 7, "ram_bytes": 5}})
    assert row == {
        "core": "m55", "case": case, "kind": "model", "instructions": peer // 2, "yardstick": peer,
        "ratio": round(peer // 2 / peer, 4), "flash_bytes": 7, "ram_bytes": 5,
    }  # fmt: skip
    assert bench.geometric_mean([row, {**row, "instructions": 2 * peer}]) == pytest.approx(1.0, rel=1e-5)


def test_bytes_stand_beside_the_yardsticks():
    row = {"core": "m55", "case": "DS-CNN", "kind": "model", "flash_bytes": 50_000, "ram_bytes": 20_000}
    assert bench.memory_rows([row]) == [("DS-CNN", 50_000, 133_245 + 54_240, 20_000, 20_464 + 11_552)]
