"""Lowers an edge program with quantize and dequantize nodes to cortex_m ops.

    edge = to_edge_transform_and_lower(
        exported, compile_config=cortex_m_edge_compile_config(), transform_passes=CortexMPassManager()
    )

or, for an ExportedProgram in the edge dialect:

    lowered = CortexMPassManager(edge.exported_program(), target_config=config).transform()

Afterwards `manager.report` says what each op became, and why one did not.
"""

import copy
import inspect
import re
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from executorch import exir  # noqa: F401  (registers the dim_order ops that the passes name)
from executorch.exir._program_utils import _get_updated_graph_signature
from executorch.exir.pass_base import ExportedProgramPassBase, ExportedProgramPassResult
from executorch.exir.pass_manager import ExportedProgramPassManager
from torch.export import ExportedProgram
from torch.fx import GraphModule

from cortex_m.passes.boundary_types_pass import BoundaryTypesPass
from cortex_m.passes.convert_boundaries_pass import ConvertBoundariesPass
from cortex_m.passes.decompose_float_pass import DecomposeFloatPass
from cortex_m.passes.fold_constants_pass import FoldConstantsPass
from cortex_m.passes.layout_pass import LayoutPass
from cortex_m.passes.lower_tables_pass import LowerTablesPass
from cortex_m.passes.lower_to_cortex_m_pass import LowerToCortexMPass
from cortex_m.passes.pack_weights_pass import PackWeightsPass
from cortex_m.passes.propagate_quantization_pass import PropagateQuantizationPass
from cortex_m.passes.refusal_text import refusal_text
from cortex_m.passes.remove_identities_pass import RemoveIdentitiesPass
from cortex_m.passes.report import LoweringReport
from cortex_m.passes.restore_outputs_pass import RestoreOutputsPass, dim_order
from cortex_m.passes.simplify_movement_pass import SimplifyMovementPass
from cortex_m.quantizer.known_values import require_known_values
from cortex_m.quantizer.prepare import PrepareGraphPass
from cortex_m.target_config import CortexM, CortexMTargetConfig


class LoweringError(ValueError):
    """Raised with strict=True when an op would run outside cortex_m.

    report: of the whole program, every instruction included.
    """

    def __init__(self, message: str, report: LoweringReport) -> None:
        super().__init__(message)
        self.report = report


class CortexMPassManager(ExportedProgramPassManager):
    """The passes in order.

    exported_program: the program `transform` works on; not needed where exir calls the manager.
    passes: pass classes instead of `pass_list`. A class gets those of exported_program, target_config, report and
        quantize_io that its constructor names.
    target_config: the core to lower for. One that names a core gets operators with weights packed for it, unless it says
        portable_program. If None: Cortex-M55 with portable_program.
    use_explicit_layout: accepted for scripts that pass it, and without effect: images are NHWC inside and contiguous or
        channels_last for the caller, whatever it says, and every copy between the two is in the report.
    strict: raise LoweringError if an op would not run as a cortex_m op.
    allow_fallback: with strict, the ops that may all the same, by their names in the error, "aten::cumsum". LoweringError if one of
        them did not have to. ValueError without strict.
    quantize_io: True: the program takes and gives the tensors of the model. False: where these are quantized, it takes
        and gives the integers; their scales and zero points are in `report.inputs` and `report.outputs`. ValueError
        from the run if a float input or output is left.
    """

    pass_list: ClassVar[list[type]] = [
        RemoveIdentitiesPass,
        LowerTablesPass,  # first: propagation takes functions with a choice in them (prelu, threshold, where) apart
        PropagateQuantizationPass,
        LowerTablesPass,  # again: behind a movement the quantize nodes stand only now
        LowerToCortexMPass,
        BoundaryTypesPass,
        DecomposeFloatPass,
        ConvertBoundariesPass,
        FoldConstantsPass,
        LayoutPass,
        FoldConstantsPass,
        SimplifyMovementPass,
        RestoreOutputsPass,
        PackWeightsPass,  # last: the plain operators are what the other passes know
    ]
    # One list serves both: layout is decided by LayoutPass.
    legacy_pass_list: list[type] = pass_list
    explicit_layout_pass_list: ClassVar[list[type]] = pass_list
    # What a quantizer's transform_for_annotation does to a captured graph.
    pass_list_transform_for_annotation: ClassVar[list[type]] = [PrepareGraphPass]

    def __init__(
        self,
        exported_program: ExportedProgram | None = None,
        passes: Sequence[type] | None = None,
        target_config: CortexMTargetConfig | None = None,
        use_explicit_layout: bool = False,
        *,
        strict: bool = False,
        allow_fallback: Sequence[str] = (),
        quantize_io: bool = True,
    ) -> None:
        super().__init__()
        self.exported_program = exported_program
        self.target_config = target_config or CortexMTargetConfig(CortexM.M55, portable_program=True)
        self.strict = strict
        self.allow_fallback = tuple(allow_fallback)
        self.quantize_io = quantize_io
        self.report = LoweringReport(self.target_config)
        # By source line, "net.py:12": why the quantizer left something float there, for the error of strict.
        self.causes: dict[str, list[str]] = {}
        chosen = self.explicit_layout_pass_list if use_explicit_layout else self.pass_list
        self._classes = list(chosen if passes is None else passes)
        if self.allow_fallback and not strict:
            raise ValueError("allow_fallback says what strict=True permits; without it every operator may run in float")
        for name in self.allow_fallback:
            if not re.fullmatch(r"\w+::\w+", name):
                raise ValueError(f"allow_fallback: {name!r} is no name of an operator; write it like aten::cumsum")
        if not quantize_io and BoundaryTypesPass not in self._classes:
            raise ValueError("quantize_io=False needs BoundaryTypesPass among the passes")

    def transform(self) -> ExportedProgram:
        """The lowered program; the one given stays as it is. ValueError without a program, or for a pass that is no class."""
        if self.exported_program is None:
            raise ValueError("CortexMPassManager needs an ExportedProgram to transform")
        return self._run(self.exported_program)

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """`model`, a graph captured for annotation, after the passes of `pass_list_transform_for_annotation`."""
        for entry in self.pass_list_transform_for_annotation:
            result = entry()(model)
            model = model if result is None else result.graph_module
        return model

    def __call__(self, exported_program: ExportedProgram, override_verifiers: Any = None) -> ExportedProgramPassResult:
        """What exir calls; exported_program is left as it is."""
        return ExportedProgramPassResult(self._run(exported_program), True)

    def _run(self, original: ExportedProgram) -> ExportedProgram:
        for entry in self._classes:
            if not isinstance(entry, type):
                raise ValueError(f"passes takes classes, not instances: {entry!r}")
        require_known_values(original.graph)
        program = _copy(original)
        self.report.clear()
        results = program.graph_module.graph.output_node().args[0]
        self.report.output_orders = [dim_order(getattr(result, "meta", {}).get("val")) for result in results]
        for entry in self._classes:
            program = self._apply(entry, program)
        _forget_gradients(program)
        self.report.complete(program)
        unused = self.report.allow(self.allow_fallback)
        refused = [refusal for refusal in self.report.refusals if not refusal.allowed]
        if self.strict and refused:
            text = refusal_text(refused, self.causes)
            raise LoweringError(
                f"strict lowering found ops that would run outside cortex_m: {len(refused)}\n{text}", self.report
            )
        if unused:
            raise LoweringError(
                f"allow_fallback names {', '.join(unused)}, and no such op stayed outside cortex_m: leave it out",
                self.report,
            )
        return program

    def _apply(self, entry: type, program: ExportedProgram) -> ExportedProgram:
        offered = {
            "exported_program": program,
            "target_config": self.target_config,
            "report": self.report,
            "quantize_io": self.quantize_io,
        }
        wanted = inspect.signature(entry).parameters
        instance = entry(**{name: value for name, value in offered.items() if name in wanted})
        if isinstance(instance, ExportedProgramPassBase):
            return instance(program).exported_program
        result = instance(program.graph_module)
        if result is not None and result.modified:
            program._graph_signature = _get_updated_graph_signature(program.graph_signature, result.graph_module)
            program._graph_module = result.graph_module
        return program


def _forget_gradients(program: ExportedProgram) -> None:
    """A buffer that takes over what is made of parameters would ask for gradients in the passes to come, and refuse to be written."""
    for node in program.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.requires_grad:
            node.meta["val"] = value.detach()


def _copy(program: ExportedProgram) -> ExportedProgram:
    """A program whose graph, signature and tables of constants can change; the tensors are shared."""
    duplicate = copy.copy(program)
    duplicate._graph_module = copy.deepcopy(program.graph_module)
    duplicate._graph_signature = copy.deepcopy(program.graph_signature)
    duplicate._state_dict = dict(program.state_dict)
    duplicate._constants = dict(program.constants)
    return duplicate
