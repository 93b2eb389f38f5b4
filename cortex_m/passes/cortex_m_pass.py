"""Base of the passes."""

from abc import abstractmethod

from executorch.exir.pass_base import ExportedProgramPassBase, ExportedProgramPassResult
from torch.export import ExportedProgram

from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.report import LoweringReport
from cortex_m.target_config import CortexM, CortexMTargetConfig


class CortexMPass(ExportedProgramPassBase):
    """Changes an ExportedProgram in place through a GraphEditor.

    The manager passes whichever of exported_program, target_config and report a pass's constructor names.
    """

    def __init__(
        self,
        target_config: CortexMTargetConfig | None = None,
        report: LoweringReport | None = None,
    ) -> None:
        self.target_config = target_config or CortexMTargetConfig(CortexM.M55, portable_program=True)
        self.report = report if report is not None else LoweringReport(self.target_config)

    def call(self, exported_program: ExportedProgram) -> ExportedProgramPassResult:
        editor = GraphEditor(exported_program)
        if editor.fake_mode is not None:  # a program without tensors has nothing to lower
            self.run(editor)
            editor.finish()
        return ExportedProgramPassResult(exported_program, True)

    @abstractmethod
    def run(self, editor: GraphEditor) -> None:
        """The pass itself."""
