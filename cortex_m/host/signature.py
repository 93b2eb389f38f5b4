"""What a .pte takes and gives: shapes, dtypes and memory order of a method's inputs and outputs.

    signature = read_signature(Path("model.pte").read_bytes())
    signature.inputs[0].to_bytes(image)       # what the device reads
    signature.outputs[0].from_bytes(data)     # what it wrote, as a tensor

Reads the flatbuffer where it lies: no constants are unpacked and no flatc is started.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import torch
from executorch.exir._serialize._flatbuffer_program import _patch_generated_flatbuffer_aliases
from executorch.exir._serialize.generated.executorch_flatbuffer import Tensor
from executorch.exir._serialize.generated.executorch_flatbuffer.KernelTypes import KernelTypes
from executorch.exir._serialize.generated.executorch_flatbuffer.Program import Program
from executorch.exir.schema import ScalarType

from cortex_m.host.specs import NumberSpec, SignatureError, Spec, TensorSpec

_DTYPES = {
    ScalarType.BYTE: torch.uint8,
    ScalarType.CHAR: torch.int8,
    ScalarType.SHORT: torch.int16,
    ScalarType.INT: torch.int32,
    ScalarType.LONG: torch.int64,
    ScalarType.HALF: torch.float16,
    ScalarType.FLOAT: torch.float32,
    ScalarType.DOUBLE: torch.float64,
    ScalarType.BOOL: torch.bool,
}


@dataclass(frozen=True)
class Signature:
    """Of one method; arena_sizes are the planned bytes of its memories, the reserved memory 0 left out."""

    name: str
    inputs: tuple[Spec, ...]
    outputs: tuple[Spec, ...]
    arena_sizes: tuple[int, ...]


def read_signature(program: bytes, method: int = 0) -> Signature:
    """The signature of the program's method of that number. SignatureError if it has none, or the bytes are no program."""
    if program[4:8] != b"ET12":
        raise SignatureError("these bytes are no .pte: the file identifier is missing")
    _patch_generated_flatbuffer_aliases()  # the generated classes call each other by names that are modules before it
    try:
        root = Program.GetRootAs(program, 0)
        if not 0 <= method < root.ExecutionPlanLength():
            raise SignatureError(f"the program has no method {method}")
        plan = root.ExecutionPlan(method)
        sizes = [plan.NonConstBufferSizes(i) for i in range(1, plan.NonConstBufferSizesLength())]
        return Signature(
            plan.Name().decode(),
            tuple(_spec(plan.Values(plan.Inputs(i))) for i in range(plan.InputsLength())),
            tuple(_spec(plan.Values(plan.Outputs(i))) for i in range(plan.OutputsLength())),
            tuple(sizes),
        )
    except (struct.error, IndexError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise SignatureError(f"the program is damaged: {error}") from error


def _spec(value: Any) -> Spec:
    kind = value.ValType()
    if kind == KernelTypes.Tensor:
        tensor = Tensor.Tensor()
        tensor.Init(value.Val().Bytes, value.Val().Pos)
        rank = tensor.SizesLength()
        shape = tuple(tensor.Sizes(i) for i in range(rank))
        order = tuple(tensor.DimOrder(i) for i in range(rank))
        dtype = _DTYPES.get(ScalarType(tensor.ScalarType()))
        if dtype is None or sorted(order) != list(range(rank)) or math.prod(shape) < 0:
            raise SignatureError(
                f"a tensor of {shape}, dim order {order} and type {tensor.ScalarType()} is not supported"
            )
        return TensorSpec(shape, dtype, order)
    for name, number in ((KernelTypes.Int, int), (KernelTypes.Double, float), (KernelTypes.Bool, bool)):
        if kind == name:
            return NumberSpec(number)
    raise SignatureError("an input or output is neither a tensor nor a number")
