"""CortexMTester on some operators, on each core that --cortex-m-target names, and what it says where something is wrong."""

import pytest
import torch
from torch import nn

from cortex_m.passes.report import LoweringReport
from cortex_m.target_config import CortexM, CortexMTargetConfig
from cortex_m.test.comparison import require_equal_bytes
from cortex_m.test.tester import (
    CortexMTester,
    McuTestCase,
    StageType,
    cortex_m_stage_classes,
    ramp_tensor,
)

EDGE = "executorch_exir_dialects_edge__ops_"


class Add(nn.Module):
    def forward(self, x, y):
        return torch.relu(x + y)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.linear = nn.Linear(6, 4)

    def forward(self, x):
        return torch.softmax(self.linear(self.convolution(x).relu().mean((2, 3))), -1)


# model and inputs; operators before, and after
CASES = {
    "add": (
        McuTestCase(Add(), lambda: (ramp_tensor(-3, 3, (2, 5, 7)), torch.randn(2, 5, 7))),
        {EDGE + "aten_add_Tensor": 1, EDGE + "aten_relu_default": 1},
        {EDGE + "cortex_m_quantized_add_default": 1, EDGE + "cortex_m_quantize_per_tensor_default": 2},
    ),
    "linear": (
        McuTestCase(nn.Linear(17, 9), (ramp_tensor(-1, 2, (3, 17)),)),
        {EDGE + "aten_linear_default": 1, EDGE + "quantized_decomposed_dequantize_per_channel_default": 2},
        {EDGE + "cortex_m_dequantize_per_tensor_default": 1, EDGE + "aten_linear_default": 0},
    ),
    "classifier": (
        McuTestCase(Classifier(), (ramp_tensor(-2, 2, (1, 3, 9, 9)),)),
        {EDGE + "aten_convolution_default": 1, EDGE + "aten_mean_dim": 1, EDGE + "aten__softmax_default": 1},
        {EDGE + "cortex_m_softmax_default": 1, EDGE + "aten_convolution_default": 0, EDGE + "aten_mean_dim": 0},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_dialect(case):
    model, before, after = CASES[case]
    CortexMTester(model.model, model.example_inputs).test_dialect(
        before, after, ops_absent_after_transforms=["quantized_decomposed"]
    )


@pytest.mark.parametrize("case", CASES)
def test_implementation(case, cortex_m_target):
    model, _, _ = CASES[case]
    tester = CortexMTester(model.model, model.get_example_inputs(), target_config=cortex_m_target)
    tester.test_implementation(qtol=1)
    assert isinstance(tester.get_artifact(), bytes) and tester.get_artifact(StageType.SERIALIZE)[4:8] == b"ET12"
    other = tuple(-value for value in tester.example_inputs)
    tester.require_prediction(other)


def test_both_ways_to_lower_give_the_same_program(cortex_m_target):
    inputs = (torch.randn(1, 3, 9, 9),)
    tester = CortexMTester(Classifier(), inputs, cortex_m_target)
    tester.quantize().export().to_edge().run_passes().to_executorch().serialize()
    apart = tester.get_artifact()
    tester.to_edge_transform_and_lower().to_executorch().serialize()
    assert isinstance(tester.stages[StageType.TO_EDGE_TRANSFORM_AND_LOWER].report, LoweringReport)
    assert tester.get_artifact() == apart


def test_random_numbers_are_the_same_each_time(cortex_m_target):
    """The plugin seeds before each test: this is torch's first number of seed 0."""
    assert torch.rand(1).item() == pytest.approx(0.4962565899)


def test_wrong_counts_fail():
    tester = CortexMTester(Add(), (torch.randn(2, 3), torch.randn(2, 3))).quantize().export()
    tester.check(["torch.ops.aten.add.Tensor"]).check_node_count({torch.ops.aten.add.Tensor: 1})
    with pytest.raises(AssertionError, match="expected .*aten.add.Tensor': 2}, found .*aten.add.Tensor': 1}"):
        tester.check_count({"torch.ops.aten.add.Tensor": 2})
    with pytest.raises(AssertionError, match="in the graph: .*aten.relu"):
        tester.check_not(["torch.ops.aten.relu"])
    with pytest.raises(AssertionError, match="not in the graph: .*aten.mul"):
        tester.check(["torch.ops.aten.mul.Tensor"])
    with pytest.raises(AssertionError, match="aten.add.Tensor"):
        tester.check_node_count({torch.ops.aten.add.Tensor: 3})


def test_an_output_that_is_too_far_off_fails_and_is_measured():
    tester = CortexMTester(Add(), (torch.randn(2, 30), torch.randn(2, 30))).quantize().export().to_edge().run_passes()
    seen = []
    tester.run_method_and_compare_outputs(qtol=1, num_runs=2, statistics_callback=seen.append)
    assert len(seen) == 2 and seen[0].shape == (2, 30) and seen[0].sqnr > 30
    # Against the float module, every value is off by a part of a step.
    tester.stages[StageType.EXPORT].artifact = torch.export.export(Add(), tester.example_inputs)
    with pytest.raises(AssertionError, match="stage run_passes differs by more than atol 0"):
        tester.run_method_and_compare_outputs(atol=0, rtol=0)


def test_one_wrong_bit_fails():
    predicted = torch.tensor([1.0, 0.0, float("nan")])
    require_equal_bytes([predicted.clone()], [predicted], "there")
    with pytest.raises(
        AssertionError, match="output 0 of there differs .* in 1 of 3 .* the first, 1, is -0.0 instead of 0.0"
    ):
        require_equal_bytes([torch.tensor([1.0, -0.0, float("nan")])], [predicted], "there")
    with pytest.raises(AssertionError, match="float64"):
        require_equal_bytes([predicted.double()], [predicted], "there")
    with pytest.raises(AssertionError, match="gives 0 outputs, 1 are predicted"):
        require_equal_bytes([], [predicted], "there")


def test_stages_in_the_wrong_order_are_refused():
    tester = CortexMTester(Add(), (torch.randn(2), torch.randn(2)), CortexMTargetConfig(CortexM.M4))
    with pytest.raises(ValueError, match="stage run_passes needs stage to_edge before it"):
        tester.run_passes()
    tester.quantize().export()
    with pytest.raises(ValueError, match="stage serialize was not run"):
        tester.get_artifact("serialize")
    tester.quantize()
    with pytest.raises(ValueError, match="stage export was not run"):
        tester.get_artifact(StageType.EXPORT)
    assert list(cortex_m_stage_classes) == list(StageType)
