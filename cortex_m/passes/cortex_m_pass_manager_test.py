import pytest
import torch
from executorch.exir import to_edge
from executorch.exir.pass_base import ExportPass
from torch import nn
from torch.export import export

from cortex_m.edge_compile_config import cortex_m_edge_compile_config
from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from cortex_m.passes.recipe import lower, round_trip
from cortex_m.target_config import CortexM, CortexMTargetConfig


class Add(nn.Module):
    def forward(self, x):
        x = round_trip(x, 0.02, 3)
        return round_trip(x + x, 0.05, -7)


INPUTS = (torch.randn(3, 4),)


@pytest.fixture(scope="module")
def edge():
    return to_edge(export(Add(), INPUTS), compile_config=cortex_m_edge_compile_config())


def names(program):
    return [str(node.target) for node in program.graph.nodes if node.op == "call_function"]


def test_transform_lowers_and_leaves_its_argument_alone(edge):
    before = names(edge.exported_program())
    lowered = CortexMPassManager(edge.exported_program()).transform()
    assert sum("quantized_add" in name for name in names(lowered)) == 1
    assert names(edge.exported_program()) == before


def test_both_forms_give_the_same_graph(edge):
    by_transform = CortexMPassManager(edge.exported_program()).transform()
    by_exir = lower(Add(), *INPUTS).edge
    calls = [
        [
            (str(node.target), [arg for arg in node.args if not isinstance(arg, torch.fx.Node)])
            for node in program.graph.nodes
            if node.op == "call_function"
        ]
        for program in (by_transform, by_exir)
    ]
    assert calls[0] == calls[1] and len(calls[0]) == 3


def test_the_seed_systems_convention_still_works(edge):
    manager = CortexMPassManager(edge.exported_program(), target_config=CortexMTargetConfig(CortexM.M4))
    edge._edge_programs["forward"] = manager.transform()
    assert b"cortex_m::quantized_add" in bytes(edge.to_executorch().buffer)
    assert manager.report.to_json()["target"] == "cortex-m4"


def test_without_a_program_there_is_nothing_to_transform():
    with pytest.raises(ValueError, match="needs an ExportedProgram"):
        CortexMPassManager(None).transform()


class Probe(CortexMPass):
    seen: list = []

    def __init__(self, exported_program, target_config):
        super().__init__(target_config)
        self.seen.append((type(exported_program).__name__, target_config.target_string))

    def run(self, editor):
        pass


class Plain(ExportPass):
    pass


def test_passes_get_what_their_constructors_name(edge):
    program = edge.exported_program()
    config = CortexMTargetConfig(CortexM.M33)
    result = CortexMPassManager(program, passes=[Probe, Plain], target_config=config).transform()
    assert Probe.seen == [("ExportedProgram", "cortex-m33")]
    assert names(result) == names(program)


def test_an_instance_among_the_passes_is_refused(edge):
    with pytest.raises(ValueError, match="classes, not instances"):
        CortexMPassManager(edge.exported_program(), passes=[Plain()]).transform()


def test_dynamic_shapes_are_refused():
    rows = torch.export.Dim("rows", min=2, max=8)
    exported = export(Add(), INPUTS, dynamic_shapes={"x": {0: rows}})
    edge = to_edge(exported, compile_config=cortex_m_edge_compile_config())
    with pytest.raises(ValueError, match="input x has a dynamic shape"):
        CortexMPassManager(edge.exported_program()).transform()
