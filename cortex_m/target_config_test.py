import ast
from pathlib import Path

import pytest

from cortex_m.target_config import Backend, CortexM, CortexMTargetConfig, platform_of

# Instruction sets of the cores, by Arm's technical reference manuals.
WIDEST = {
    "cortex-m0": Backend.SCALAR,
    "cortex-m0plus": Backend.SCALAR,
    "cortex-m3": Backend.SCALAR,
    "cortex-m4": Backend.DSP,
    "cortex-m7": Backend.DSP,
    "cortex-m23": Backend.SCALAR,
    "cortex-m33": Backend.DSP,
    "cortex-m35p": Backend.DSP,
    "cortex-m55": Backend.MVE,
    "cortex-m85": Backend.MVE,
}


@pytest.mark.parametrize("name", WIDEST)
def test_each_core_by_name(name):
    config = CortexMTargetConfig.from_target_string(name)
    assert config.target_string == name
    assert config.backend == WIDEST[name]
    assert CortexMTargetConfig(config.cpu) == config
    assert len({config, CortexMTargetConfig(config.cpu)}) == 1


@pytest.mark.parametrize("name", WIDEST)
@pytest.mark.parametrize("isa", Backend)
def test_only_instruction_sets_of_the_core_are_accepted(name, isa):
    cpu = CortexMTargetConfig.from_target_string(name).cpu
    if isa >= WIDEST[name]:
        assert CortexMTargetConfig(cpu, isa=isa).backend == isa
    else:
        with pytest.raises(ValueError, match=f"{name} has no {isa.name}"):
            CortexMTargetConfig(cpu, isa=isa)


@pytest.mark.parametrize("name", ["cortex-m99", "cortex-a53", "ethos-u55", "cortex-m55+int8", "", "Cortex-M55", "Any"])
def test_unknown_names_are_refused_with_the_known_ones(name):
    with pytest.raises(ValueError, match="known targets: cortex-m0, .*cortex-m85"):
        CortexMTargetConfig.from_target_string(name)


def test_any_core_has_no_instruction_set_of_its_own():
    config = CortexMTargetConfig.any()
    assert config == CortexMTargetConfig.from_target_string("any") and hash(config) == hash(CortexMTargetConfig.any())
    assert config.target_string == "any"
    assert set(config.backends) == set(Backend)
    with pytest.raises(ValueError, match="no one instruction set"):
        config.backend  # noqa: B018
    with pytest.raises(ValueError, match="that of a core, and there is none"):
        CortexMTargetConfig(None, Backend.DSP)


def test_platforms():
    for name in WIDEST:
        assert CortexMTargetConfig.from_platform(name.replace("-", "_")).target_string == name
        for spelling in (name, name.replace("-", "_"), name.removeprefix("cortex-")):
            assert platform_of(spelling) == name.replace("-", "_")
            assert CortexMTargetConfig.from_target_string(spelling).target_string == name
    with pytest.raises(ValueError, match="there is no core host; there are cortex_m0, "):
        CortexMTargetConfig.from_platform("host")


@pytest.mark.parametrize("cpu", ["cortex-m55", 8])
def test_what_is_no_core_is_refused(cpu):
    with pytest.raises(TypeError, match="is no CortexM"):
        CortexMTargetConfig(cpu)


@pytest.mark.parametrize("name", WIDEST)
def test_a_program_runs_on_the_cores_of_its_instruction_set(name):
    core = CortexMTargetConfig.from_target_string(name)
    for other, widest in WIDEST.items():
        config = CortexMTargetConfig.from_target_string(other)
        assert config.runs_on(core.cpu) == (widest == WIDEST[name])
        for isa in Backend:
            if isa >= widest:
                narrow = CortexMTargetConfig(config.cpu, isa)
                assert narrow.runs_on(core.cpu) == (WIDEST[name] in (isa, widest))
    assert CortexMTargetConfig.any().runs_on(core.cpu)
    assert core.runs_on(core.cpu)


def test_texts():
    assert str(CortexMTargetConfig(CortexM.M33)) == "cortex-m33 (DSP)"
    assert str(CortexMTargetConfig(CortexM.M55, Backend.SCALAR)) == "cortex-m55 (SCALAR)"
    assert str(CortexMTargetConfig.any()) == "any core"


def test_the_compiler_is_told_a_core_with_the_instruction_set_of_the_table():
    """-mcpu names the core, but for the M85, which GCC 12 does not know; the FPU's flag is that of `fpu`."""
    tree = ast.parse(Path(__file__).with_name("cores.bzl").read_text())
    cores = next(ast.literal_eval(s.value) for s in tree.body if isinstance(s, ast.Assign))
    assert len(cores) == len(WIDEST)
    for platform, core in cores.items():
        assert platform == core["target"].replace("-", "_")
        assert core["enum"] == core["target"].removeprefix("cortex-m").upper().join(["M", ""])
        compiled = "cortex-m55" if core["target"] == "cortex-m85" else core["target"]
        assert core["flags"][0] == f"-mcpu={compiled}"
        assert Backend[core["isa"]] == WIDEST[core["target"]] == WIDEST[compiled]
        assert core["flags"][1] == ("-mfloat-abi=soft" if core["fpu"] == "none" else "-mfloat-abi=hard")
        assert all(("-sp-" in flag) == (core["fpu"] == "sp") for flag in core["flags"] if flag.startswith("-mfpu"))


def test_every_member_of_the_enum_is_in_the_table():
    assert {CortexMTargetConfig(cpu).target_string for cpu in CortexM} == set(WIDEST)
