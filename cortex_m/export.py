"""From a PyTorch module to a .pte with everything a build wants to know about it: the recipe in one call.

    source = ModelSource(module, (torch.randn(1, 3, 32, 32),), calibration=samples)
    result = export_model(source, CortexMTargetConfig(CortexM.M55))
    Path("model.pte").write_bytes(result.program)

The steps are the public ones (README.md shows them spelled out): `torch.export`, `prepare_pt2e` with
`CortexMQuantizer`, calibration, `convert_pt2e`, `to_edge_transform_and_lower` with `CortexMPassManager`,
`to_executorch`. On top of them stand the checks of the input, a seal on the program (`cortex_m/seal.py`), and a
prediction: the outputs that the program must give
on the example inputs, computed from the bytes of the .pte by the device's own code, compiled for this machine, and by the
reference operators in exact integer arithmetic, which must agree (`cortex_m/prediction.py`).

A model may have state: buffers that `forward` changes. Their values are in the program, which begins with them and goes on,
run after run, with what it has made of them. The module itself is not changed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from executorch.exir import to_edge_transform_and_lower
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cortex_m.analysis.accuracy import MAX_MACS, MAX_SAMPLES, Accuracy, FloatReference
from cortex_m.analysis.layers import ProgramFacts
from cortex_m.analysis.loss import FLOOR_DB, Loss, require_quality
from cortex_m.analysis.memory import MemoryPlan
from cortex_m.analysis.missing_kernels import refused_by_kernel, without_kernel
from cortex_m.capture import Captured, Inputs, as_module, capture, run_float
from cortex_m.compact import compact
from cortex_m.edge_compile_config import cortex_m_edge_compile_config
from cortex_m.errors import ModelError
from cortex_m.host.errors import ProgramError
from cortex_m.memory.planning_pass import CortexMMemoryPlanningPass, cortex_m_executorch_config
from cortex_m.own_copy import own_copy
from cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from cortex_m.passes.report import BoundaryTensor
from cortex_m.prediction import Predictor
from cortex_m.quantizer.quantizer import CortexMQuantizer
from cortex_m.same_function import Guard, require_finite
from cortex_m.seal import seal
from cortex_m.target_config import CortexMTargetConfig


@dataclasses.dataclass(frozen=True)
class ModelSource:
    """What the exporter needs from a user.

    module: the network, or an ExportedProgram of one (as torch.export.load gives); it is exported in evaluation, and stays
        as it is: mode, parameters, buffers and hooks. A half or double precision one is exported in float32.
    example_inputs: one call's positional arguments, tensors. Their shapes, dtypes and memory formats are those of the program.
    calibration: calls to observe value ranges with, one after the other; the example inputs alone if empty. A model with state
        goes on from each call to the next, so let them be a sequence; the program begins as `module` does all the same.
    output_shapes: if given, what the module must return, checked before anything long begins.
    tune: as of CortexMQuantizer. False where the calibration samples are few and unlike what is to come: tuning fits
        the weights to them.
    evaluation: calls to judge the program by: a cortex_m_test runs each on its cores, compares every byte, and takes the
        accuracy that its budgets ask for over all of them. The example inputs alone if empty. Of a model with state each is a
        first call.
    sqnr_floor_db: an output whose signal to quantization noise ratio is lower is an error; over the samples of `evaluation`, or
        without those over some that it was calibrated with. -math.inf lets everything pass.
    """

    module: torch.nn.Module | ExportedProgram
    example_inputs: Inputs
    calibration: Sequence[Inputs] = ()
    output_shapes: Sequence[Sequence[int]] | None = None
    tune: bool = True
    evaluation: Sequence[Inputs] = ()
    sqnr_floor_db: float = FLOOR_DB


@dataclasses.dataclass(frozen=True)
class Prediction:
    """One call: what the program takes, what it must give, and what the float module gives."""

    inputs: Inputs
    expected: list[torch.Tensor]
    float_outputs: list[torch.Tensor]


@dataclasses.dataclass(frozen=True)
class ExportResult:
    """A program, its prediction on the example inputs, and the reports of the stages that made it.

    With quantize_io=False, `inputs` and `expected` hold integers, and `lowering_report.inputs` and
    `lowering_report.outputs` the scale and zero point of each.
    """

    program: bytes
    inputs: Inputs  # as the program takes them
    expected: list[torch.Tensor]  # of the first run, from the bytes of `program`
    float_outputs: list[torch.Tensor]
    quantizer_report: Any
    lowering_report: Any
    memory: MemoryPlan  # read from the bytes of `program`
    accuracy: Accuracy  # of each layer
    evaluation: Sequence[Prediction] = ()  # of the source's evaluation calls
    expected_again: Sequence[torch.Tensor] = ()  # of a second run on the same inputs; empty for a program without state
    loss: Loss | None = None  # of each output

    @property
    def sqnr_db(self) -> float:
        """Signal to quantization noise of all float outputs against the float module, in dB; inf if they are equal."""
        real = [_to_real(value, tensor) for value, tensor in zip(self.expected, self.lowering_report.outputs)]
        pairs = [(f, e) for f, e in zip(self.float_outputs, real) if f.is_floating_point()]
        signal = sum(float(f.double().square().sum()) for f, _ in pairs)
        noise = sum(float((f.double() - e.double()).square().sum()) for f, e in pairs)
        if noise == 0.0:
            return math.inf
        return 10 * math.log10(signal / noise) if signal > 0.0 else -math.inf


def export_model(
    source: ModelSource,
    target: CortexMTargetConfig | None = None,
    *,
    strict: bool = False,
    allow_fallback: Sequence[str] = (),
    quantize_io: bool = True,
    progress: Callable[[str], None] = lambda step: None,
) -> ExportResult:
    """Quantizes, lowers and serialises `source` for `target` (default: any core).

    target: recorded in the program. One for a core runs on the cores that have its instruction set, and other cores refuse
      it; one for any core is the same everywhere: plain operators, and scratch buffers of the largest size that a core wants.
    strict: an operator that would run in float raises, with node, reason and source line.
    allow_fallback: as of CortexMPassManager: with strict, the operators that may run in float all the same.
    quantize_io: False makes a program that takes and gives int8 tensors; see ExportResult.
    progress: called with a short sentence as each step begins.

    Raises ModelError for a module and inputs that do not go together, for what cannot be captured or is not finite, and if
    the prepared graph were not the function of the module; QualityError for an output below the source's floor; ValueError
    with quantize_io=False for a float input or output that is not quantized.
    """
    target = target or CortexMTargetConfig.any()
    passes = CortexMPassManager(
        target_config=target, strict=strict, allow_fallback=allow_fallback, quantize_io=quantize_io
    )
    module = as_module(source.module)
    with own_copy(module) as own:
        captured = capture(
            own, type(module).__name__, source.example_inputs, source.calibration, source.evaluation,
            source.output_shapes, progress,
        )  # fmt: skip
        return _quantize_and_lower(captured, source.tune, source.sqnr_floor_db, target, passes, progress)


def _quantize_and_lower(
    source: Captured,
    tune: bool,
    floor_db: float,
    target: CortexMTargetConfig,
    passes: CortexMPassManager,
    progress: Callable[[str], None],
) -> ExportResult:
    module, float_outputs = source.module, source.float_outputs
    name = type(module).__name__
    quantizer = CortexMQuantizer(tune=tune)
    calibration = source.calibration or [source.example_inputs]
    progress("placing observers")
    guard = Guard(source.graph)
    prepared = prepare_pt2e(source.graph, quantizer)
    quantizer.report.of_samples += source.warnings
    passes.causes = quantizer.report.causes()
    reference = FloatReference(prepared)  # before calibration, which moves the state
    guard.require_same(prepared, lambda inputs: run_float(module, name, inputs), calibration)
    with torch.no_grad():
        for number, sample in enumerate(calibration, 1):
            progress(f"calibrating, sample {number} of {len(calibration)}")
            prepared(*sample)
            which = f"calibration sample {number - 1}" if source.calibration else "the example inputs"
            require_finite(prepared, sample, which)
    progress("converting to int8")
    exported = torch.export.export(convert_pt2e(prepared), source.example_inputs)
    progress("lowering to cortex_m operators")
    edge = to_edge_transform_and_lower(exported, compile_config=cortex_m_edge_compile_config(), transform_passes=passes)
    if missing := without_kernel(edge.exported_program()):
        raise ModelError(missing)
    progress("planning memory and serialising")
    planning = CortexMMemoryPlanningPass()
    buffer = edge.to_executorch(cortex_m_executorch_config(memory_planning_pass=planning)).buffer
    passes.report.leave_out(planning.left_out)
    program = seal(compact(bytes(buffer)), target)
    memory = MemoryPlan.of(program)
    memory.require_sound()
    progress("predicting the outputs")
    inputs = tuple(map(_to_stored, source.example_inputs, passes.report.inputs))
    tuner = quantizer.report.tuner
    accuracy = Accuracy(passes.report.instructions, reference, tuner.channel_factors if tuner is not None else {})
    predictor = Predictor(program, passes.report.instructions)
    try:
        expected = predictor.run(inputs, accuracy.begin(source.example_inputs))
    except ProgramError as error:
        if sentence := refused_by_kernel(error, passes.report.instructions):
            raise ModelError(sentence) from error
        raise
    _check_same_shapes(float_outputs, expected)
    has_state = any(buffer.kind == "state" for buffer in memory.buffers)
    expected_again = predictor.run(inputs) if has_state else []
    judged = [(float_outputs, expected)]
    for sample in _more_samples(source, program):
        stored = tuple(map(_to_stored, sample, passes.report.inputs))
        predictor.reset()
        judged.append((run_float(module, name, sample), predictor.run(stored, accuracy.begin(sample))))
    evaluation = []
    for number, sample in enumerate(source.evaluation, 1):
        progress(f"predicting the outputs, sample {number} of {len(source.evaluation)}")
        stored = tuple(map(_to_stored, sample, passes.report.inputs))
        predictor.reset()
        evaluation.append(Prediction(stored, predictor.run(stored), run_float(module, name, sample)))
    if evaluation:
        judged = [(each.float_outputs, each.expected) for each in evaluation]
    results = passes.report.outputs
    real = [(floats, [*map(_to_real, outputs, results)]) for floats, outputs in judged]
    loss = Loss.of([tensor.name for tensor in results], real, held_out=bool(evaluation))
    layers = accuracy
    if loss.held_out and loss.is_below(floor_db):  # then the layers on the same samples tell more
        layers = Accuracy(passes.report.instructions, reference, accuracy.channel_factors)
        for sample, prediction in zip(source.evaluation[:MAX_SAMPLES], evaluation):
            predictor.reset()
            predictor.run(prediction.inputs, layers.begin(sample))
    require_quality(loss, layers.layers(), floor_db, quantizer.report.warnings)
    return ExportResult(
        program, inputs, expected, float_outputs, quantizer.report, passes.report, memory, accuracy, evaluation,
        expected_again, loss,
    )  # fmt: skip


def _more_samples(source: Captured, program: bytes) -> Sequence[Inputs]:
    """Calibration samples, beside the example inputs, to compare layers on: as many as take little time."""
    affordable = MAX_MACS // max(ProgramFacts.of(program).macs, 1)
    return [sample for sample in source.calibration if sample is not source.example_inputs][
        : min(affordable, MAX_SAMPLES - 1)
    ]


def _to_stored(value: torch.Tensor, tensor: BoundaryTensor) -> torch.Tensor:
    """`value` as the integers that the program takes for it."""
    if tensor.scale is None:
        return value
    return torch.ops.cortex_m.quantize_per_tensor(
        value, tensor.scale, tensor.zero_point, tensor.quant_min, tensor.quant_max, getattr(torch, tensor.dtype)
    )


def _to_real(value: torch.Tensor, tensor: BoundaryTensor) -> torch.Tensor:
    return value if tensor.scale is None else (value.double() - tensor.zero_point) * tensor.scale


def _check_same_shapes(float_outputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> None:
    got, want = [list(t.shape) for t in outputs], [list(t.shape) for t in float_outputs]
    if got != want:
        raise ModelError(f"the exported program returns shapes {got}, the float module returns {want}")
