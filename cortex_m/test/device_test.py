"""The wrapper over the universal runner, with programs by exir's own exporter."""

import pytest
import torch
from executorch.exir import to_edge
from torch.export import export

from cortex_m.seal import seal
from cortex_m.simulator import SimulatorError
from cortex_m.target_config import CortexMTargetConfig
from cortex_m.test.batch import LayerCount, read_layers
from cortex_m.test.device import Device

CORES = ["host", "cortex_m55", "cortex_m4"]


class Double(torch.nn.Module):
    def forward(self, x):
        return x + x, x.relu()


@pytest.fixture(scope="module")
def program():
    example = torch.zeros(1, 2, 3, 4).to(memory_format=torch.channels_last)
    return bytes(to_edge(export(Double(), (example,))).to_executorch().buffer)


def damaged(program):
    wrong_seal = bytearray(seal(program, CortexMTargetConfig.any()))
    wrong_seal[-1] ^= 1
    return bytes(wrong_seal)


@pytest.mark.parametrize("core", CORES)
def test_many_programs_in_one_start(core, program):
    x, y = torch.randn(2, 1, 2, 3, 4).unbind()
    results = Device(core).run([(program, (x,)), (damaged(program), (x,)), (program, (y,))])
    for result, value in zip(results[::2], (x, y), strict=True):
        assert result.error is None and not result.crashed
        for got, want in zip(result.outputs, (value + value, value.relu()), strict=True):
            assert torch.equal(got, want)
            assert got.is_contiguous(memory_format=torch.channels_last)
        assert result.arena > 0 and result.state > 0
        assert (result.inference > 0) == (result.load > 0) == (core != "host")
    assert "checksum" in results[1].error
    assert results[1].outputs == () and not results[1].crashed


@pytest.mark.parametrize("core", ["cortex_m55", "cortex_m4"])
def test_layers_on_request(core, program):
    """Both programs of a start have their own; the measured inference is the one without an observer."""
    x, y = torch.randn(2, 1, 2, 3, 4).unbind()
    plain = Device(core).run([(program, (x,))])[0]
    results = Device(core).run([(program, (x,)), (damaged(program), (x,)), (program, (y,))], layers=True)
    assert plain.layers == results[1].layers == ()
    assert abs(plain.inference - results[0].inference) <= 2  # the resolution of SysTick
    for result in results[::2]:
        assert [(row.index, row.op) for row in result.layers] == [(0, "aten::add"), (1, "aten::relu")]
        assert all(row.instructions > 100 for row in result.layers)
        assert 0.5 * result.inference < sum(row.instructions for row in result.layers) < result.inference


def test_layers_on_the_host_are_refused(program):
    with pytest.raises(ValueError, match="the host counts no instructions"):
        Device("host").run([(program, (torch.zeros(1, 2, 3, 4),))], layers=True)


def test_rounds_of_a_loop_are_added_up():
    printed = "instruction 0 aten::add: 5\ninstruction 1 control: 2\ninstruction 0 aten::add: 7\n"
    assert read_layers(printed) == (LayerCount(0, "aten::add", 12), LayerCount(1, "control", 2))


def test_wrong_inputs_are_refused(program):
    with pytest.raises(ValueError, match="program 0 takes 1 inputs, not 0"):
        Device("host").run([(program, ())])
    with pytest.raises(ValueError, match="not torch.int8"):
        Device("host").run([(program, (torch.zeros(1, 2, 3, 4, dtype=torch.int8),))])


def _script(folder, body):
    """A stand-in for the host's runner: what a crash looks like does not depend on what crashes."""
    path = folder / "runner"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_a_crash_is_the_result_of_its_program_and_the_others_go_on(program, tmp_path):
    """The stand-in crashes on every second program of a start."""
    x = torch.zeros(1, 2, 3, 4)
    body = "printf 'result 0: error: first\\n'; [ $(wc -l < list.txt) = 1 ] && exit; printf 'result 1: '; kill -SEGV $$"
    results = Device("host", runner=_script(tmp_path, body)).run([(program, (x,))] * 5)
    assert [result.error for result in results] == ["first", "runner was killed by SIGSEGV"] * 2 + ["first"]
    assert [result.crashed for result in results] == [False, True] * 2 + [False]


def test_a_sanitizers_words_are_the_error(program, tmp_path):
    body = "echo 'heap-buffer-overflow in pad.cc' >&2; exit 1"
    (result,) = Device("host", runner=_script(tmp_path, body)).run([(program, (torch.zeros(1, 2, 3, 4),))])
    assert result.crashed and "heap-buffer-overflow in pad.cc" in result.error


def test_a_runner_that_stops_early_is_no_success(program, tmp_path):
    x = torch.zeros(1, 2, 3, 4)
    with pytest.raises(SimulatorError, match="did not run every program"):
        Device("host", runner=_script(tmp_path, "echo 'error: no list'; exit 1")).run([(program, (x,))])
    with pytest.raises(SimulatorError, match="did not end within 0.2 s"):
        Device("host", runner=_script(tmp_path, "exec sleep 20")).run([(program, (x,))], timeout=0.2)


def test_a_missing_runner_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CORTEX_M_RUNNERS", str(tmp_path))
    with pytest.raises(
        FileNotFoundError,
        match="no universal_cortex_m55.elf or universal_int8_cortex_m55.elf in .*bazel build //cortex_m/runner:universal_cortex_m55`",
    ):
        Device("cortex_m55")
    with pytest.raises(ValueError, match="no board for cortex_m99"):
        Device("cortex_m99")
