"""Indices that come as tensors: what is out of range is refused, wherever it stands, also where the call itself has written it.

A program in which a call writes over its own index is refused before it runs; here the kernels are called without that guard.
"""

import ctypes
from dataclasses import dataclass

import pytest
import torch

from cortex_m.portable.conformance import check, refuses
from cortex_m.portable.kernel_library import _Call, empty_out, overload

_SIZE = 4
_F = torch.arange(12, dtype=torch.float32).reshape(_SIZE, 3)
_WRONG = (_SIZE, _SIZE + 1, 1000, -_SIZE - 1, -1000, 2**31 - 1, -(2**31))
_WRONG_64 = (2**31, 2**33, 2**63 - 1, -(2**63), 2**32 + 1)
_SENTENCE = "an index is out of range"


def _column(index):
    return index.reshape(-1, 1)


# Of 4 rows: the arguments for a vector of indices, the sizes of the result for n of them, and whether negative ones count from the end.
_OPERATORS = {
    "aten::index_select.out": (lambda i: (_F, 0, i), lambda n: (n, 3), False),
    "aten::embedding.out": (lambda i: (_F, i), lambda n: (n, 3), False),
    "aten::gather.out": (lambda i: (_F, 0, _column(i)), lambda n: (n, 1), False),
    "aten::scatter.src_out": (lambda i: (_F, 0, _column(i), _F + 50), lambda n: (4, 3), False),
    "aten::scatter.value_out": (lambda i: (_F, 0, _column(i), 7.0), lambda n: (4, 3), False),
    "aten::scatter_add.out": (lambda i: (_F, 0, _column(i), _F + 50), lambda n: (4, 3), False),
    "aten::index.Tensor_out": (lambda i: (_F, [i]), lambda n: (n, 3), True),
    "aten::index_put.out": (lambda i: (_F, [i], torch.full((1, 3), 9.0)), lambda n: (4, 3), True),
    "aten::index_put_": (lambda i: (_F.clone(), [i], torch.full((1, 3), 9.0)), lambda n: (4, 3), True),
}


# torch's functional form of what is called, where it is not the overload without a name.
_FUNCTIONAL = {
    "aten::scatter.src_out": ".src",
    "aten::scatter.value_out": ".value",
    "aten::index.Tensor_out": ".Tensor",
}
_REFERENCES = {"aten::index_put_": torch.ops.aten.index_put.default}


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("name", _OPERATORS)
def test_each_index_is_checked(name, dtype):
    arguments, sizes, negative = _OPERATORS[name]
    outs = [] if name.endswith("_") else [empty_out(sizes(3), torch.float32)]
    wrong = _WRONG + (_WRONG_64 if dtype == torch.int64 else ()) + (() if negative else (-1, -_SIZE))
    for value in wrong:
        for place in range(3):
            index = torch.tensor([0, 1, 3], dtype=dtype)
            index[place] = value
            refuses(name, *arguments(index), outs=outs, match=_SENTENCE)


@pytest.mark.parametrize("name", _OPERATORS)
def test_the_ends_of_the_range_are_right(name):
    arguments, _, negative = _OPERATORS[name]
    indices = [[0, 3, 1], [3, 0, 2]] + ([[-4, -1, 2], [-1, -4, 1]] if negative else [])
    for index in indices:
        given = arguments(torch.tensor(index))
        check(name, _REFERENCES.get(name, overload(name.partition(".")[0] + _FUNCTIONAL.get(name, ""))), *given)


@dataclass(frozen=True)
class Raw:
    """A tensor of int64 in the one memory, from that element on."""

    at: int
    sizes: tuple[int, ...]


# Arguments in one memory of int64, what it holds, and where the result lies. Following the indices that the call itself writes, an
# element outside of the tensor, 6 or 1000, would be read or written.
_OVERWRITTEN = {
    "aten::scatter.src_out": ((Raw(0, (4,)), 0, Raw(4, (4,)), Raw(8, (4,))), [6] * 4 + [0] * 4 + [1] * 4, Raw(4, (4,))),
    "aten::scatter.value_out": ((Raw(0, (4,)), 0, Raw(4, (4,)), 1), [6] * 4 + [0] * 4, Raw(4, (4,))),
    "aten::scatter_add.out": ((Raw(0, (4,)), 0, Raw(4, (4,)), Raw(8, (4,))), [6] * 4 + [0] * 4 + [1] * 4, Raw(4, (4,))),
    "aten::gather.out": ((Raw(0, (4,)), 0, Raw(4, (2,))), [1000] * 4 + [0] * 3, Raw(5, (2,))),
    "aten::index_select.out": ((Raw(0, (4,)), 0, Raw(4, (2,))), [1000] * 4 + [0] * 3, Raw(5, (2,))),
    "aten::embedding.out": ((Raw(0, (4, 1)), Raw(4, (2,))), [1000] * 4 + [0] * 3, Raw(5, (2, 1))),
    "aten::index.Tensor_out": ((Raw(0, (4,)), [Raw(4, (2,))]), [1000] * 4 + [0] * 3, Raw(5, (2,))),
    "aten::index_put.out": ((Raw(0, (4,)), [Raw(4, (2,))], Raw(8, (1,)), False), [6] * 4 + [0] * 4 + [1], Raw(4, (4,))),
    "aten::index_put_": ((Raw(0, (4,)), [Raw(1, (2,))], Raw(4, (1,)), False), [0, 2, 0, 0, 6], None),
}


@pytest.mark.parametrize("name", _OVERWRITTEN)
def test_an_index_that_the_call_overwrites_is_checked_where_it_is_used(name):
    arguments, content, result = _OVERWRITTEN[name]
    guard = 16
    memory = (ctypes.c_int64 * (2 * guard + len(content)))(*[-77] * guard, *content, *[-77] * guard)
    call = _Call()

    def tensor(raw: Raw, constant: bool) -> None:
        address = ctypes.addressof(memory) + 8 * (guard + raw.at)
        call.add_raw_tensor(address, raw.sizes, range(len(raw.sizes)), 4, constant)

    given = list(arguments)
    schema = overload(name)._schema.arguments
    given += [False] * (sum(not argument.is_out for argument in schema) - len(given))
    if name == "aten::embedding.out":
        given = [*arguments, -1, False, False]
    try:
        for value, argument in zip(given, schema):
            writable = argument.alias_info is not None and argument.alias_info.is_write
            if isinstance(value, list):
                tensor(value[0], True)
                call.library.portable_make_list(call.handle, ctypes.c_size_t(1), ctypes.c_int(1))
            elif isinstance(value, Raw):
                tensor(value, not writable)
            else:
                call.add(value, str(argument.real_type))
        if result is not None:
            tensor(result, False)
        sentence = call.library.portable_run(call.handle, ctypes.c_char_p(name.encode())).decode()
    finally:
        call.close()
    assert sentence == _SENTENCE
    assert set(memory[:guard]) == set(memory[guard + len(content) :]) == {-77}


def test_a_mask_that_the_call_overwrites_writes_no_further():
    """Two true elements are counted, then the result makes all four true."""
    memory = (ctypes.c_uint8 * 32)(*[77] * 8, 1, 1, 1, 1, 1, 0, 0, 1, *[77] * 16)
    call = _Call()
    try:
        begin = ctypes.addressof(memory) + 8
        call.add_raw_tensor(begin, (4,), (0,), 11, True)  # self
        call.add_raw_tensor(begin + 4, (4,), (0,), 11, True)
        call.library.portable_make_list(call.handle, ctypes.c_size_t(1), ctypes.c_int(1))
        call.add_raw_tensor(begin + 5, (2,), (0,), 11, False)
        sentence = call.library.portable_run(call.handle, ctypes.c_char_p(b"aten::index.Tensor_out")).decode()
    finally:
        call.close()
    assert sentence == "the mask changed while it was read"
    assert set(memory[:8]) == set(memory[16:]) == {77}


@pytest.mark.parametrize("name", ["aten::index_put_", "aten::index_put.out"])
def test_a_kernel_that_writes_by_index_looks_at_all_of_them_first(name):
    content = [5] * 4 + [0, 4] + [1] + [8] * 4  # self, indices, values, out
    memory = (ctypes.c_int64 * len(content))(*content)
    call = _Call()

    def tensor(at: int, size: int, constant: bool) -> None:
        call.add_raw_tensor(ctypes.addressof(memory) + 8 * at, (size,), (0,), 4, constant)

    try:
        tensor(0, 4, not name.endswith("_"))
        tensor(4, 2, True)
        call.library.portable_make_list(call.handle, ctypes.c_size_t(1), ctypes.c_int(1))
        tensor(6, 1, True)
        call.add(False, "bool")
        if not name.endswith("_"):
            tensor(7, 4, False)
        assert call.library.portable_run(call.handle, ctypes.c_char_p(name.encode())).decode() == _SENTENCE
    finally:
        call.close()
    assert list(memory) == content
