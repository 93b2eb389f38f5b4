import pytest

from cortex_m.target_config import Backend, CortexM, CortexMTargetConfig

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


@pytest.mark.parametrize("name", ["cortex-m99", "cortex-a53", "cortex-m55+int8", "", "Cortex-M55"])
def test_unknown_names_are_refused_with_the_known_ones(name):
    with pytest.raises(ValueError, match="known targets: cortex-m0, .*cortex-m85"):
        CortexMTargetConfig.from_target_string(name)


def test_every_member_of_the_enum_is_in_the_table():
    assert {CortexMTargetConfig(cpu).target_string for cpu in CortexM} == set(WIDEST)
