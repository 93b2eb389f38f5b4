"""The operators call nothing but CMSIS-NN's public interface, as far as api_test.cc states it, and our additional kernels."""

import re
from pathlib import Path

_STATED = Path("third_party/cmsis_nn/api_test.cc").read_text()
_ADDITIONAL = "".join(
    Path("cortex_m/nn", name).read_text() for name in ("additional.h", "quantization.h", "requantize_checks.h")
)
_OPERATORS = sorted(Path("cortex_m/ops").glob("*.cc")) + sorted(Path("cortex_m/ops").glob("*.h"))


def _code(text):
    return re.sub(r"//.*", "", text)


def _used(pattern):
    """Names in the operators' sources, each with a file that has it; tests are not meant."""
    sources = [path for path in _OPERATORS if "test" not in path.stem.split("_")]
    return {name: path.name for path in sources for name in re.findall(pattern, _code(path.read_text()))}


def test_the_sources_are_here():
    assert len(_OPERATORS) > 10
    assert "arm_convolve_wrapper_s8" in _used(r"\barm_\w+")


def test_functions_are_stated_with_their_parameters():
    stated = set(re.findall(r"FUNCTION\((\w+),", _STATED))
    assert {name: file for name, file in _used(r"\barm_\w+(?=\()").items() if name not in stated} == {}


def test_structs_and_constants_are_stated():
    stated = set(re.findall(r"\b(?:cmsis_nn_\w+|ARM_CMSIS_NN_\w+)", _code(_STATED)))
    used = _used(r"\b(?:cmsis_nn_\w+|ARM_CMSIS_NN_\w+|arm_cmsis_nn_\w+)")
    assert {name: file for name, file in used.items() if name not in stated | {"arm_cmsis_nn_status"}} == {}


def test_other_kernels_come_from_the_additional_library():
    """It is linked beside either library; a function of ours with another home would be missing beside CMSIS-NN."""
    declared = set(re.findall(r"\bcortex_m_nn_\w+", _ADDITIONAL))
    assert {name: file for name, file in _used(r"\bcortex_m_nn_\w+").items() if name not in declared} == {}
