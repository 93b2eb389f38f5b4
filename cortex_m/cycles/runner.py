"""A universal runner whose blocks are counted, for estimates of loading, inference and layers."""

from __future__ import annotations

import os
from pathlib import Path

from cortex_m import cycles
from cortex_m.test.batch import BatchRunner


class CountingRunner(BatchRunner):
    """As BatchRunner; after `run` there are the estimates of what it did. Raises MissingLlvm where LLVM is not installed."""

    def __init__(self, core: str, runner: str | os.PathLike | None = None) -> None:
        super().__init__(core, runner)
        self._estimator = cycles.Estimator(core, self.runner)
        self._segments: list[cycles.Segment] = []

    def _simulate(self, folder: Path, arguments: list[str], timeout: float) -> str:
        result, self._segments = cycles.count(self.core, self.runner, arguments, folder, timeout)
        return result.stdout

    def estimates(self) -> list[cycles.Estimate]:
        """Of a run of one job: loading, inference and, where layers were asked for, each in the order in which they ran."""
        segments = cycles.measured(self._segments)
        self._estimator.learn(segments)
        return [self._estimator.estimate(segment) for segment in segments]
