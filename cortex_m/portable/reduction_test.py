"""Reductions, softmax, sorting: equal to PyTorch; to the bit for integers, within a few units in the last place for float sums."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_m.portable.conformance import DTYPES, INTEGERS, check, make, ulp
from cortex_m.portable.kernel_library import call, empty_out, same_bits, with_layout

aten = torch.ops.aten
INF, NAN = float("inf"), float("nan")
ALL = pytest.mark.parametrize("dtype", DTYPES, ids=str)
DIMS = [([1], False), ([0, 2], True), ([-1], True), (None, False), ([], False), ([0, 1, 2], False)]


def of_magnitudes(x, dims, count):
    """`count` units of 2^-24 of the sum of magnitudes: what a float sum may be off."""

    def allowed(want):
        total = x.double().abs().sum(dims or list(range(x.dim())), keepdim=True).max()
        return torch.full_like(want, float(total) * count * 2.0**-24, dtype=torch.float64)

    return allowed


@ALL
def test_sum_and_mean(dtype):
    x = make((3, 40, 5), dtype)
    for dims, keepdim in DIMS:
        tolerance = of_magnitudes(x, dims, 4)
        check("aten::sum.IntList_out", aten.sum.dim_IntList, x, dims, keepdim, tolerance=tolerance)
        check("aten::sum.IntList_out", aten.sum.dim_IntList, x, dims, keepdim, dtype=torch.float32, tolerance=tolerance)
        check("aten::mean.out", aten.mean.dim, x, dims, keepdim, dtype=torch.float32, tolerance=tolerance)
    check("aten::mean.dtype_out", aten.mean.default, x, dtype=torch.float32, tolerance=of_magnitudes(x, None, 4))
    check("aten::sum.IntList_out", aten.sum.dim_IntList, make((0, 3), dtype), [0], False)
    check("aten::sum.IntList_out", aten.sum.dim_IntList, make((), dtype), [0], False)
    check("aten::sum.IntList_out", aten.sum.dim_IntList, make((), dtype), None, True)
    if dtype != torch.float32:
        check("aten::sum.IntList_out", aten.sum.dim_IntList, x, [1], False, dtype=torch.int32)
    else:
        check("aten::mean.out", aten.mean.dim, make((0, 3)), [0], False)


def test_a_float_sum_is_nearly_exact():
    x = make((200000,), scale=1000.0) + 500
    exact = x.double().sum()
    got = call("aten::sum.IntList_out", x, None, outs=[empty_out((), torch.float32)])[0]
    assert abs(float(got) - float(exact)) <= 2 * 2.0**-24 * float(x.double().abs().sum())
    assert abs(float(got) - float(exact)) <= abs(float(exact)) * 2.0**-23


def test_sums_of_infinities():
    for values in [[INF, 1.0, 2.0], [INF, -INF], [1.0, NAN, 2.0], [3e38, 3e38, -3e38], [-INF, 3.0]]:
        check("aten::sum.IntList_out", aten.sum.dim_IntList, torch.tensor(values), None)


@ALL
def test_prod(dtype):
    x = make((3, 7, 5), dtype, scale=1.0)
    check("aten::prod.int_out", aten.prod.dim_int, x, 1, False, tolerance=ulp(8))
    check("aten::prod.int_out", aten.prod.dim_int, x, -1, True, tolerance=ulp(8))
    check("aten::prod.out", aten.prod.default, x, tolerance=ulp(60))


@ALL
def test_extremes(dtype):
    x = make((3, 9, 5), dtype)
    x[0, 3] = x[0, 6]  # some equal
    for dims, keepdim in DIMS:
        check("aten::amax.out", aten.amax, x, dims or [], keepdim)
        check("aten::amin.out", aten.amin, x, dims or [], keepdim)
    check("aten::max.unary_out", aten.max.default, x)
    check("aten::min.unary_out", aten.min.default, x)
    for dim, keepdim in [(0, False), (1, True), (-1, False)]:
        check("aten::max.dim_max", aten.max.dim, x, dim, keepdim)
        check("aten::min.dim_min", aten.min.dim, x, dim, keepdim)
        if dtype != torch.bool:
            check("aten::argmax.out", aten.argmax, x, dim, keepdim)
            check("aten::argmin.out", aten.argmin, x, dim, keepdim)
    if dtype != torch.bool:
        check("aten::argmax.out", aten.argmax, x, None, False)
        check("aten::argmin.out", aten.argmin, x, None, True)
    check("aten::max.dim_max", aten.max.dim, make((), dtype), 0)
    check("aten::amax.out", aten.amax, make((0, 3), dtype), [1], True)


def test_extremes_of_special_floats():
    x = torch.tensor([[1.0, NAN, 3.0, NAN], [INF, 2.0, INF, -INF], [-INF, -INF, -INF, -INF], [0.0, 1.0, 1.0, -5.0]])
    for name, function in [("amax.out", aten.amax), ("amin.out", aten.amin)]:
        check(f"aten::{name}", function, x, [1])
    check("aten::max.dim_max", aten.max.dim, x, 1)
    check("aten::min.dim_min", aten.min.dim, x, 1)
    check("aten::argmax.out", aten.argmax, x, 1)
    check("aten::argmin.out", aten.argmin, x, 1)


@ALL
def test_any_and_all(dtype):
    x = make((4, 3, 5), dtype, scale=1.0)
    x[0] = 0
    x[1, 1] = 0
    x[2] = 1
    for dim, keepdim in [(0, False), (1, True), (-1, False)]:
        check("aten::any.out", aten.any.dim, x, dim, keepdim)
        check("aten::all.out", aten.all.dim, x, dim, keepdim)
    for dims, keepdim in [([1], False), ([0, 2], True), (None, False)]:
        check("aten::any.dims_out", aten.any.dims, x, dims, keepdim)
        check("aten::all.dims_out", aten.all.dims, x, dims, keepdim)
    check("aten::any.all_out", aten.any.default, x)
    check("aten::all.all_out", aten.all.default, x)
    check("aten::all.all_out", aten.all.default, make((0,), dtype))
    check("aten::any.all_out", aten.any.default, make((0,), dtype))


def test_variance():
    for x in [make((3, 40, 5)), make((3, 40, 5)) + 100]:
        for dims, keepdim in DIMS:
            reference = lambda x, *args, **kwargs: aten.var.correction(x.double(), *args, **kwargs).float()
            check("aten::var.correction_out", reference, x, dims, correction=1, keepdim=keepdim, tolerance=ulp(16))
            check("aten::var.correction_out", reference, x, dims, correction=0, keepdim=keepdim, tolerance=ulp(16))
            check(
                "aten::var.out",
                lambda x, d, u, k: aten.var.dim(x.double(), d, u, k).float(),
                x,
                dims,
                True,
                keepdim,
                tolerance=ulp(16),
            )
            both = lambda x, *args, **kwargs: [r.float() for r in aten.var_mean.correction(x.double(), *args, **kwargs)]
            check(
                "aten::var_mean.correction_out",
                both,
                x,
                dims,
                correction=1,
                keepdim=keepdim,
                tolerance=ulp(16, 1e-6),
                layouts=False,
            )
    check("aten::var.out", aten.var.dim, make((3, 1)), [1], True, False)


@pytest.mark.parametrize("dtype", [torch.float32, *INTEGERS, torch.bool], ids=str)
def test_cumsum(dtype):
    for dim in [0, 1, -1]:
        check("aten::cumsum.out", aten.cumsum, make((3, 40, 5), dtype), dim)
    check("aten::cumsum.out", aten.cumsum, make((), dtype), 0)
    check("aten::cumsum.out", aten.cumsum, make((3, 4), dtype), 1, dtype=torch.float32)


@pytest.mark.parametrize("scale", [0.5, 3.0, 40.0])
def test_softmax(scale):
    x = make((3, 10, 4), scale=scale)
    for dim in [0, 1, -1]:
        check("aten::_softmax.out", aten._softmax, x, dim, False, tolerance=ulp(4, 1e-40))
        wide = lambda x, dim, half: aten._softmax(x.double(), dim, half).float()
        check(
            "aten::_softmax.out",
            wide,
            x,
            dim,
            False,
            tolerance=lambda want: want.double() * 2.0**-22 * max(1, scale) + 1e-45,
        )
        wide_log = lambda x, dim, half: aten._log_softmax(x.double(), dim, half).float()
        check("aten::_log_softmax.out", wide_log, x, dim, False, tolerance=ulp(2, 4e-7 * max(1, scale)))
    check(
        "aten::_softmax.out",
        aten._softmax,
        torch.tensor([[1.0, -INF, 2.0], [-INF, -INF, -INF], [NAN, 1.0, 2.0], [INF, 1.0, 2.0]]),
        1,
        False,
        tolerance=ulp(2),
    )
    check(
        "aten::_log_softmax.out",
        aten._log_softmax,
        torch.tensor([[1.0, -INF, 2.0], [INF, 1.0, 2.0]]),
        1,
        False,
        tolerance=ulp(2),
    )
    check("aten::_softmax.out", aten._softmax, make(()), 0, False)


@ALL
def test_sort(dtype):
    x = (
        make((3, 30, 4), dtype)
        if dtype == torch.float32
        else (make((3, 30, 4), dtype) % 7 if dtype != torch.bool else make((3, 30, 4), dtype))
    )
    for dim, descending in [(1, False), (1, True), (0, True), (-1, False)]:
        stable = lambda x, dim, descending: torch.sort(x, dim=dim, descending=descending, stable=True)
        check("aten::sort.values", stable, x, dim, descending)
        check(
            "aten::sort.values_stable",
            lambda x, stable, dim, descending: torch.sort(x, dim=dim, descending=descending, stable=True),
            x,
            stable=True,
            dim=dim,
            descending=descending,
        )
    check("aten::sort.values", torch.sort, make((), dtype), -1, False)
    check("aten::sort.values", lambda x, d, r: torch.sort(x, dim=d, descending=r), make((2, 0), dtype), -1, False)


@pytest.mark.parametrize("dtype", DTYPES[:-1], ids=str)
def test_topk(dtype):
    x = make((3, 30, 4), dtype) if dtype == torch.float32 else make((3, 30, 4), dtype) % 11
    for k, dim, largest in [(5, 1, True), (30, 1, False), (2, 0, True), (1, -1, False), (0, 1, True)]:

        def first_of_stable_sort(x, k, dim, largest):
            values, indices = torch.sort(x, dim=dim, descending=largest, stable=True)
            return values.narrow(dim, 0, k), indices.narrow(dim, 0, k)

        check("aten::topk.values", first_of_stable_sort, x, k, dim, largest)
        values = call(
            "aten::topk.values",
            x,
            k,
            dim,
            largest,
            outs=[empty_out(t.shape, t.dtype) for t in torch.topk(x, k, dim, largest)],
        )[0]
        assert same_bits(values, torch.topk(x, k, dim, largest).values.contiguous())


def test_order_of_nans():
    x = torch.tensor([3.0, NAN, -INF, INF, NAN, 0.0])
    for descending in [False, True]:
        check("aten::sort.values", lambda x, d, r: torch.sort(x, dim=d, descending=r, stable=True), x, -1, descending)
    check("aten::topk.values", torch.topk, x[:4], 2, -1, True)
    check("aten::topk.values", torch.topk, x[:4], 2, -1, False)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_reduction_of_any_layout(data):
    rank = data.draw(st.integers(0, 5))
    x = make(data.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank)), data.draw(st.sampled_from(INTEGERS)))
    x = with_layout(x, data.draw(st.permutations(range(rank))))
    dims = data.draw(st.lists(st.integers(0, max(rank - 1, 0)), unique=True, max_size=max(rank, 1)))
    keepdim = data.draw(st.booleans())
    for name, function in [("sum.IntList_out", aten.sum.dim_IntList), ("amax.out", aten.amax)]:
        expected = function(x, dims, keepdim)
        out = empty_out(expected.shape, expected.dtype, data.draw(st.permutations(range(expected.dim()))))
        assert torch.equal(call(f"aten::{name}", x, dims, keepdim, outs=[out])[0], expected)
