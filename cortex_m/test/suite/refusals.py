"""Calls with one bad argument, derived from the schema of each operator.

One example of each operator is changed in one place at a time: another dtype, rank, size or memory order of each tensor, a value
out of range of each number, a list of another length, a scratch that is one byte short. The device must refuse it with
a reason of its own. Where a change may leave a valid call (a larger input to a convolution with a stride), the device may
also run it, and must then give what the reference gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch

from cortex_m.target_config import Backend
from cortex_m.test.suite.case import Case, Scratch, dim_order, named_arguments, reference, schema_of, with_order
from cortex_m.test.suite.program import Out, bytes_in_order
from cortex_m.test.suite.registry import all_cases

_INT32 = (-(2**31), 2**31)
# Values beyond what a number of this name may have, by the end of its name; the first that fits counts.
_OUT_OF_RANGE: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("output_offset", (-129, 128)),
    ("offset", (-128, 129)),
    ("input_shift", (-1, 31)),
    ("shift", (-32, 31)),
    ("input_multiplier", (-1, 2**31)),
    ("multiplier", _INT32),
    ("activation_min", (-129, 128)),
    ("activation_max", (-129, 128)),
    ("pad_value", (-129, 128)),
    ("zero_point", (-40000, 40000)),
    ("quant_min", (-40000, 40000)),
    ("quant_max", (-40000, 40000)),
    ("packing", (-1, 0, 99)),
    ("output_channels", (-4, 0)),
    ("dim", (-5, 5)),
    ("diff_min", (1, -(2**31) - 1)),
)
# Numbers that describe the call to tools and change no result.
_DESCRIPTIVE = {
    ("softmax", "input_zero_point"),
    *((op, name) for op in ("quantized_avg_pool2d", "quantized_avg_pool2d_nhwc") for name in ("multiplier", "shift")),
}
_LIST_OUT_OF_RANGE = {
    "stride": (0, -1, 2**15, 2**32 + 1),
    "padding": (-1, 2**15, 2**32),
    "dilation": (0, -1, 2**15, 2**32 + 1),
    "kernel_size": (0, -1, 2**15, 2**32 + 2),
    "output_padding": (-1, 2**15, 2**32),
    "pre_pad": (-1, 2**32),
    "post_pad": (-1, 2**32),
    "perm": (-1, 4, 2**32),
    "requantize_multipliers": _INT32,
    "requantize_shifts": (-32, 31),
}
# Runs without scratch too, by a kernel that is slower.
_NEEDS_NO_SCRATCH = ("quantized_conv2d", "quantized_conv2d_nhwc")
# Neither subnormal nor infinite as float32; a scale's inverse must not be subnormal either.
_SCALES = (0.0, -0.5, math.nan, math.inf, 2.0**-127)
_TOO_LARGE = {"scale": 2.0**127, "output_scale": 2.0**128}


@dataclass(frozen=True)
class Refusal:
    """A changed call.

    out: how the out tensor is declared.
    expected: bytes of the out tensor if the device may run it, else None: it must refuse.
    backends: instruction sets that this change is one for.
    """

    case: Case
    out: Out
    expected: bytes | None
    backends: tuple[Backend, ...] = tuple(Backend)


def out_of(result: torch.Tensor, order: tuple[int, ...] | None = None) -> Out:
    return Out(tuple(result.shape), result.dtype, order or dim_order(result))


def _base(op: str) -> Case:
    """The example with the most tensors, lists and numbers given, and sizes that are not 1."""

    def score(case: Case) -> tuple[int, int]:
        tensors = [value for value in case.arguments if isinstance(value, torch.Tensor)]
        above_one = sum(size > 1 for tensor in tensors for size in tensor.shape)
        return sum(value is not None for value in case.arguments), min(above_one, 12)

    examples = [case for case in all_cases() if case.op == op and case.kind == "example" and not case.orders]
    return max(examples, key=score)


def _resized(tensor: torch.Tensor, shape: list[int]) -> torch.Tensor:
    """Another shape in the same memory order, with some of the elements."""
    out = torch.zeros(shape, dtype=tensor.dtype)
    common = tuple(slice(0, min(a, b)) for a, b in zip(tensor.shape, shape))
    out[common] = tensor[common]
    return with_order(out, dim_order(tensor))


def _tensor_changes(tensor: torch.Tensor) -> Iterator[tuple[str, torch.Tensor, bool]]:
    """(what, tensor, whether it must be refused)."""
    for dtype in (torch.uint8, torch.int16, torch.int32, torch.float32):
        if dtype != tensor.dtype:
            yield f"of {dtype}", with_order(tensor.to(dtype), dim_order(tensor)), True
    yield "of one more dimension", tensor.unsqueeze(0), False
    for dim in range(tensor.dim()):
        for size in (tensor.shape[dim] + 1, tensor.shape[dim] - 1):
            shape = [*tensor.shape]
            shape[dim] = size
            yield f"of size {size} in dimension {dim}", _resized(tensor, shape), False
    if tensor.dim() > 1 and min(tensor.shape) > 1:
        order = tuple(reversed(dim_order(tensor)))
        yield f"in dim order {order}", with_order(tensor, order), False


def _number_changes(op: str, name: str, value: Any) -> Iterator[int]:
    if (op, name) in _DESCRIPTIVE:
        return
    for end, values in _OUT_OF_RANGE:
        if name.endswith(end):
            yield from values
            break
    yield from (2**32 + int(value), -(2**63))


def _list_changes(name: str, value: list[int]) -> Iterator[list[int]]:
    yield []
    yield [*value, 1, 1, 1]
    for position in range(len(value)):
        for number in _LIST_OUT_OF_RANGE.get(name, (2**32,)):
            yield [*value[:position], number, *value[position + 1 :]]


def _changes(case: Case) -> Iterator[tuple[Case, bool]]:
    """Changed cases, and whether they must be refused."""
    arguments = named_arguments(case)
    schema = {argument.name: argument for argument in schema_of(case.op).arguments}

    def changed(name: str, what: str, value: Any) -> Case:
        values = {**arguments, name: value}
        return replace(case, name=f"{name} {what}", arguments=tuple(values.values()))

    for name, value in arguments.items():
        type_ = str(schema[name].real_type)
        if isinstance(value, torch.Tensor):
            for what, tensor, always in _tensor_changes(value):
                yield changed(name, what, tensor), always
        elif isinstance(value, (list, tuple)):
            for numbers in _list_changes(name, list(value)):
                yield changed(name, f"{numbers}", numbers), True
        elif isinstance(value, torch.dtype):
            for dtype in (torch.int8, torch.int16, torch.int32, torch.uint8, torch.float32):
                if dtype != value:
                    yield changed(name, f"{dtype}", dtype), True
        elif type_ == "float":
            for scale in (*_SCALES, _TOO_LARGE[name]):
                yield changed(name, f"{scale}", scale), True
        elif type_ == "int":
            for number in _number_changes(case.op, name, value):
                yield changed(name, f"{number}", number), True
        if "Optional" not in type_ and value is not None and not isinstance(value, Scratch):
            yield changed(name, "missing", None), True
    if "activation_min" in arguments:
        values = {**arguments, "activation_min": 5, "activation_max": 4}
        yield replace(case, name="activation range reversed", arguments=tuple(values.values())), True


def _one_less(size: Callable[[Backend], int]) -> Callable[[Backend], int]:
    return lambda backend: size(backend) - 1


def _scratch_changes(case: Case) -> Iterator[tuple[Case, tuple[Backend, ...]]]:
    arguments = named_arguments(case)
    for name, value in arguments.items():
        if isinstance(value, Scratch):
            backends = tuple(backend for backend in Backend if value.size(backend) > 0)
            shorter = Scratch(_one_less(value.size))
            values = {**arguments, name: shorter}
            if backends:
                yield replace(case, name=f"{name} one byte short", arguments=tuple(values.values())), backends


def _out_changes(out: Out) -> Iterator[tuple[str, Out]]:
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.float32):
        if dtype != out.dtype:
            yield f"of {dtype}", replace(out, dtype=dtype)
    rank = len(out.shape)
    yield "of one more dimension", Out((*out.shape, 1), out.dtype, (*out.order, rank))
    for dim in range(rank):
        for step in (1, -1):
            shape = (*out.shape[:dim], out.shape[dim] + step, *out.shape[dim + 1 :])
            yield f"of size {shape[dim]} in dimension {dim}", replace(out, shape=shape)


def _verdict(case: Case, out: Out) -> bytes | None:
    """Bytes of the out tensor if the reference takes the call and gives what `out` declares."""
    try:
        result = reference(case)
    except Exception:  # noqa: BLE001 (whatever the reference says: it is no valid call)
        return None
    if tuple(result.shape) != out.shape or result.dtype != out.dtype:
        return None
    return bytes_in_order(result, out.order)


@lru_cache(maxsize=1)
def all_refusals() -> tuple[Refusal, ...]:
    found: list[Refusal] = []
    for op in sorted({case.op for case in all_cases()}):
        base = _base(op)
        out = out_of(reference(base))
        for case, always in _changes(base):
            found.append(Refusal(case, out, None if always else _verdict(case, out)))
        for case, backends in _scratch_changes(base):
            expected = _verdict(case, out) if op in _NEEDS_NO_SCRATCH else None
            found.append(Refusal(case, out, expected, backends))
        for what, changed in _out_changes(out):
            found.append(Refusal(replace(base, name=f"out {what}"), changed, None))
        if len(out.shape) > 1 and min(out.shape) > 1:
            order = tuple(reversed(out.order))
            declared = replace(out, order=order)
            case = replace(base, name=f"out in dim order {order}")
            found.append(Refusal(case, declared, _verdict(base, declared)))
    return tuple(found)
