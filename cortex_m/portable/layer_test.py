"""Layers: products, convolution, pooling, normalization, resizing: within the error that a float32 sum may have, of PyTorch's
float64 kernels; to the bit where there is nothing to round."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_m.portable.conformance import INTEGERS, check, make, ulp
from cortex_m.portable.kernel_library import call, empty_out

aten = torch.ops.aten


def wide(function):
    """`function` in float64, its results rounded to float32."""

    def run(*args, **kwargs):
        widen = lambda value: (
            value.double() if isinstance(value, torch.Tensor) and value.dtype == torch.float32 else value
        )
        result = function(*[widen(arg) for arg in args], **{name: widen(value) for name, value in kwargs.items()})
        narrow = lambda value: value.float() if value.dtype == torch.float64 else value
        return narrow(result) if isinstance(result, torch.Tensor) else [narrow(value) for value in result]

    return run


def sum_error(function, *args, terms: int):
    """The rounding error that `terms` additions in any order may make: a multiple of the sum of magnitudes."""
    magnitudes = wide(function)(*[arg.abs() if isinstance(arg, torch.Tensor) else arg for arg in args]).double()
    return lambda want: magnitudes.reshape(want.shape) * (terms + 2) * 2.0**-24 + 1e-40


def test_products_of_floats():
    a, b = make((5, 60)), make((60, 7), seed=1)
    check("aten::mm.out", wide(aten.mm), a, b, tolerance=sum_error(aten.mm, a, b, terms=60))
    a, b = make((3, 5, 20)), make((3, 20, 4), seed=1)
    check("aten::bmm.out", wide(aten.bmm), a, b, tolerance=sum_error(aten.bmm, a, b, terms=20))
    a, b = make((5, 60)), make((60,), seed=1)
    check("aten::mv.out", wide(aten.mv), a, b, tolerance=sum_error(aten.mv, a, b, terms=60))
    check("aten::dot.out", wide(aten.dot), b, b.flip(0), tolerance=sum_error(aten.dot, b, b.flip(0), terms=60))
    for bias in [make((4,)), make((1, 4)), make((3, 4)), make((3, 1)), make(())]:
        a, b = make((3, 20)), make((20, 4), seed=1)
        for beta, alpha in [(1, 1), (0.5, -2), (0, 1), (1, 0.25)]:
            magnitude = bias.abs().double() * abs(beta) + abs(alpha) * (a.abs().double() @ b.abs().double())
            check(
                "aten::addmm.out",
                wide(aten.addmm),
                bias,
                a,
                b,
                beta=beta,
                alpha=alpha,
                tolerance=lambda want, magnitude=magnitude: magnitude * 24 * 2.0**-24,
            )
    check(
        "aten::addmm.out",
        aten.addmm,
        torch.full((4,), float("nan")),
        a,
        b,
        beta=0,
        tolerance=lambda want: (a.abs().double() @ b.abs().double()) * 2.0**-19,
    )
    for sizes in [(20,), (3, 20), (2, 3, 20), (0, 20)]:
        x, weight, bias = make(sizes), make((6, 20), seed=1), make((6,), seed=2)
        tolerance = sum_error(aten.linear, x, weight, bias, terms=21)
        check("aten::linear.out", wide(aten.linear), x, weight, bias, tolerance=tolerance)
        check("aten::linear.out", wide(aten.linear), x, weight, None, tolerance=tolerance)
    check("aten::mm.out", aten.mm, make((3, 0)), make((0, 2)))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_products_of_integers(dtype):
    a, b = make((5, 40), dtype), make((40, 7), dtype, seed=1)
    check("aten::mm.out", aten.mm, a, b)
    check("aten::bmm.out", aten.bmm, make((2, 3, 4), dtype), make((2, 4, 5), dtype))
    check("aten::mv.out", aten.mv, a, make((40,), dtype))
    check("aten::dot.out", aten.dot, make((40,), dtype), make((40,), dtype, seed=3))
    check("aten::addmm.out", aten.addmm, make((7,), dtype), a, b, beta=2, alpha=3)


CONVOLUTIONS = [
    # input, weight, stride, padding, dilation, transposed, output_padding, groups
    ((2, 3, 9, 8), (4, 3, 3, 3), [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ((1, 4, 9, 8), (6, 2, 3, 2), [2, 1], [1, 2], [2, 3], False, [0, 0], 2),
    ((1, 4, 5, 5), (8, 1, 3, 3), [1, 1], [1, 1], [1, 1], False, [0, 0], 4),
    ((2, 3, 11), (4, 3, 5), [2], [2], [1], False, [0], 1),
    ((2, 6, 11), (6, 1, 3), [1], [2], [2], False, [0], 6),
    ((1, 3, 4, 5), (3, 4, 3, 3), [2, 2], [1, 1], [1, 1], True, [1, 1], 1),
    ((2, 4, 4, 5), (4, 3, 3, 2), [3, 1], [1, 0], [1, 2], True, [2, 0], 2),
    ((1, 4, 7), (4, 2, 4), [2], [1], [1], True, [0], 1),
    ((1, 4, 6, 6), (4, 1, 3, 3), [1, 2], [2, 1], [2, 1], True, [0, 1], 4),
    ((1, 2, 3, 3), (2, 2, 3, 3), [1, 1], [5, 5], [1, 1], False, [0, 0], 1),
    ((0, 2, 3, 3), (2, 2, 3, 3), [1, 1], [1, 1], [1, 1], False, [0, 0], 1),
]  # fmt: skip


@pytest.mark.parametrize(
    "case", CONVOLUTIONS, ids=lambda case: f"{case[0]}-{case[1]}-{'transposed' if case[5] else 'plain'}"
)
def test_convolution(case):
    in_sizes, weight_sizes, *rest = case
    x, weight = make(in_sizes), make(weight_sizes, seed=1)
    out_channels = weight_sizes[1] * rest[5] if rest[3] else weight_sizes[0]
    terms = weight[0].numel() if not rest[3] else weight.numel() // weight.shape[1]
    for bias in [None, make((out_channels,), seed=2)]:
        tolerance = sum_error(aten.convolution, x, weight, bias, *rest, terms=terms + 1)
        check("aten::convolution.out", wide(aten.convolution), x, weight, bias, *rest, tolerance=tolerance)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_any_convolution(data):
    integer = lambda low, high: data.draw(st.integers(low, high))
    transposed = data.draw(st.booleans())
    groups, per_in, per_out = integer(1, 3), integer(1, 3), integer(1, 3)
    kernel, stride, dilation = [[integer(1, 3), integer(1, 3)] for _ in range(3)]
    padding = [integer(0, 2), integer(0, 2)]
    extra = [integer(0, max(s, d) - 1) if transposed else 0 for s, d in zip(stride, dilation)]
    size = [integer(d * (k - 1) + 1, d * (k - 1) + 5) for k, d in zip(kernel, dilation)]
    weight_sizes = (groups * per_in, per_out) if transposed else (groups * per_out, per_in)
    x, weight = make((integer(1, 2), groups * per_in, *size)), make((*weight_sizes, *kernel), seed=1)
    rest = (stride, padding, dilation, transposed, extra, groups)
    if transposed and any(
        (s - 1) * st_ - 2 * p + d * (k - 1) + e + 1 <= 0
        for s, st_, p, d, k, e in zip(size, stride, padding, dilation, kernel, extra)
    ):
        return
    tolerance = sum_error(aten.convolution, x, weight, None, *rest, terms=per_in * 9)
    check("aten::convolution.out", wide(aten.convolution), x, weight, None, *rest, layouts=False, tolerance=tolerance)


POOLS = [
    ([3, 3], [2, 2], [1, 1], False),
    ([2, 3], [], [0, 1], True),
    ([3], [1], [1], False),
    ([3, 2], [2, 3], [1, 1], True),
    ([2, 2], [2, 2], [0, 0], True),
]


@pytest.mark.parametrize(("kernel", "stride", "padding", "ceil_mode"), POOLS)
def test_average_pools(kernel, stride, padding, ceil_mode):
    for sizes in [(2, 3, 9, 8), (3, 7, 7), (1, 1, 4, 5)]:
        x = make(sizes)
        for include, divisor in itertools.product([True, False], [None, 5]):
            check("aten::avg_pool2d.out", aten.avg_pool2d, x, kernel, stride, padding, ceil_mode, include, divisor)
    if len(kernel) == 1:
        for include in [True, False]:
            check(
                "aten::avg_pool1d.out",
                aten.avg_pool1d,
                make((2, 3, 11)),
                kernel,
                stride,
                padding,
                True,
                include,
                tolerance=ulp(4, 1e-6),
            )


@pytest.mark.parametrize("dtype", [torch.float32, *INTEGERS], ids=str)
@pytest.mark.parametrize(("kernel", "stride", "padding", "ceil_mode"), POOLS)
def test_max_pool(kernel, stride, padding, ceil_mode, dtype):
    def reference(x, *args):
        # In float64, which holds all of them: PyTorch has no kernel for every integer type.
        values, indices = aten.max_pool2d_with_indices(x.double(), *args)
        return values.to(x.dtype), indices

    for sizes in [(2, 3, 9, 8), (3, 7, 7)]:
        x = make(sizes, torch.int8).to(dtype)
        for dilation in [[1, 1], [2, 1], [2]]:
            check("aten::max_pool2d_with_indices.out", reference, x, kernel, stride, padding, dilation, ceil_mode)


def test_max_pool_of_special_floats():
    nan, inf = float("nan"), float("inf")
    x = torch.tensor(
        [[nan, 1.0, nan, -inf], [2.0, 3.0, -inf, -inf], [inf, 0.0, -inf, -inf], [1.0, 1.0, -inf, -inf]]
    ).reshape(1, 1, 4, 4)
    check("aten::max_pool2d_with_indices.out", aten.max_pool2d_with_indices, x, [2, 2], [1, 1])


def test_adaptive_average_pool():
    for sizes, output in [((2, 3, 7, 8), [1, 1]), ((2, 3, 7, 8), [3, 5]), ((3, 4, 4), [4, 2]), ((1, 2, 2, 3), [5, 7])]:
        check("aten::_adaptive_avg_pool2d.out", aten._adaptive_avg_pool2d, make(sizes), output, tolerance=ulp(3, 2e-6))


def test_layer_norm():
    for sizes, shape in [((3, 4, 5), [5]), ((3, 4, 5), [4, 5]), ((40,), [40]), ((2, 3, 70), [70]), ((0, 5), [5])]:
        weight, bias = make(shape, seed=1), make(shape, seed=2)
        for x in [make(sizes), make(sizes) + 30]:
            for w, b in [(weight, bias), (None, None), (weight, None), (None, bias)]:
                check(
                    "aten::native_layer_norm.out",
                    wide(aten.native_layer_norm),
                    x,
                    shape,
                    w,
                    b,
                    1e-5,
                    tolerance=ulp(8, 3e-5 if x.numel() and x.mean() > 10 else 4e-6),
                )


def test_group_norm():
    for sizes, group in [((2, 6, 4, 5), 3), ((2, 6, 4, 5), 1), ((1, 6), 2), ((2, 4, 9), 4)]:
        n, c = sizes[:2]
        x = make(sizes)
        for w, b in [(make((c,), seed=1), make((c,), seed=2)), (None, None)]:
            check(
                "aten::native_group_norm.out",
                wide(aten.native_group_norm),
                x,
                w,
                b,
                n,
                c,
                x.numel() // n // c,
                group,
                1e-5,
                tolerance=ulp(8, 4e-6),
            )


def test_batch_norm():
    for sizes in [(2, 5, 4, 3), (2, 5), (2, 5, 7)]:
        x, mean, var = make(sizes), make((5,), seed=1), make((5,), seed=2).abs() + 0.1
        for w, b in [(make((5,), seed=3), make((5,), seed=4)), (None, None)]:
            expected = wide(aten._native_batch_norm_legit_no_training)
            check(
                "aten::_native_batch_norm_legit_no_training.out",
                lambda *args, expected=expected: [*expected(*args)[:1], torch.empty(0), torch.empty(0)],
                x,
                w,
                b,
                mean,
                var,
                0.1,
                1e-3,
                tolerance=ulp(8, 2e-5),
            )


def test_bilinear():
    x = make((2, 3, 5, 7))
    for align in [True, False]:
        for size in [[10, 14], [7, 7], [3, 20], [1, 1], [5, 7]]:
            check(
                "aten::upsample_bilinear2d.vec_out",
                aten.upsample_bilinear2d.vec,
                x,
                size,
                align,
                None,
                tolerance=lambda want: torch.tensor(2e-5),
            )
        for scales in [[2.0, 2.0], [1.5, 0.7], [3.3, 1.0]]:
            check(
                "aten::upsample_bilinear2d.vec_out",
                aten.upsample_bilinear2d.vec,
                x,
                None,
                align,
                scales,
                tolerance=lambda want: torch.tensor(2e-5),
            )


def test_glu():
    for dim in [0, 1, -1]:
        check("aten::glu.out", wide(aten.glu), make((4, 6, 8)), dim)


def test_a_product_takes_its_terms_in_order():
    """(1e8 + 1) - 1e8 is 0 in float32, but 1 + (1e8 - 1e8) is 1: the order is part of the result."""
    ones = torch.ones((3, 1))
    for row, expected in [([1e8, 1.0, -1e8], 0.0), ([1.0, 1e8, -1e8], 0.0), ([1e8, -1e8, 1.0], 1.0)]:
        got = call("aten::mm.out", torch.tensor([row]), ones, outs=[empty_out((1, 1), torch.float32)])[0]
        assert got.item() == expected
