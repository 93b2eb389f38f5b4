"""Programs by ExecuTorch's own exporter give, on every core, the bytes of ExecuTorch's own runtime (README.md)."""

from pathlib import Path

import pytest

from cortex_m.host.interpreter import ReferenceProgram
from cortex_m.host.signature import read_signature
from cortex_m.host.specs import TensorSpec
from cortex_m.seal import target_of
from cortex_m.test.device import Device

_FOLDER = Path(__file__).parent
_NAMES = ["ds_cnn", "op_add", "op_avgpool", "op_conv3x3", "op_linear", "op_softmax"]
_PROGRAMS = [f"{name}_{target}" for name in _NAMES for target in ("m55", "m4")]
_CORES = ["host", "cortex_m3", "cortex_m4", "cortex_m33", "cortex_m55"]


def _case(program: str):
    """The program, its inputs as tensors, the bytes it must give, and what its output is."""
    data = (_FOLDER / f"{program}.pte").read_bytes()
    signature = read_signature(data)
    name = program.rpartition("_")[0]
    stored = (_FOLDER / f"{name}.in.bin").read_bytes()
    inputs = []
    for spec in signature.inputs:
        assert isinstance(spec, TensorSpec)
        size = len(spec.to_bytes(spec.empty()))
        inputs.append(spec.from_bytes(stored[:size]))
        stored = stored[size:]
    assert not stored
    return data, tuple(inputs), (_FOLDER / f"{name}.out.bin").read_bytes(), signature.outputs[0]


@pytest.fixture(scope="module", params=_CORES)
def results(request):
    device = Device(request.param)
    return dict(zip(_PROGRAMS, device.run([_case(program)[:2] for program in _PROGRAMS])))


@pytest.mark.parametrize("program", _PROGRAMS)
def test_device_gives_upstreams_bytes(results, program):
    _, _, expected, output = _case(program)
    assert results[program].error is None
    assert output.to_bytes(results[program].outputs[0]) == expected


@pytest.mark.parametrize("program", _PROGRAMS)
def test_reference_gives_upstreams_bytes(program):
    data, inputs, expected, output = _case(program)
    assert target_of(data) is None
    assert output.to_bytes(ReferenceProgram(data).run(inputs)[0]) == expected


def test_programs_differ_by_target():
    """Else running both would be running one twice."""
    for name in ("ds_cnn", "op_linear"):
        assert (_FOLDER / f"{name}_m55.pte").read_bytes() != (_FOLDER / f"{name}_m4.pte").read_bytes()
