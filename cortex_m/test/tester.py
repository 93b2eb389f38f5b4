"""CortexMTester: a module through every stage, with the operators counted on the way and the device's bytes checked.

    tester = CortexMTester(model, (torch.randn(1, 3, 8, 8),))
    tester.test_dialect(
        {"executorch_exir_dialects_edge__ops_aten_add_Tensor": 1},
        {"executorch_exir_dialects_edge__ops_cortex_m_quantized_add_default": 1},
    )
    CortexMTester(model, inputs, target_config=cortex_m_target).test_implementation()

Stages can be called one by one too: `tester.quantize().export().to_edge().run_passes().check_count({...})`. Those of
executorch.backends.test.harness can be given, too, and members of its StageType name stages as their values and names do.
`cortex_m.test.pytest_plugin` adds the option --cortex-m-target and the fixture `cortex_m_target`; the Bazel macro
`cortex_m_tester_test` names the cores and brings their runners.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from cortex_m.target_config import CortexM, CortexMTargetConfig
from cortex_m.test.comparison import ErrorStatistics, output_scales, require_close, require_equal_bytes
from cortex_m.test.stages import (
    CortexMQuantize,
    CortexMRunPasses,
    CortexMSerialize,
    CortexMToEdge,
    CortexMToEdgeTransformAndLower,
    Export,
    HarnessStage,
    Inputs,
    Stage,
    StageType,
    ToExecutorch,
    cortex_m_stage_classes,
    stage_type_of,
)

__all__ = [
    "CortexMQuantize",
    "CortexMRunPasses",
    "CortexMSerialize",
    "CortexMTester",
    "CortexMToEdge",
    "CortexMToEdgeTransformAndLower",
    "Export",
    "McuTestCase",
    "StageType",
    "ToExecutorch",
    "cortex_m_stage_classes",
    "ramp_tensor",
]

# What a stage works on: the newest artifact of one of these.
_PREDECESSORS = {
    StageType.QUANTIZE: (),
    StageType.EXPORT: (StageType.QUANTIZE,),
    StageType.TO_EDGE: (StageType.EXPORT,),
    StageType.TO_EDGE_TRANSFORM_AND_LOWER: (StageType.EXPORT,),
    StageType.RUN_PASSES: (StageType.TO_EDGE,),
    StageType.TO_EXECUTORCH: (StageType.TO_EDGE_TRANSFORM_AND_LOWER, StageType.RUN_PASSES, StageType.TO_EDGE),
    StageType.SERIALIZE: (StageType.TO_EXECUTORCH,),
}
# Without these before them, the first two take the module itself.
_TAKE_MODULE = (StageType.QUANTIZE, StageType.EXPORT)


def ramp_tensor(start: float, end: float, shape: Sequence[int]) -> torch.Tensor:
    """float32 values in equal steps from `start` to `end`, in row-major order."""
    count = torch.Size(shape).numel()
    return torch.linspace(start, end, steps=count, dtype=torch.float32).reshape(tuple(shape))


@dataclass
class McuTestCase:
    """A model and what to call it with: a tuple, or a function that makes one."""

    model: torch.nn.Module
    example_inputs: Inputs | Callable[[], Inputs]

    def get_example_inputs(self) -> Inputs:
        return self.example_inputs() if callable(self.example_inputs) else self.example_inputs


class CortexMTester:
    """Takes a module through the stages and keeps what each made.

    Args:
        module: the model, float32; it is put into evaluation mode.
        example_inputs: the arguments of one call, or a function that makes them.
        target_config: the core; Cortex-M55 if None. Operators are counted by their plain names, so the program is a
            portable one; test packed operators with `run_passes(CortexMRunPasses(target_config))` and the like.
        timeout: seconds that a run on the device may take.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        example_inputs: Inputs | Callable[[], Inputs],
        target_config: CortexMTargetConfig | None = None,
        timeout: float = 120,
    ):
        self.module = module
        self.example_inputs = tuple(example_inputs() if callable(example_inputs) else example_inputs)
        self.target_config = dataclasses.replace(
            target_config or CortexMTargetConfig(CortexM.M55), portable_program=True
        )
        self.timeout = timeout
        self.stages: dict[StageType, Stage] = {}
        self._current: StageType | None = None

    # Stages

    def quantize(self, stage: CortexMQuantize | None = None) -> CortexMTester:
        return self._run(stage or CortexMQuantize())

    def export(self, stage: Export | None = None) -> CortexMTester:
        return self._run(stage or Export())

    def to_edge(self, stage: CortexMToEdge | None = None) -> CortexMTester:
        return self._run(stage or CortexMToEdge())

    def to_edge_transform_and_lower(self, stage: CortexMToEdgeTransformAndLower | None = None) -> CortexMTester:
        return self._run(stage or CortexMToEdgeTransformAndLower(self.target_config))

    def run_passes(self, stage: CortexMRunPasses | None = None) -> CortexMTester:
        return self._run(stage or CortexMRunPasses(self.target_config))

    def to_executorch(self, stage: ToExecutorch | None = None) -> CortexMTester:
        return self._run(stage or ToExecutorch())

    def serialize(self, stage: CortexMSerialize | None = None) -> CortexMTester:
        return self._run(stage or CortexMSerialize(self.target_config, self.timeout))

    def _run(self, stage: Any) -> CortexMTester:
        stage = stage if isinstance(stage, Stage) else HarnessStage(stage)
        kind = stage.stage_type
        earlier = [self.stages[before] for before in _PREDECESSORS[kind] if before in self.stages]
        if not earlier and kind not in _TAKE_MODULE:
            needed = " or ".join(_PREDECESSORS[kind])
            raise ValueError(f"stage {kind} needs stage {needed} before it")
        # What was made of an older artifact is no longer true.
        order = list(StageType)
        self.stages = {done: old for done, old in self.stages.items() if order.index(done) < order.index(kind)}
        stage.run(earlier[0].artifact if earlier else self.module, self.example_inputs)
        self.stages[kind] = stage
        self._current = kind
        return self

    def _stage(self, stage: StageType | str | None) -> Stage:
        kind = self._current if stage is None else stage_type_of(stage)
        if kind not in self.stages:
            raise ValueError(f"stage {kind or 'before the first'} was not run")
        return self.stages[kind]

    def get_artifact(self, stage: StageType | str | None = None) -> Any:
        """What a stage made, the last one if None: GraphModule, ExportedProgram, EdgeProgramManager, ..., bytes."""
        return self._stage(stage).artifact

    # Checks of the last stage's graph

    def _code(self) -> str:
        return self._stage(None).graph_module.code

    def check(self, expected: Sequence[str]) -> CortexMTester:
        """AssertionError unless the code of the graph contains each of these."""
        code = self._code()
        missing = [name for name in expected if name not in code]
        assert not missing, f"not in the graph: {missing}\n{code}"
        return self

    def check_not(self, unexpected: Sequence[str]) -> CortexMTester:
        """AssertionError if the code of the graph contains one of these."""
        code = self._code()
        found = [name for name in unexpected if name in code]
        assert not found, f"in the graph: {found}\n{code}"
        return self

    def check_count(self, counts: Mapping[str, int]) -> CortexMTester:
        """AssertionError unless the code of the graph contains each of these exactly so many times."""
        code = self._code()
        wrong = {name: code.count(name) for name, count in counts.items() if code.count(name) != count}
        assert not wrong, f"expected {dict(counts)}, found {wrong}\n{code}"
        return self

    def check_node_count(self, counts: Mapping[Any, int]) -> CortexMTester:
        """AssertionError unless the graph calls each of these targets exactly so many times."""
        targets = [node.target for node in self._stage(None).graph_module.graph.nodes if node.op == "call_function"]
        wrong = {
            str(target): targets.count(target) for target, count in counts.items() if targets.count(target) != count
        }
        assert not wrong, f"expected {counts}, found {wrong}"
        return self

    # Comparisons

    def run_method_and_compare_outputs(
        self,
        stage: StageType | str | None = None,
        inputs: Inputs | None = None,
        num_runs: int = 1,
        atol: float = 1e-3,
        rtol: float = 1e-3,
        qtol: float = 0,
        statistics_callback: Callable[[ErrorStatistics], None] | None = None,
    ) -> CortexMTester:
        """Compares a stage, the last one if None, with the exported model: the quantized one if there is one.

        Args:
            inputs: the example inputs if None; of further runs, normal ones of the same shapes.
            atol, rtol, qtol: |output - reference| <= atol + qtol * scale of the output + rtol * |reference|.
            statistics_callback: called with the statistics of each output before it is judged.
        """
        tested, reference = self._stage(stage), self._stage(StageType.EXPORT)
        scales = output_scales(reference.artifact)
        for number in range(num_runs):
            given = (inputs or self.example_inputs) if number == 0 else tuple(map(_another, self.example_inputs))
            actual, expected = tested.run_artifact(given), reference.run_artifact(given)
            for got, want in zip(actual, expected):
                if statistics_callback is not None:
                    statistics_callback(ErrorStatistics.from_tensors(got, want))
            require_close(actual, expected, scales, atol, rtol, qtol, f"stage {tested.stage_type}")
        return self

    def require_prediction(self, inputs: Inputs | None = None) -> CortexMTester:
        """AssertionError unless the device gives the bytes that the reference operators give for the same .pte."""
        given = inputs or self.example_inputs
        predicted = self._stage(StageType.TO_EXECUTORCH).run_artifact(given)
        actual = self._stage(StageType.SERIALIZE).run_artifact(given)
        require_equal_bytes(actual, predicted, self.target_config.target_string)
        return self

    # The two tests

    def test_dialect(
        self,
        ops_before_transforms: Mapping[str, int],
        ops_after_transforms: Mapping[str, int],
        qtol: float = 1,
        atol: float = 1e-3,
        calibration_samples: Sequence[Inputs] | None = None,
        ops_absent_after_transforms: Sequence[str] | None = None,
    ) -> None:
        """Quantizes and lowers; counts operators before and after, and compares with the quantized model.

        The quantized model rounds in float, operators in integers: at a tie they differ by one step, which is the
        default of `qtol`. Calibration takes the example inputs if no samples are given.
        """
        self.quantize(CortexMQuantize(calibration_samples)).export().to_edge().check_count(ops_before_transforms)
        self.run_passes().check_count(ops_after_transforms).check_not(ops_absent_after_transforms or ())
        self.run_method_and_compare_outputs(qtol=qtol, atol=atol)

    def test_implementation(
        self,
        qtol: float | None = None,
        atol: float | None = None,
        calibration_samples: Sequence[Inputs] | None = None,
    ) -> None:
        """Quantizes, lowers and runs on the device: the outputs are the predicted bytes.

        With `qtol` or `atol` they are compared with the quantized model as well.
        """
        self.quantize(CortexMQuantize(calibration_samples)).export().to_edge().run_passes().to_executorch().serialize()
        self.require_prediction()
        if qtol is not None or atol is not None:
            self.run_method_and_compare_outputs(qtol=qtol or 0, atol=1e-3 if atol is None else atol)


def _another(value: torch.Tensor) -> torch.Tensor:
    return torch.randn_like(value) if value.is_floating_point() else value
