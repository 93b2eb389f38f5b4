"""Calls portable kernels, built for this machine, on torch tensors. For tests.

    out = call("aten::add.out", a, b, outs=[empty_out((2, 3), torch.int8)])[0]

Arguments are checked against torch's schema of the operator; those not given take its defaults. Tensors go in with the memory
layout they have, out tensors with the one asked for, and with guard bytes on both sides.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from collections.abc import Callable
from dataclasses import dataclass

import torch

_GUARD = 64
DTYPE_CODES = {
    torch.uint8: 0,
    torch.int8: 1,
    torch.int16: 2,
    torch.int32: 3,
    torch.int64: 4,
    torch.float16: 5,
    torch.float32: 6,
    torch.float64: 7,
    torch.bool: 11,
}
MEMORY_FORMAT_CODES = {torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2}


# Called after each call with (name, [(argument, schema type), ...], outs, out_list, results or None for a refusal).
recorder: Callable | None = None


class KernelError(Exception):
    """The kernel refused the call; the message is its sentence."""


@dataclass(frozen=True)
class Out:
    """An out tensor: logical sizes, element type, and dimensions from outermost to innermost in memory."""

    sizes: tuple[int, ...]
    dtype: torch.dtype
    dim_order: tuple[int, ...]
    constant: bool = False


def empty_out(sizes, dtype: torch.dtype, dim_order=None, constant: bool = False) -> Out:
    """An out tensor, contiguous unless `dim_order` says otherwise."""
    sizes = tuple(sizes)
    return Out(sizes, dtype, tuple(range(len(sizes)) if dim_order is None else dim_order), constant)


def out_like(tensor: torch.Tensor) -> Out:
    """An out tensor of that size, element type and layout."""
    return Out(tuple(tensor.shape), tensor.dtype, dim_order_of(tensor))


def dim_order_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """Dimensions by falling stride, as executorch's exporter orders them."""
    return tuple(sorted(range(tensor.dim()), key=lambda dim: -tensor.stride(dim)))


def with_layout(tensor: torch.Tensor, dim_order) -> torch.Tensor:
    """The same logical tensor, its dimensions in that order in memory."""
    order = list(dim_order)
    inverse = [order.index(dim) for dim in range(len(order))]
    return tensor.permute(order).contiguous().permute(inverse)


@functools.cache
def _library() -> ctypes.CDLL:
    path = os.environ.get("PORTABLE_LIBRARY") or str(pathlib.Path(__file__).with_name("libportable_host.so"))
    library = ctypes.CDLL(path)
    library.portable_new.restype = ctypes.c_void_p
    library.portable_run.restype = ctypes.c_char_p
    library.portable_name.restype = ctypes.c_char_p
    library.portable_count.restype = ctypes.c_size_t
    return library


def kernel_names() -> list[str]:
    """Of all kernels in the library."""
    library = _library()
    return [library.portable_name(ctypes.c_size_t(i)).decode() for i in range(library.portable_count())]


@functools.cache
def overload(name: str):
    """torch's own operator of that name ("aten::add.out")."""
    namespace, function = name.split("::")
    if namespace == "dim_order_ops":
        import executorch.exir.passes.dim_order_ops_registry  # noqa: F401  registers them
    packet, _, which = function.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), which or "default")


def bytes_of(tensor: torch.Tensor, order) -> bytes:
    flat = tensor.detach().permute(list(order)).contiguous().reshape(-1)
    return flat.numpy().tobytes()


class _Call:
    def __init__(self) -> None:
        self.library = _library()
        self.handle = ctypes.c_void_p(self.library.portable_new())
        self.inputs: list[tuple[ctypes.Array, bytes]] = []

    def close(self) -> None:
        self.library.portable_delete(self.handle)

    def add_raw_tensor(self, address: int, sizes, order, dtype: int, constant: bool) -> None:
        rank = len(sizes)
        self.library.portable_add_tensor(
            self.handle,
            ctypes.c_void_p(address),
            (ctypes.c_int32 * max(rank, 1))(*sizes),
            (ctypes.c_uint8 * max(rank, 1))(*order),
            ctypes.c_int(rank),
            ctypes.c_int(dtype),
            ctypes.c_int(constant),
        )

    def add_tensor(self, tensor: torch.Tensor) -> None:
        order = dim_order_of(tensor)
        raw = bytes_of(tensor, order)
        buffer = _aligned(raw)
        self.inputs.append((buffer, raw))
        self.add_raw_tensor(_address(buffer), tensor.shape, order, DTYPE_CODES[tensor.dtype], True)

    def add_writable(self, tensor: torch.Tensor) -> ctypes.Array:
        order = dim_order_of(tensor)
        buffer = _aligned(bytes_of(tensor, order))
        self.add_raw_tensor(_address(buffer), tensor.shape, order, DTYPE_CODES[tensor.dtype], False)
        return buffer

    def add(self, value, type_: str) -> None:
        handle, library = self.handle, self.library
        if value is None:
            library.portable_add_none(handle)
        elif isinstance(value, torch.Tensor):
            self.add_tensor(value)
        elif isinstance(value, torch.dtype):
            library.portable_add_int(handle, ctypes.c_int64(DTYPE_CODES[value]))
        elif isinstance(value, torch.memory_format):
            library.portable_add_int(handle, ctypes.c_int64(MEMORY_FORMAT_CODES[value]))
        elif isinstance(value, str):
            library.portable_add_string(handle, value.encode())
        elif isinstance(value, (list, tuple)):
            self.add_list(list(value), type_)
        elif isinstance(value, bool):
            library.portable_add_bool(handle, ctypes.c_int(value))
        elif isinstance(value, float) or "float" in type_:
            library.portable_add_double(handle, ctypes.c_double(value))
        else:
            library.portable_add_int(handle, ctypes.c_int64(value))

    def add_list(self, values: list, type_: str) -> None:
        if "Tensor" in type_:
            for value in values:
                self.add(value, "Tensor")
            self.library.portable_make_list(
                self.handle, ctypes.c_size_t(len(values)), ctypes.c_int("Optional" in type_)
            )
        elif "float" in type_:
            doubles = (ctypes.c_double * max(len(values), 1))(*values)
            self.library.portable_add_doubles(self.handle, doubles, ctypes.c_size_t(len(values)))
        else:
            ints = (ctypes.c_int64 * max(len(values), 1))(*values)
            self.library.portable_add_ints(self.handle, ints, ctypes.c_size_t(len(values)))


def _aligned(raw: bytes) -> ctypes.Array:
    """A buffer whose `_address` is a multiple of 16, as the runtime guarantees."""
    buffer = (ctypes.c_uint8 * (len(raw) + 2 * _GUARD + 16))(*([0xA5] * (len(raw) + 2 * _GUARD + 16)))
    begin = _address(buffer) - ctypes.addressof(buffer)
    ctypes.memmove(ctypes.addressof(buffer) + begin, raw, len(raw))
    return buffer


def _address(buffer: ctypes.Array) -> int:
    return (ctypes.addressof(buffer) + _GUARD + 15) // 16 * 16


def _read(buffer: ctypes.Array, out: Out) -> torch.Tensor:
    count = 1
    for size in out.sizes:
        count *= size
    size = torch.empty((), dtype=out.dtype).element_size() * count
    begin = _address(buffer) - ctypes.addressof(buffer)
    raw = bytes(buffer)
    guards = raw[:begin] + raw[begin + size :]
    assert set(guards) <= {0xA5}, "the kernel wrote outside of an out tensor"
    data = bytearray(raw[begin : begin + size])
    flat = torch.frombuffer(data, dtype=out.dtype) if size else torch.empty(0, dtype=out.dtype)
    order = list(out.dim_order)
    inverse = [order.index(dim) for dim in range(len(order))]
    return flat.reshape([out.sizes[dim] for dim in order]).permute(inverse)


def call(name: str, *args, outs: list[Out], out_list: bool = False, **kwargs) -> list[torch.Tensor]:
    """Runs a kernel.

    Args:
      name: as in a program, "aten::add.out".
      args, kwargs: as for torch's operator of that name, without the out tensors.
      outs: the out tensors, in schema order.
      out_list: the schema takes all of them as one list.
    Returns: what the kernel wrote to `outs`. For an operator in place (no outs), the first argument as it is afterwards.
    Raises:
      KernelError: the kernel refused.
      AssertionError: it wrote to an input, or outside of an out tensor.
    """
    schema = overload(name)._schema
    call_ = _Call()
    try:
        buffers: list[ctypes.Array] = []
        arguments: list = []
        for index, argument in enumerate(schema.arguments):
            if argument.is_out:
                continue
            if argument.alias_info is not None and argument.alias_info.is_write:
                buffers.append(call_.add_writable(args[index]))
                arguments.append((args[index], "Tensor(a!)"))
                outs = [out_like(args[index])]
                continue
            if index < len(args):
                value = args[index]
            elif argument.name in kwargs:
                value = kwargs[argument.name]
            else:
                assert argument.has_default_value(), f"{name}: {argument.name} is missing"
                value = argument.default_value
            arguments.append((value, str(argument.type)))
            call_.add(*arguments[-1])
        if not buffers:
            for out in outs:
                count = 1
                for size in out.sizes:
                    count *= size
                raw = b"\x5c" * (torch.empty((), dtype=out.dtype).element_size() * count)
                buffers.append(_aligned(raw))
                call_.add_raw_tensor(
                    _address(buffers[-1]), out.sizes, out.dim_order, DTYPE_CODES[out.dtype], out.constant
                )
            if out_list:
                call_.library.portable_make_list(call_.handle, ctypes.c_size_t(len(outs)), ctypes.c_int(0))
        message = call_.library.portable_run(call_.handle, name.encode())
        assert message is not None, f"no kernel {name}"
        for buffer, raw in call_.inputs:
            begin = _address(buffer) - ctypes.addressof(buffer)
            assert bytes(buffer)[begin : begin + len(raw)] == raw, "the kernel wrote to an input"
        results = None if message else [_read(buffer, out) for buffer, out in zip(buffers, outs, strict=True)]
        if recorder is not None:
            recorder(name, arguments, outs, out_list, results)
        if results is None:
            raise KernelError(message.decode())
        return results
    finally:
        call_.close()


def same_bits(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Equal element for element; -0.0 is not 0.0, and any NaN is any NaN."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return False
    if not actual.is_floating_point():
        return torch.equal(actual, expected)
    bits = {torch.float32: torch.int32, torch.float64: torch.int64, torch.float16: torch.int16}[actual.dtype]
    equal = actual.contiguous().view(bits) == expected.contiguous().view(bits)
    return bool((equal | (actual.isnan() & expected.isnan())).all())
