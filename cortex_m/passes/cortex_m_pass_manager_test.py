from typing import ClassVar

import pytest
import torch
from executorch.exir import to_edge
from executorch.exir.pass_base import ExportPass
from torch import nn
from torch.export import export

from cortex_m.edge_compile_config import cortex_m_edge_compile_config
from cortex_m.host.interpreter import ReferenceProgram
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


def test_both_layouts_are_one(edge):
    program = edge.exported_program()
    assert names(CortexMPassManager(program, None, None, True).transform()) == names(
        CortexMPassManager(program, None, None, False).transform()
    )
    assert CortexMPassManager.legacy_pass_list == CortexMPassManager.explicit_layout_pass_list


def test_annotation_passes_prepare_a_captured_graph():
    class Net(nn.Module):
        def forward(self, x):
            return nn.functional.dropout(x.clone(), training=False).relu_()

    captured = export(Net(), INPUTS).module()  # with its guards
    model = CortexMPassManager(None).transform_for_annotation(captured)
    calls = [str(node.target) for node in model.graph.nodes if node.op.startswith("call")]
    assert calls == ["aten.relu.default"]
    assert torch.equal(model(*INPUTS), INPUTS[0].relu())


class TwoScales(nn.Module):
    def forward(self, x):
        return round_trip(x, 0.02, 3) + 1, round_trip(x, 0.04, 3)


class FloatReader(nn.Module):
    def forward(self, x):
        y = round_trip(x, 0.02, 3)
        return round_trip(y + y, 0.05, 0), round_trip(torch.cumsum(x, 1), 0.05, 0)


class FloatOutput(nn.Module):
    def forward(self, x):
        return torch.cumsum(round_trip(x, 0.02, 3), 1)


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (TwoScales, "output 0 is float, from aten_add_tensor"),
        (
            FloatReader,
            r"input x is read in float by aten_cumsum_default \[cortex_m_pass_manager_test.py:\d+, in forward",
        ),
        (FloatOutput, "output 0 is float, from aten_cumsum_default"),
    ],
)
def test_what_stays_float_at_the_boundary_is_refused(module, reason):
    with pytest.raises(ValueError, match=f"quantize_io=False: {reason}"):
        lower(module(), *INPUTS, quantize_io=False)


def test_an_input_with_two_scales_is_refused():
    class Net(nn.Module):
        def forward(self, x):
            return round_trip(x, 0.02, 3), round_trip(x, 0.04, 3)

    with pytest.raises(ValueError, match="input x is quantized with different scales/zero points: 0.02/3, 0.04/3"):
        lower(Net(), *INPUTS, quantize_io=False)


def test_integer_inputs_stay_what_they_are():
    class Net(nn.Module):
        def forward(self, x, index):
            return round_trip(x, 0.02, 3), index + 1

    lowered = lower(Net(), INPUTS[0], torch.tensor([1, 2]), quantize_io=False)
    assert [tensor.dtype for tensor in lowered.report.inputs] == ["int8", "int64"]
    assert [tensor.scale for tensor in lowered.report.outputs] == [0.02, None]
    stored = torch.randint(-128, 128, (3, 4), dtype=torch.int8)
    outputs = ReferenceProgram(lowered.data).run((stored, torch.tensor([1, 2])))
    assert torch.equal(outputs[0], stored) and outputs[1].tolist() == [2, 3]


def test_int8_boundaries_need_their_pass(edge):
    with pytest.raises(ValueError, match="needs BoundaryTypesPass"):
        CortexMPassManager(edge.exported_program(), passes=[Plain], quantize_io=False)


class Probe(CortexMPass):
    seen: ClassVar[list] = []

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
