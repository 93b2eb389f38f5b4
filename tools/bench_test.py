"""Kernels and inferences stay as fast, and models as small, as recorded for the compiler.

After an improvement, and for a new compiler: bazel run //tools:bench -- --record tools/bench_recorded.json
"""

import functools

import pytest

from tools import bench

_CORES = bench.available_cores()
_KINDS = [(core, kind) for core in sorted(_CORES) for kind in bench.kinds_of(core)]


def recorded(compiler: str, core: str, kind: str) -> dict[str, bench.Figures]:
    """Figures by case. AssertionError, with what to do, where there is no record."""
    figures = bench.recorded().get(compiler, {})
    figures = figures.get("model", {}).get(core) if kind == "model" else figures.get(core)
    assert figures is not None, (
        f"{kind}s on {core} have no record for {compiler}; if this compiler is meant, make one: "
        "bazel run //tools:bench -- --record tools/bench_recorded.json"
    )
    return figures if kind == "model" else {case: {"instructions": count} for case, count in figures.items()}


def _recorded(core: str, kind: str) -> dict[str, bench.Figures]:
    return recorded(bench.compiler(core), core, kind)


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


@pytest.mark.parametrize(("core", "kind"), _KINDS)
def test_no_figure_rises_by_more_than_two_percent(core, kind):
    assert risen(_measured(core, kind), _recorded(core, kind)) == []


@pytest.mark.parametrize(("core", "kind"), _KINDS)
def test_every_case_of_the_yardstick_is_measured(core, kind):
    assert _measured(core, kind).keys() >= bench.yardstick()[kind][core].keys()


def test_another_compiler_is_a_failure_that_says_how_to_record():
    with pytest.raises(AssertionError, match=r"layers on m4 have no record for gcc 3; .* -- --record tools/bench_rec"):
        recorded("gcc 3", "m4", "layer")
    with pytest.raises(AssertionError, match="models on m0 have no record for gcc 12; "):
        recorded("gcc 12", "m0", "model")


@pytest.mark.parametrize("case", ["quantize 224x224x3", "quantize 3x224x224 to NHWC", "dequantize 224x224x3 to NCHW"])
def test_floats_cost_less_than_four_instructions_each_on_m55(case):
    assert _measured("m55", "layer")[case]["instructions"] < 4 * 3 * 224 * 224


def test_a_rise_is_found_in_each_figure():
    before = {"net": {"instructions": 1000, "flash_bytes": 500, "ram_bytes": 100}}
    assert risen({"net": {"instructions": 1020, "flash_bytes": 510, "ram_bytes": 102}}, before) == []
    assert risen({"net": {"instructions": 1021, "flash_bytes": 500, "ram_bytes": 103}}, before) == [
        "net: instructions 1,021, recorded 1,000", "net: ram_bytes 103, recorded 100",
    ]  # fmt: skip


def test_recording_one_core_keeps_the_others():
    layers = {"conv": {"instructions": 7}}
    before = bench.recorded()
    compiler = bench.compiler("m55")
    assert bench.recorded_figures({"m55": {"layer": layers}}) == {
        **before, compiler: {**before.get(compiler, {}), "m55": {"conv": 7}},
    }  # fmt: skip


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
