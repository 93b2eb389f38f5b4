"""Calls of kernels as a file for `replay.cc`, which makes them again on a core."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Self

import torch

from cortex_m.portable import kernel_library
from cortex_m.portable.kernel_library import DTYPE_CODES, MEMORY_FORMAT_CODES, Out

# cortex_m/runtime/kernel.h
_NONE, _INT, _BOOL, _DOUBLE, _TENSOR, _STRING, _INTS, _DOUBLES, _TENSORS, _OPTIONAL_TENSORS = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    8,
    9,
    10,
)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 16)


def _words(*values: int) -> bytes:
    return _padded(struct.pack(f"<{len(values)}I", *values))


def _tensor(tensor: torch.Tensor, order, expected: torch.Tensor | None = None, constant: bool = True) -> bytes:
    data = _words(tensor.dim(), DTYPE_CODES[tensor.dtype], 0 if constant else 1)
    data += _padded(struct.pack(f"<{tensor.dim()}i", *tensor.shape)) + _padded(bytes(order))
    data += _padded(kernel_library.bytes_of(tensor, order))
    if not constant:
        data += _padded(kernel_library.bytes_of(tensor if expected is None else expected, order))
    return data


def _list(items: list, tag: int) -> bytes:
    data = _words(tag, len(items))
    for item in items:
        data += _words(0) if item is None else _words(1) + _tensor(item, kernel_library.dim_order_of(item))
    return data


def _argument(value, type_: str) -> bytes:
    if value is None:
        return _words(_NONE, 0)
    if isinstance(value, torch.Tensor):
        return _words(_TENSOR, 0) + _tensor(value, kernel_library.dim_order_of(value))
    if isinstance(value, (torch.dtype, torch.memory_format)):
        value = {**DTYPE_CODES, **MEMORY_FORMAT_CODES}[value]
    if isinstance(value, str):
        return _words(_STRING, len(value)) + _padded(value.encode())
    if isinstance(value, (list, tuple)):
        if "Tensor" in type_:
            return _list(list(value), _OPTIONAL_TENSORS if "Optional" in type_ else _TENSORS)
        if "float" in type_:
            return _words(_DOUBLES, len(value)) + _padded(struct.pack(f"<{len(value)}d", *value))
        return _words(_INTS, len(value)) + _padded(struct.pack(f"<{len(value)}q", *value))
    if isinstance(value, bool):
        return _words(_BOOL, 0) + _padded(struct.pack("<q", value))
    if isinstance(value, float) or "float" in type_:
        return _words(_DOUBLE, 0) + _padded(struct.pack("<d", value))
    return _words(_INT, 0) + _padded(struct.pack("<q", value))


class Recorder:
    """Keeps calls of at most `max_bytes`, once each: of each kernel the first `limit` of every group.

        with Recorder(limit=20) as recorder:
            test_view(torch.int8)
            recorder.start_of_group()
            test_view(torch.float32)
        path.write_bytes(recorder.data)

    counts: how many calls of each kernel were kept.
    """

    def __init__(self, limit: int, max_bytes: int = 1 << 16) -> None:
        self.limit = limit
        self.max_bytes = max_bytes
        self.counts: Counter[str] = Counter()
        self._in_group: Counter[str] = Counter()
        self._calls: dict[bytes, None] = {}

    def start_of_group(self) -> None:
        self._in_group.clear()

    @property
    def data(self) -> bytes:
        return b"".join(self._calls)

    def __enter__(self) -> Self:
        kernel_library.recorder = self._record
        return self

    def __exit__(self, *_) -> None:
        kernel_library.recorder = None

    def _record(self, name: str, arguments: list, outs: list[Out], out_list: bool, results) -> None:
        if self._in_group[name] >= self.limit:
            return
        content = b""
        count = len(arguments)
        pending = list(zip(outs, results or [torch.zeros(out.sizes, dtype=out.dtype) for out in outs], strict=True))
        for value, type_ in arguments:
            if type_ == "Tensor(a!)":
                out, result = pending.pop()
                content += _words(_TENSOR, 0) + _tensor(value, out.dim_order, result, constant=False)
            else:
                content += _argument(value, type_)
        tensors = [
            _tensor(torch.zeros(out.sizes, dtype=out.dtype), out.dim_order, result, out.constant)
            for out, result in pending
        ]
        if out_list:
            content += _words(_TENSORS, len(tensors)) + b"".join(_words(1) + tensor for tensor in tensors)
            count += 1
        else:
            content += b"".join(_words(_TENSOR, 0) + tensor for tensor in tensors)
            count += len(tensors)
        encoded = name.encode() + b"\0"
        size = 16 + len(_padded(encoded)) + len(content)
        record = _words(size, len(encoded), count, 1 if results is None else 0) + _padded(encoded) + content
        if size <= self.max_bytes and record not in self._calls:
            self._calls[record] = None
            self.counts[name] += 1
            self._in_group[name] += 1
