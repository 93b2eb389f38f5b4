"""CortexMTester with the stages and stage types of ExecuTorch's own harness."""

import pytest
import torch
from executorch.backends.test.harness.stages import StageType as HarnessStageType
from executorch.backends.test.harness.stages.quantize import Quantize

from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.test.tester import CortexMTester, StageType


def test_a_quantize_stage_of_the_harness():
    torch.manual_seed(0)
    module, x = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Dropout()), torch.randn(2, 8)
    tester = CortexMTester(module, (x,))
    stage = Quantize(CortexMQuantizer(), calibration_samples=[(x,), (-x,)])
    tester.quantize(stage).export().to_edge().run_passes()
    assert not module.training
    tester.check_count({"executorch_exir_dialects_edge__ops_cortex_m_quantized_linear_per_channel_default": 1})
    tester.run_method_and_compare_outputs(qtol=1)
    assert tester.get_artifact(HarnessStageType.QUANTIZE) is stage.artifact
    for name in (HarnessStageType.RUN_PASSES, StageType.RUN_PASSES, "run_passes", "RUN_PASSES"):
        assert tester.get_artifact(name) is tester.get_artifact()


def test_a_stage_that_the_tester_does_not_have():
    tester = CortexMTester(torch.nn.Linear(8, 4), (torch.randn(2, 8),)).export()
    with pytest.raises(ValueError, match="has no stage PARTITION; it has quantize, export"):
        tester.get_artifact(HarnessStageType.PARTITION)
