"""What a method's inputs and outputs are: shapes, dtypes and memory order."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import torch

from cortex_m.host.tensor_bytes import tensor_to_bytes


class SignatureError(ValueError):
    """The bytes are no program with that method, or a value differs from what the method takes."""


@dataclass(frozen=True)
class TensorSpec:
    """dim_order: dimensions from outermost to innermost in memory."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    dim_order: tuple[int, ...]

    def empty(self) -> torch.Tensor:
        """A tensor of uninitialised elements that lie in memory as the program wants them."""
        sizes = [self.shape[dim] for dim in self.dim_order]
        inverse = [self.dim_order.index(dim) for dim in range(len(sizes))]
        return torch.empty(sizes, dtype=self.dtype).permute(inverse)

    def to_bytes(self, tensor: torch.Tensor) -> bytes:
        """The elements in the program's memory order. SignatureError for another shape or dtype."""
        if tuple(tensor.shape) != self.shape or tensor.dtype != self.dtype:
            raise SignatureError(
                f"the program takes {self.dtype} {self.shape}, not {tensor.dtype} {tuple(tensor.shape)}"
            )
        return tensor_to_bytes(self.empty().copy_(tensor.detach()))

    def from_bytes(self, data: bytes) -> torch.Tensor:
        """The tensor whose elements in memory order are `data`. SignatureError for another number of bytes."""
        tensor = self.empty()
        if len(data) != tensor.numel() * tensor.element_size():
            raise SignatureError(f"{len(data)} bytes are not those of {self.dtype} {self.shape}")
        if data:
            flat = torch.frombuffer(bytearray(data), dtype=self.dtype)
            tensor = flat.as_strided(tensor.shape, tensor.stride())
        return tensor


@dataclass(frozen=True)
class NumberSpec:
    """A Python number: int, float or bool. Eight bytes, or one for a bool."""

    kind: type

    @property
    def dtype(self) -> torch.dtype:
        """Of a tensor whose elements lie in memory as such numbers do."""
        return {int: torch.int64, float: torch.float64, bool: torch.bool}[self.kind]

    @property
    def _format(self) -> str:
        return {int: "<q", float: "<d", bool: "<?"}[self.kind]

    def to_bytes(self, value: Any) -> bytes:
        return struct.pack(self._format, self.kind(value))

    def from_bytes(self, data: bytes) -> Any:
        if len(data) != struct.calcsize(self._format):
            raise SignatureError(f"{len(data)} bytes are not those of a {self.kind.__name__}")
        return struct.unpack(self._format, data)[0]


Spec = TensorSpec | NumberSpec
