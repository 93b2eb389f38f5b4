"""Runs programs on a core, or on this machine with the same C++, many in one start.

    device = Device("cortex_m55")
    first, second = device.run([(program, (x,)), (other_program, (x, y))])
    first.outputs[0]            # a tensor, in the program's memory order
    second.error                # None, or the device's sentence
    device.run([(program, (x,))], layers=True)[0].layers    # LayerCount(index, op, instructions) of each instruction

Cores and where their runners are looked for: see batch.py, which does the same with bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cortex_m.host.signature import Signature, read_signature
from cortex_m.test.batch import BatchRunner, Job, RawResult


@dataclass(frozen=True)
class Result(RawResult):
    """A RawResult whose outputs are tensors and numbers."""

    outputs: tuple[Any, ...] = ()


class Device:
    """A universal runner. Raises FileNotFoundError if there is none for the core, ValueError for a core without a board.

    runner: path of an ELF (or program of this machine) to use instead of the one that is looked for.
    simulator: as for cortex_m.simulator.run.
    batch: the BatchRunner to use instead of a new one, whose core it must be.
    """

    def __init__(
        self,
        core: str,
        runner: str | os.PathLike | None = None,
        simulator: str = "qemu",
        batch: BatchRunner | None = None,
    ) -> None:
        self.core = core
        self._batch = batch or BatchRunner(core, runner, simulator)

    def run(
        self, cases: Iterable[tuple[bytes, Sequence[Any]]], timeout: float = 300.0, layers: bool = False
    ) -> list[Result]:
        """One Result for each (program, inputs), in order. Inputs are tensors of any strides, or numbers.

        A program that crashes the runner has the crash as its error, and the following ones run in another start.
        timeout: seconds of a start.
        layers: whether to count for each instruction of a program, in another inference than the one that is measured.

        Raises SignatureError for inputs that are not the program's, SimulatorError if a start takes longer or the simulator
        itself fails, ValueError for layers on the host, which counts no instructions.
        """
        signatures: dict[bytes, Signature] = {}
        jobs, outputs = [], []
        for number, (program, inputs) in enumerate(cases):
            if program not in signatures:
                signatures[program] = read_signature(program)
            signature = signatures[program]
            if len(inputs) != len(signature.inputs):
                raise ValueError(f"program {number} takes {len(signature.inputs)} inputs, not {len(inputs)}")
            data = [spec.to_bytes(value) for spec, value in zip(signature.inputs, inputs)]
            jobs.append(Job(program, data, len(signature.outputs)))
            outputs.append(signature.outputs)
        results = []
        for raw, specs in zip(self._batch.run(jobs, timeout, layers), outputs):
            tensors = tuple(spec.from_bytes(data) for spec, data in zip(specs, raw.outputs))
            results.append(Result(**{**vars(raw), "outputs": tensors}))
        return results
