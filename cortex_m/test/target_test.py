"""A program that names its target runs on the cores that the target stands for; the others refuse it in one sentence.

One small program with different seals: what a core answers depends on the seal alone.
"""

from pathlib import Path

import pytest

from cortex_m.host.signature import read_signature
from cortex_m.seal import seal
from cortex_m.target_config import Backend, CortexM, CortexMTargetConfig
from cortex_m.test.device import Device

_FOLDER = Path(__file__).parent / "upstream_programs"
_ISA = {"cortex_m3": "SCALAR", "cortex_m4": "DSP", "cortex_m55": "MVE", "host": None}
_TARGETS = [
    CortexMTargetConfig.any(),
    CortexMTargetConfig(CortexM.M0),
    CortexMTargetConfig(CortexM.M4),
    CortexMTargetConfig(CortexM.M35P),
    CortexMTargetConfig(CortexM.M55),
    CortexMTargetConfig(CortexM.M85),
    CortexMTargetConfig(CortexM.M55, Backend.SCALAR),
    CortexMTargetConfig(CortexM.M7, Backend.SCALAR),
]


@pytest.fixture(scope="module", params=_ISA)
def core(request):
    return request.param


@pytest.fixture(scope="module")
def results(core):
    program = (_FOLDER / "op_softmax_m4.pte").read_bytes()
    inputs = (read_signature(program).inputs[0].from_bytes((_FOLDER / "op_softmax.in.bin").read_bytes()),)
    return dict(zip(_TARGETS, Device(core).run([(seal(program, target), inputs) for target in _TARGETS])))


@pytest.mark.parametrize("target", _TARGETS, ids=str)
def test_a_core_runs_what_is_for_it_and_refuses_the_rest(results, core, target):
    result = results[target]
    widest = None if target.cpu is None else CortexMTargetConfig(target.cpu).backend.name
    if core == "host" or target.cpu is None or _ISA[core] in (target.backend.name, widest):
        assert result.error is None
        assert result.outputs[0].numpy().tobytes() == (_FOLDER / "op_softmax.out.bin").read_bytes()
    else:
        assert result.error == (
            f"the program was exported for a core with {target.backend.name}, and this one has {_ISA[core]}: "
            f"export it for this core, or for any ({target.target_string})"
        )
        assert not result.crashed
