"""The stages of CortexMTester: each turns the artifact of the one before it into its own, and can run it."""

from __future__ import annotations

import copy
import enum
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from executorch.exir import EdgeProgramManager, ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from torch.fx import GraphModule
from torch.utils import _pytree as pytree
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import Quantizer

from cortex_m.boards import boards
from cortex_m.edge_compile_config import cortex_m_edge_compile_config
from cortex_m.host.interpreter import ReferenceProgram
from cortex_m.memory.planning_pass import cortex_m_executorch_config
from cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from cortex_m.passes.report import LoweringReport
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.target_config import CortexM, CortexMTargetConfig
from cortex_m.test.device import Device

Inputs = tuple[torch.Tensor, ...]


class StageType(str, enum.Enum):  # noqa: UP042 (ExecuTorch's has these bases, and another str())
    """Names of the stages, in the order in which they may follow each other."""

    QUANTIZE = "quantize"
    EXPORT = "export"
    TO_EDGE = "to_edge"
    TO_EDGE_TRANSFORM_AND_LOWER = "to_edge_transform_and_lower"
    RUN_PASSES = "run_passes"
    TO_EXECUTORCH = "to_executorch"
    SERIALIZE = "serialize"

    def __str__(self) -> str:
        return self.value


class Stage(ABC):
    """One step; `artifact` is what it made."""

    stage_type: StageType
    artifact: Any = None

    @abstractmethod
    def run(self, artifact: Any, inputs: Inputs) -> None:
        """Makes `self.artifact` from the artifact of the stage before, for a model that is called with `inputs`."""

    @abstractmethod
    def run_artifact(self, inputs: Inputs) -> list[torch.Tensor]:
        """The outputs of the artifact for `inputs`."""

    @property
    def graph_module(self) -> GraphModule:
        """The graph of the artifact. ValueError for a stage whose artifact is bytes."""
        raise ValueError(f"the artifact of stage {self.stage_type} is no graph")


def stage_type_of(stage: StageType | str | enum.Enum) -> StageType:
    """A stage by its value ("to_edge"), its name ("TO_EDGE") or a member of executorch.backends.test.harness's StageType.

    ValueError for one that CortexMTester does not have.
    """
    name = stage.name if isinstance(stage, enum.Enum) else stage
    try:
        return StageType(str(name).lower())
    except ValueError:
        raise ValueError(f"CortexMTester has no stage {name}; it has {', '.join(StageType)}") from None


class HarnessStage(Stage):
    """A stage of executorch.backends.test.harness, whose stage_type is a method, as one of these."""

    def __init__(self, stage: Any):
        self.stage = stage
        self.stage_type = stage_type_of(stage.stage_type())

    def run(self, artifact: Any, inputs: Inputs) -> None:
        if isinstance(artifact, torch.nn.Module) and not isinstance(artifact, GraphModule):
            artifact.train(bool(getattr(self.stage, "is_qat", False)))
        self.stage.run(artifact, inputs)
        self.artifact = self.stage.artifact

    @property
    def graph_module(self) -> GraphModule:
        return self.stage.graph_module

    def run_artifact(self, inputs: Inputs) -> list[torch.Tensor]:
        return _leaves(self.stage.run_artifact(inputs))


def _leaves(outputs: Any) -> list[torch.Tensor]:
    return pytree.tree_leaves(outputs)


class CortexMQuantize(Stage):
    """Captures and quantizes a module.

    Args:
        calibration_samples: tuples of inputs to observe ranges with; the example inputs if None.
        quantizer: CortexMQuantizer() if None.
    """

    stage_type = StageType.QUANTIZE

    def __init__(self, calibration_samples: Sequence[Inputs] | None = None, quantizer: Quantizer | None = None):
        self.calibration_samples = calibration_samples
        self.quantizer = quantizer or CortexMQuantizer()

    def run(self, artifact: torch.nn.Module, inputs: Inputs) -> None:
        captured = torch.export.export(artifact.eval(), inputs).module()
        prepared = prepare_pt2e(captured, self.quantizer)
        with torch.no_grad():
            for sample in self.calibration_samples or [inputs]:
                prepared(*sample)
        self.artifact = convert_pt2e(prepared)

    @property
    def graph_module(self) -> GraphModule:
        return self.artifact

    def run_artifact(self, inputs: Inputs) -> list[torch.Tensor]:
        return _leaves(self.artifact(*inputs))


class Export(Stage):
    """torch.export."""

    stage_type = StageType.EXPORT

    def run(self, artifact: torch.nn.Module, inputs: Inputs) -> None:
        module = artifact if isinstance(artifact, GraphModule) else artifact.eval()
        self.artifact = torch.export.export(module, inputs)

    @property
    def graph_module(self) -> GraphModule:
        return self.artifact.graph_module

    def run_artifact(self, inputs: Inputs) -> list[torch.Tensor]:
        return _leaves(self.artifact.module()(*inputs))


class _EdgeStage(Stage):
    """The artifact is an EdgeProgramManager; it runs as the .pte that it would become, with the reference operators."""

    @property
    def graph_module(self) -> GraphModule:
        return self.artifact.exported_program().graph_module

    def run_artifact(self, inputs: Inputs) -> list[torch.Tensor]:
        # to_executorch changes the graph that it is given.
        return ReferenceProgram(bytes(copy.deepcopy(self.artifact).to_executorch().buffer)).run(inputs)


class CortexMToEdge(_EdgeStage):
    """The edge dialect, with what lowering needs kept in one piece."""

    stage_type = StageType.TO_EDGE

    def run(self, artifact: torch.export.ExportedProgram, inputs: Inputs) -> None:
        self.artifact = to_edge(artifact, compile_config=cortex_m_edge_compile_config())


class _WithPasses(_EdgeStage):
    """
    Args:
        target_config: the core to lower for, Cortex-M55 if None.
        **options: further arguments of CortexMPassManager.

    Attributes:
        report: of the pass manager, once run.
    """

    def __init__(self, target_config: CortexMTargetConfig | None = None, **options: Any):
        self.target_config = target_config
        self.options = options
        self.report: LoweringReport | None = None


class CortexMRunPasses(_WithPasses):
    """CortexMPassManager on an edge program."""

    stage_type = StageType.RUN_PASSES

    def run(self, artifact: EdgeProgramManager, inputs: Inputs) -> None:
        manager = CortexMPassManager(artifact.exported_program(), target_config=self.target_config, **self.options)
        self.artifact = copy.copy(artifact)
        self.artifact._edge_programs = {"forward": manager.transform()}
        self.report = manager.report


class CortexMToEdgeTransformAndLower(_WithPasses):
    """to_edge_transform_and_lower with CortexMPassManager: both steps in one."""

    stage_type = StageType.TO_EDGE_TRANSFORM_AND_LOWER

    def run(self, artifact: torch.export.ExportedProgram, inputs: Inputs) -> None:
        manager = CortexMPassManager(target_config=self.target_config, **self.options)
        self.artifact = to_edge_transform_and_lower(
            artifact, compile_config=cortex_m_edge_compile_config(), transform_passes=manager
        )
        self.report = manager.report


class ToExecutorch(Stage):
    """Plans memory. `config` is the ExecutorchBackendConfig, cortex_m_executorch_config() if None."""

    stage_type = StageType.TO_EXECUTORCH

    def __init__(self, config: ExecutorchBackendConfig | None = None):
        self.config = config

    def run(self, artifact: EdgeProgramManager, inputs: Inputs) -> None:
        self.artifact = copy.deepcopy(artifact).to_executorch(self.config or cortex_m_executorch_config())

    @property
    def graph_module(self) -> GraphModule:
        return self.artifact.exported_program().graph_module

    def run_artifact(self, inputs: Inputs) -> list[torch.Tensor]:
        return ReferenceProgram(bytes(self.artifact.buffer)).run(inputs)


class CortexMSerialize(Stage):
    """The .pte as bytes; it runs on the simulated board of the target's core.

    Args:
        target_config: the core, Cortex-M55 if None. Its universal runner is found as `cortex_m.test.device` says.
        timeout: seconds that one start of the simulator may take.
    """

    stage_type = StageType.SERIALIZE

    def __init__(self, target_config: CortexMTargetConfig | None = None, timeout: float = 120):
        self.target_config = target_config or CortexMTargetConfig(CortexM.M55)
        self.timeout = timeout

    def run(self, artifact: Any, inputs: Inputs) -> None:
        self.artifact = bytes(artifact.buffer)

    def run_artifact(self, inputs: Inputs) -> list[torch.Tensor]:
        """The device's outputs. AssertionError with the device's sentence if it refuses the program."""
        core = self.target_config.target_string.replace("-", "_")
        (result,) = Device(core).run([(self.artifact, inputs)], timeout=self.timeout)
        assert result.error is None, f"{core} on {boards.for_core(core)}: {result.error}"
        return list(result.outputs)


cortex_m_stage_classes: dict[StageType, type[Stage]] = {
    StageType.QUANTIZE: CortexMQuantize,
    StageType.EXPORT: Export,
    StageType.TO_EDGE: CortexMToEdge,
    StageType.TO_EDGE_TRANSFORM_AND_LOWER: CortexMToEdgeTransformAndLower,
    StageType.RUN_PASSES: CortexMRunPasses,
    StageType.TO_EXECUTORCH: ToExecutorch,
    StageType.SERIALIZE: CortexMSerialize,
}
