"""Exporting a small network: what comes out, and what is refused with one sentence."""

import math

import pytest
import torch
from torch import nn

from cortex_m import CortexM, CortexMTargetConfig, ModelSource, export_model
from cortex_m.analysis.memory import MemoryPlan
from cortex_m.export import ExportResult, ModelError
from cortex_m.host.interpreter import ReferenceProgram


class Net(nn.Module):
    """Convolution, ReLU6, global pooling, linear."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.relu = nn.ReLU6()
        self.linear = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.relu(self.conv(x)).mean((2, 3)))


def inputs(seed: int, height: int = 12) -> tuple[torch.Tensor]:
    return (torch.randn(1, 3, height, 12, generator=torch.Generator().manual_seed(seed)),)


@pytest.fixture(scope="module")
def source() -> ModelSource:
    torch.manual_seed(0)
    calibration, evaluation = [inputs(n) for n in range(1, 5)], [inputs(n) for n in range(5, 8)]
    return ModelSource(Net(), inputs(0), calibration=calibration, evaluation=evaluation, output_shapes=[[1, 4]])


@pytest.fixture(scope="module")
def result(source) -> ExportResult:
    return export_model(source)


def test_the_program_gives_the_predicted_outputs(result):
    again = ReferenceProgram(result.program).run(result.inputs)
    assert torch.equal(again[0], result.expected[0])


def test_the_prediction_is_close_to_the_float_model(source, result):
    with torch.no_grad():
        floating = source.module(*source.example_inputs)
    assert torch.equal(floating, result.float_outputs[0])
    noise = (floating - result.expected[0]).double().square().sum()
    assert result.sqnr_db == pytest.approx(10 * math.log10(floating.double().square().sum() / noise))
    assert result.sqnr_db > 20


def test_each_call_to_judge_by_is_predicted(source, result):
    assert len(result.evaluation) == len(source.evaluation) == 3
    for call, sample in zip(source.evaluation, result.evaluation):
        assert torch.equal(sample.inputs[0], call[0])
        assert torch.equal(sample.expected[0], ReferenceProgram(result.program).run(call)[0])
        with torch.no_grad():
            assert torch.equal(sample.float_outputs[0], source.module(*call))


class Joins(nn.Module):
    """Rows of two images joined; the upper ones taken apart again."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(2, 4, 1), nn.Conv2d(2, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = torch.cat([self.first(x), self.second(x)], 2)
        return torch.sigmoid(rows)[:, :, :6]


def test_the_report_lists_the_instructions_of_the_program():
    result = export_model(ModelSource(Joins(), (torch.randn(1, 2, 4, 4),), tune=False), strict=True)
    report = result.lowering_report
    names = [name.rsplit(".", 1)[0] for name in ReferenceProgram(result.program).instruction_names()]
    assert [instruction.op for instruction in report.instructions] == names
    assert [instruction.index for instruction in report.instructions] == list(range(len(names)))
    assert [copy.op for copy in report.left_out] == ["aten::cat", "aten::slice_copy"]
    assert "No copy at run time, the bytes lie where they are wanted: " in str(report)
    assert [copy["op"] for copy in report.to_json()["left_out"]] == ["aten::cat", "aten::slice_copy"]


def test_memory_is_that_of_the_program(result):
    assert result.memory == MemoryPlan.of(result.program)
    assert result.memory.overhead <= 0.05


def test_the_same_source_gives_the_same_bytes(source, result):
    assert export_model(source).program == result.program


def test_steps_are_announced_in_order(source):
    steps = []
    export_model(source, progress=steps.append)
    assert [step for step in steps if "calibrating" in step] == [f"calibrating, sample {n} of 4" for n in range(1, 5)]
    assert steps.index("placing observers") < steps.index("converting to int8") < steps.index("predicting the outputs")


def test_a_program_for_each_instruction_set_predicts_the_same(source, result):
    other = export_model(source, CortexMTargetConfig(CortexM.M4))
    assert torch.equal(other.expected[0], result.expected[0])


class Broken(Net):
    """Returns something else than a tensor."""

    def forward(self, x: torch.Tensor):
        return super().forward(x), "label"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            ModelSource(Net(), inputs(0), output_shapes=[[1, 5]]),
            r"Net returns shapes \[\[1, 4\]\], but \[\[1, 5\]\] is declared",
        ),
        (
            ModelSource(Net(), (torch.zeros(1, 4, 12, 12),)),
            "Net fails on its example inputs at .*export_test.py:.*channels",
        ),
        (ModelSource(Net(), (3.0,)), "example input 0 is a float, not a tensor"),
        (ModelSource(Broken(), inputs(0)), "output 1 of Broken is a str, not a tensor"),
        (
            ModelSource(Net(), inputs(0), calibration=[inputs(1), inputs(1, height=8)]),
            "calibration sample 1 has shapes",
        ),
        (ModelSource(Net(), inputs(0), evaluation=[inputs(1, height=8)]), "evaluation sample 0 has shapes"),
    ],
    ids=["declared shape", "wrong input", "no tensor", "no tensor output", "calibration shape", "evaluation shape"],
)
def test_what_does_not_fit_is_refused_in_one_sentence(source, sentence):
    with pytest.raises(ModelError, match=sentence) as caught:
        export_model(source)
    assert "\n" not in str(caught.value)


def test_int8_in_and_out(source, result):
    """The program between the two conversions is the same: so are the integers."""
    program = export_model(source, quantize_io=False, strict=True)
    names = ReferenceProgram(program.program).instruction_names()
    assert not [name for name in names if "quantize_per_tensor" in name or "from_nhwc" in name], names
    (taken,), (given,) = program.lowering_report.inputs, program.lowering_report.outputs
    assert (taken.name, taken.shape, taken.dtype) == ("x", (1, 3, 12, 12), "int8")
    assert all(sample.inputs[0].dtype == sample.expected[0].dtype == torch.int8 for sample in program.evaluation)
    (image,), (stored,) = program.inputs, program.expected
    assert image.dtype == stored.dtype == torch.int8
    (x,) = source.example_inputs
    exact = x.double() / taken.scale + taken.zero_point
    assert (image - exact.clamp(-128, 127)).abs().max() <= 0.5 + 1e-4
    assert torch.equal((stored.float() - given.zero_point) * given.scale, result.expected[0])
    assert program.sqnr_db == pytest.approx(result.sqnr_db, rel=1e-6)
    assert f"in   x: int8 1x3x12x12, scale {taken.scale:.9g}, zero point {taken.zero_point}" in str(
        program.lowering_report
    )
    described = program.lowering_report.to_json()
    assert described["outputs"][0]["scale"] == given.scale and described["inputs"][0]["zero_point"] == taken.zero_point


def test_with_quantize_io_the_boundary_is_float(result):
    (taken,), (given,) = result.lowering_report.inputs, result.lowering_report.outputs
    assert (taken.dtype, taken.scale, given.dtype, given.scale) == ("float32", None, "float32", None)


@pytest.mark.parametrize("tune", [False, True])
def test_tuning_can_be_left_out(tune):
    source = ModelSource(nn.Linear(4, 3), (torch.randn(2, 4),), tune=tune)
    assert ("tuned on 1 samples" in str(export_model(source).quantizer_report)) == tune
