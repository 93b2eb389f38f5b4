"""What a program gives, computed twice over: by the device's own code, compiled for this machine, and by the reference operators.

    predictor = Predictor(program, report.instructions)
    first = predictor.run(inputs)
    second = predictor.run(inputs)          # goes on with the state that the first run has left
    predictor.reset()

The two are compared instruction by instruction. Integers, and all that an operator of this repository gives, must be the same
bytes. Float operators in PyTorch and the kernels for them in cortex_m/portable add in another order and have other library
functions: there the device's result is the one that counts, the reference must be near it, and goes on from it, so that what
follows is compared to the bit again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from cortex_m.host import program as host
from cortex_m.host.errors import ProgramError
from cortex_m.host.interpreter import Call, ReferenceProgram
from cortex_m.ops.operators import NAMESPACE
from cortex_m.passes.report import Instruction

# How far a float operator's two results may be apart, as a part of the largest number in them, or of _SMALLEST where all are
# smaller: there, differences of equal numbers are rounding errors alone.
_TOLERANCE = 2.0**-10
_SMALLEST = 2.0**-4
# PyTorch says nothing of the order in which these give equal elements.
_ANY_ORDER = ("aten::topk", "aten::sort")


class Predictor:
    """Runs one program twice over.

    program: the bytes of a .pte. instructions: what the export's report says of them, for names and source lines in errors.
    Raises ProgramError if an operator has no kernel.
    """

    def __init__(self, program: bytes, instructions: Sequence[Instruction] = ()) -> None:
        self._instructions = {instruction.index: instruction for instruction in instructions}
        self._reference = ReferenceProgram(program)
        self._require_kernels()
        self._host = host.Program(program)

    def run(self, inputs: Sequence[Any], callback: Callable[[Call], None] | None = None) -> list[Any]:
        """Outputs for `inputs`, after those of earlier runs: the device's, bit for bit.

        callback: called after each instruction with what it has computed.
        Raises ProgramError, with the first instruction where the two differ.
        """
        outputs, written = self._host.trace(inputs)
        rows = iter(written)

        def compare(call: Call) -> None:
            self._compare(call, rows)
            if callback is not None:
                callback(call)

        reference = self._reference.run(inputs, compare)
        for position, (one, other) in enumerate(zip(outputs, reference)):
            if not _same(one, other):
                raise ProgramError(f"output {position} differs between the device's code and the reference operators")
        return outputs

    def run_device(self, inputs: Sequence[Any]) -> list[Any]:
        """The same by the device's code alone. The reference does not see this run: call `reset` before the next `run`."""
        return self._host.run(inputs)

    def reset(self) -> None:
        """Brings the buffers that the program changes back to their initial values."""
        self._host.reset()
        self._reference.reset()

    def _require_kernels(self) -> None:
        known = set(host.kernels())
        for index, name in self._reference.calls():
            if name not in known:
                raise ProgramError(
                    f"{self._where(index, name)} stays in float, and there is no kernel for it: docs/portable_ops.md lists those "
                    "that there are; compute it outside of the model or by others"
                )

    def _compare(self, call: Call, rows: Iterator[tuple[int, bytes]]) -> None:
        for output in call.outputs:
            index, data = next(rows, (-1, b""))
            flat = _bytes_of(output)
            if index != call.index or len(data) != flat.numel():
                raise ProgramError(
                    f"{self._where(call.index, call.op)}: the device's code and the reference run different instructions"
                )
            if not data or flat.numpy().tobytes() == data:
                continue
            device = torch.frombuffer(bytearray(data), dtype=torch.uint8)
            if not call.op.startswith(_ANY_ORDER) and not _may_differ(call.op, output, device):
                wrong = int((flat != device).sum())
                raise ProgramError(
                    f"{self._where(call.index, call.op)}: the device's code and the reference operator differ in {wrong} of "
                    f"{len(data)} bytes"
                )
            flat.copy_(device)

    def _where(self, index: int, op: str) -> str:
        found = self._instructions.get(index)
        source = f"{found.source}: " if found is not None and found.source else ""
        return f"{source}instruction {index}, {op},"


def _may_differ(op: str, reference: torch.Tensor, device: torch.Tensor) -> bool:
    """Whether the two results of a float operator are as near to each other as roundings leave them."""
    if op.startswith(f"{NAMESPACE}::") or not reference.is_floating_point():
        return False
    theirs, own = (flat.view(reference.dtype).double() for flat in (device, _bytes_of(reference)))
    finite = own.isfinite()
    if not torch.equal(theirs[~finite].nan_to_num(nan=0.5), own[~finite].nan_to_num(nan=0.5)):
        return False
    largest = max(float(own[finite].abs().amax()) if bool(finite.any()) else 0.0, _SMALLEST)
    return bool(((theirs[finite] - own[finite]).abs() <= _TOLERANCE * largest).all())


def _same(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other) and one == other
    return one.shape == other.shape and one.dtype == other.dtype and _dense_bytes(one) == _dense_bytes(other)


def _dense_bytes(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def _bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor that the program plans, uint8, in the order of memory: another look at them."""
    return tensor.as_strided((tensor.numel(),), (1,)).view(torch.uint8)
