"""Data movement: equal to PyTorch, element for element, for every element type and layout."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_m.portable.conformance import DTYPES, check, make, orders
from cortex_m.portable.kernel_library import call, empty_out, same_bits, with_layout

aten = torch.ops.aten
ALL = pytest.mark.parametrize("dtype", DTYPES, ids=str)


@ALL
@pytest.mark.parametrize("name", ["clone", "alias_copy", "detach_copy", "lift_fresh_copy"])
def test_copies(name, dtype):
    for sizes in [(), (0, 3), (5,), (2, 3, 4), (2, 5, 1, 3, 2)]:
        check(f"aten::{name}.out", lambda x: x.clone(), make(sizes, dtype))


@ALL
@pytest.mark.parametrize("to", DTYPES, ids=str)
def test_conversion(dtype, to):
    x = make((2, 3, 40), dtype, scale=20.0)
    if dtype == torch.float32:  # PyTorch leaves what is outside of the integer's range to the processor
        x = x.abs().clamp(max=120)
    check("aten::_to_copy.out", lambda x: x.to(to), x)
    check("dim_order_ops::_to_dim_order_copy.out", lambda x: x.to(to), x)
    check("aten::copy.out", lambda a, b: aten.copy(a, b), make((2, 3, 40), to), x)
    check(
        "aten::copy.out",
        lambda a, b: aten.copy(a, b),
        make((2, 2, 3, 40), to),
        make((3, 1), dtype).abs() if dtype == torch.float32 else make((3, 1), dtype),
    )


def test_conversion_of_special_floats():
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.0, -0.0, nan, inf, -inf, 1e-40, 3e38, -3e38, 2147483648.0, -129.9])
    to_bool = call("aten::_to_copy.out", x, outs=[empty_out((10,), torch.bool)])[0]
    assert to_bool.tolist() == x.bool().tolist()
    to_int = call("aten::_to_copy.out", x, outs=[empty_out((10,), torch.int64)])[0]
    top = 2**63 - 1
    assert to_int.tolist() == [0, 0, 0, top, -top - 1, 0, top, -top - 1, 2147483648, -129]


def test_copy_in_place():
    x = make((2, 3), torch.int8, order=(1, 0))
    source = make((3,), torch.float32).clamp(-100, 100)
    assert same_bits(call("aten::copy_", x, source, outs=[])[0], aten.copy_(x.clone(), source).contiguous())


def test_clone_to_a_dim_order():
    x = make((2, 3, 4, 5), torch.int8)
    for order in [(0, 2, 3, 1), (0, 1, 2, 3), (0, 3, 1, 2)]:
        out = empty_out(x.shape, torch.int8, order)
        for dim_order in [None, list(order)]:
            assert torch.equal(call("dim_order_ops::_clone_dim_order.out", x, dim_order=dim_order, outs=[out])[0], x)
    out = empty_out(x.shape, torch.int8, (0, 2, 3, 1))
    assert torch.equal(call("aten::clone.out", x, memory_format=torch.channels_last, outs=[out])[0], x)


@ALL
def test_view(dtype):
    for sizes, view in [
        ((2, 3, 4), [6, 4]),
        ((2, 3, 4), [4, -1]),
        ((6,), [1, 2, 3, 1]),
        ((1, 1), []),
        ((0, 4), [2, 0]),
        ((2, 3), [2, 3]),
    ]:
        check("aten::view_copy.out", lambda x, size: x.reshape(size), make(sizes, dtype), view)
        check("aten::_unsafe_view.out", lambda x, size: x.reshape(size), make(sizes, dtype), view)
    for dim in [0, 2, -1, -4]:
        check("aten::unsqueeze_copy.out", lambda x, dim: x.unsqueeze(dim), make((2, 3, 4), dtype), dim)
    for dim in [0, 1, -2]:
        check("aten::squeeze_copy.dim_out", lambda x, dim: x.squeeze(dim), make((1, 3, 1, 4), dtype), dim)
    check("aten::squeeze_copy.dims_out", lambda x, dim: x.squeeze(tuple(dim)), make((1, 3, 1, 4), dtype), [0, -2, 1])
    check("aten::squeeze_copy.out", lambda x: x.squeeze(), make((1, 3, 1, 4), dtype))
    check("aten::squeeze_copy.dim_out", lambda x, dim: x.squeeze(dim), make((), dtype), 0)


@ALL
def test_permute(dtype):
    check("aten::permute_copy.out", aten.permute_copy, make((2, 3, 4, 5), dtype), [0, 2, 3, 1])
    check("aten::permute_copy.out", aten.permute_copy, make((2, 3, 4, 5), dtype), [-1, 1, 0, 2])
    check("aten::permute_copy.out", aten.permute_copy, make((), dtype), [])
    check("aten::permute_copy.out", aten.permute_copy, make((1, 2) * 8, dtype), list(range(15, -1, -1)), layouts=False)
    check("aten::transpose_copy.int_out", aten.transpose_copy, make((2, 3, 4), dtype), 0, -1)
    check("aten::transpose_copy.int_out", aten.transpose_copy, make((), dtype), 0, -1)
    check("aten::t_copy.out", aten.t_copy, make((3, 4), dtype))
    check("aten::t_copy.out", aten.t_copy, make((3,), dtype))


@ALL
def test_slice(dtype):
    x = make((4, 7, 3), dtype)
    for arguments in [
        (1, 2, 5, 1),
        (1, -3, None, 1),
        (1, None, None, 3),
        (0, 1, 100, 2),
        (2, 3, 1, 1),
        (-2, -100, -1, 4),
        (1, 0, 2**63 - 1, 2**40),
    ]:
        check("aten::slice_copy.Tensor_out", aten.slice_copy, x, *arguments)
    check("aten::narrow_copy.out", aten.narrow_copy, x, 1, 2, 3)
    check("aten::narrow_copy.out", aten.narrow_copy, x, -2, -3, 2)
    for dim, index in [(0, 3), (1, -1), (-1, 0)]:
        check("aten::select_copy.int_out", aten.select_copy, x, dim, index)
        check(
            "aten::select_scatter.out", aten.select_scatter, x, make(x.select(dim, index).shape, dtype, 1), dim, index
        )
    for arguments in [(1, 2, 5, 1), (1, None, None, 3), (0, 3, 100, 1), (2, 2, 2, 1)]:
        part = aten.slice_copy(x, *arguments)
        check("aten::slice_scatter.out", aten.slice_scatter, x, make(part.shape, dtype, 1), *arguments)


@ALL
def test_split(dtype):
    x = make((4, 7, 3), dtype)
    check("aten::split_copy.Tensor_out", aten.split_copy, x, 3, 1, out_list=True)
    check("aten::split_copy.Tensor_out", aten.split_copy, x, 9, -1, out_list=True)
    check("aten::split_with_sizes_copy.out", aten.split_with_sizes_copy, x, [1, 0, 6], 1, out_list=True)
    check("aten::unbind_copy.int_out", aten.unbind_copy, x, -1, out_list=True)
    check("aten::unbind_copy.int_out", aten.unbind_copy, x, 0, out_list=True)


@ALL
def test_cat(dtype):
    parts = [make((2, n, 4), dtype, n) for n in (3, 0, 1, 5)]
    check("aten::cat.out", aten.cat, parts, 1)
    check("aten::cat.out", aten.cat, parts, -2)
    check("aten::cat.out", aten.cat, [make((0,), dtype), make((2, 3), dtype), make((1, 3), dtype)], 0)
    check("aten::cat.out", aten.cat, [make((2, 3), dtype), make((2, 1), torch.int16)], 1)
    check("aten::stack.out", aten.stack, [make((2, 3), dtype, n) for n in range(4)], 1)
    check("aten::stack.out", aten.stack, [make((2, 3), dtype, n) for n in range(4)], -1)
    check("aten::stack.out", aten.stack, [make((), dtype, n) for n in range(4)], 0)


@ALL
def test_repetition(dtype):
    check("aten::expand_copy.out", aten.expand_copy, make((3, 1, 4), dtype), [2, 3, 5, -1])
    check("aten::expand_copy.out", aten.expand_copy, make((), dtype), [2, 3])
    check("aten::expand_copy.out", aten.expand_copy, make((1, 4), dtype), [0, 4])
    check("aten::repeat.out", aten.repeat, make((3, 2), dtype), [2, 1, 3])
    check("aten::repeat.out", aten.repeat, make((3, 2, 4), dtype), [2, 3, 2])
    check("aten::repeat.out", aten.repeat, make((3, 2), dtype), [0, 2])
    check("aten::repeat.out", aten.repeat, make((), dtype), [])


@ALL
def test_flip_and_roll(dtype):
    x = make((3, 4, 5), dtype)
    for dims in [[0], [1, -1], [0, 1, 2], []]:
        check("aten::flip.out", aten.flip, x, dims)
    for shifts, dims in [([1], [0]), ([-2, 7], [1, 2]), ([1, 1], [0, 0]), ([0, 3, -1], [0, 1, 2])]:
        check("aten::roll.out", aten.roll, x, shifts, dims)
    check("aten::roll.out", aten.roll, x, [7], [], layouts=False)
    check("aten::roll.out", aten.roll, make((0, 3), dtype), [1], [1])


@ALL
def test_constant_pad(dtype):
    x = make((2, 3, 4), dtype)
    value = 1 if dtype == torch.bool else 5
    for pad in [[1, 2], [0, 1, 3, 0], [-1, 2, 1, -2], [1, 1, 1, 1, 1, 1], [-4, 3], []]:
        check("aten::constant_pad_nd.out", aten.constant_pad_nd, x, pad, value)
    check("aten::constant_pad_nd.out", aten.constant_pad_nd, x, [1, 1], 2.75)
    check("aten::constant_pad_nd.out", aten.constant_pad_nd, make((0, 2), dtype), [1, 1, 2, 0], value)


@pytest.mark.parametrize("dtype", DTYPES[:-1], ids=str)
def test_edge_pad(dtype):
    def float_reference(function):
        # PyTorch's reflection and replication are not defined for all integers; the elements are the same as in float64.
        return lambda x, padding: function(x.double(), padding).to(x.dtype)

    small = make((1, 2, 5), torch.int8).to(dtype)
    for padding in [[2, 3], [0, 4], [-1, 2]]:
        check("aten::reflection_pad1d.out", float_reference(aten.reflection_pad1d), small, padding)
        check("aten::replication_pad1d.out", float_reference(aten.replication_pad1d), small, padding)
    check("aten::replication_pad1d.out", float_reference(aten.replication_pad1d), small, [7, 9])
    image = make((2, 3, 4, 5), torch.int8).to(dtype)
    for padding in [[1, 2, 3, 0], [0, -1, 2, 2], [4, 4, 3, 3]]:
        check("aten::reflection_pad2d.out", float_reference(aten.reflection_pad2d), image, padding)
        check("aten::replication_pad2d.out", float_reference(aten.replication_pad2d), image, padding)
    check("aten::reflection_pad2d.out", float_reference(aten.reflection_pad2d), image[0], [1, 1, 1, 1])
    volume = make((2, 3, 3, 4, 5), torch.int8).to(dtype)
    check("aten::reflection_pad3d.out", float_reference(aten.reflection_pad3d), volume, [1, 2, 0, 3, 2, 1])
    check("aten::replication_pad3d.out", float_reference(aten.replication_pad3d), volume, [1, 2, 0, 3, 2, 1])


@ALL
def test_pixel_shuffle(dtype):
    check("aten::pixel_shuffle.out", aten.pixel_shuffle, make((2, 12, 3, 4), dtype), 2)
    check("aten::pixel_shuffle.out", aten.pixel_shuffle, make((18, 2, 1), dtype), 3)
    check("aten::pixel_shuffle.out", aten.pixel_shuffle, make((2, 1, 12, 3, 4), dtype), 1)
    check("aten::pixel_unshuffle.out", aten.pixel_unshuffle, make((2, 3, 4, 6), dtype), 2)
    check("aten::pixel_unshuffle.out", aten.pixel_unshuffle, make((2, 6, 3), dtype), 3)


@ALL
def test_patterns(dtype):
    x = make((4, 6), dtype)
    check("aten::as_strided_copy.out", aten.as_strided_copy, x, [3, 4], [6, 1], 2, layouts=False)
    check("aten::as_strided_copy.out", aten.as_strided_copy, x, [5, 4], [2, 5], layouts=False)
    check("aten::as_strided_copy.out", aten.as_strided_copy, x, [3, 2], [0, 23], layouts=False)
    for offset in [0, 2, -3, 9, -9]:
        check("aten::diagonal_copy.out", aten.diagonal_copy, x, offset)
    check("aten::diagonal_copy.out", aten.diagonal_copy, make((2, 3, 4, 5), dtype), 1, -1, 0)
    check("aten::unfold_copy.out", aten.unfold_copy, make((2, 7, 3), dtype), 1, 3, 2)
    check("aten::unfold_copy.out", aten.unfold_copy, make((2, 7, 3), dtype), -2, 7, 1)
    for diagonal in [0, 1, -2, 9, -9]:
        check("aten::tril.out", aten.tril, make((2, 4, 3), dtype), diagonal)
        check("aten::triu.out", aten.triu, make((2, 4, 3), dtype), diagonal)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_upsample_nearest(dtype):
    # PyTorch has it for uint8 and floats; which pixel is taken does not depend on the type.
    def reference(x, size, scales):
        return aten.upsample_nearest2d.vec(x.double(), size, scales).to(x.dtype)

    x = make((2, 3, 5, 7), torch.int8).to(dtype)
    for size in [[10, 14], [7, 7], [3, 20], [1, 1]]:
        check("aten::upsample_nearest2d.vec_out", reference, x, size, None)
    for scales in [[2.0, 2.0], [1.5, 0.7], [3.3, 1.0]]:
        check("aten::upsample_nearest2d.vec_out", reference, x, None, scales)


@ALL
@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64], ids=str)
def test_indexing(dtype, index_dtype):
    x = make((4, 5, 3), dtype)
    check("aten::index_select.out", aten.index_select, x, 1, torch.tensor([4, 0, 0, 2], dtype=index_dtype))
    check("aten::index_select.out", aten.index_select, x, -1, torch.tensor([], dtype=index_dtype))
    check("aten::embedding.out", aten.embedding, make((5, 3), dtype), torch.tensor([[1, 4], [0, 0]], dtype=index_dtype))
    i = torch.tensor([0, -1, 2], dtype=index_dtype)
    j = torch.tensor([[1], [4]], dtype=index_dtype)
    for indices in [[i], [None, i], [i, j], [None, j, i - 1], [i, None, j - 3], [j - 1]]:
        check("aten::index.Tensor_out", aten.index.Tensor, x, indices)
        part = aten.index.Tensor(x, indices)
        unique = [index for index in indices if index is not None]
        values = make(part.shape[-1:], dtype, 1) if unique else part
        put = [None if index is None else index for index in indices]
        check("aten::index_put.out", aten.index_put, x, put, values)


@ALL
def test_masks(dtype):
    x = make((4, 5, 3), dtype)
    for mask, before in [
        (make((4, 5), torch.bool), 0),
        (make((5,), torch.bool), 1),
        (torch.zeros(4, dtype=torch.bool), 0),
    ]:
        indices = [None] * before + [mask]
        check("aten::index.Tensor_out", aten.index.Tensor, x, indices)
        check("aten::index_put.out", aten.index_put, x, indices, make((), dtype, 1))
        values = make(aten.index.Tensor(x, indices).shape, dtype, 2)
        check("aten::index_put.out", aten.index_put, x, indices, values)
        assert same_bits(call("aten::index_put_", x, indices, values, outs=[])[0], aten.index_put(x, indices, values))


@ALL
def test_accumulating_index_put(dtype):
    x = make((4, 3), torch.int8).to(dtype)
    index = torch.tensor([1, 1, 3, 1])
    values = make((4, 3), torch.int8, 3).to(dtype)
    check("aten::index_put.out", aten.index_put, x, [index], values, True)


@ALL
def test_gather_and_scatter(dtype):
    x = make((4, 5, 3), dtype)
    index = torch.randint(0, 5, (3, 7, 2), generator=torch.Generator().manual_seed(1))
    check("aten::gather.out", aten.gather, x, 1, index)
    check("aten::gather.out", aten.gather, make((), dtype), 0, torch.tensor(0))
    unique = torch.stack([torch.randperm(5, generator=torch.Generator().manual_seed(k))[:4] for k in range(4)])
    src = make((4, 6), dtype, 1)
    square = make((4, 5), dtype)
    check("aten::scatter.src_out", aten.scatter.src, square, 1, unique, src)
    check("aten::scatter.value_out", aten.scatter.value, square, -1, unique, 1)
    if dtype != torch.bool:
        repeated = torch.randint(0, 5, (4, 6), generator=torch.Generator().manual_seed(2))
        check("aten::scatter_add.out", aten.scatter_add, square, 1, repeated, src)


@ALL
def test_filled(dtype):
    for value in [0, 1, -3, 2.5, True]:
        check("aten::full.out", lambda size, value: torch.full(size, value, dtype=dtype), [2, 3, 2], value)
        check("aten::full_like.out", lambda x, value: torch.full_like(x, value), make((2, 3), dtype), value)
        check("aten::scalar_tensor.out", lambda value: torch.scalar_tensor(value, dtype=dtype), value)
        check("aten::fill.Scalar_out", aten.fill.Scalar, make((2, 3), dtype), value)
    check("aten::fill.Tensor_out", aten.fill.Tensor, make((2, 3), dtype), torch.tensor(3))
    check("aten::fill.Tensor_out", aten.fill.Tensor, make((2, 3), dtype), torch.tensor(1.5))
    check("aten::zeros.out", lambda size: torch.zeros(size, dtype=dtype), [2, 0, 3])
    check("aten::ones.out", lambda size: torch.ones(size, dtype=dtype), [2, 3])
    check("aten::zeros_like.out", torch.zeros_like, make((2, 3), dtype))
    check("aten::ones_like.out", torch.ones_like, make((2, 3), dtype))
    check("aten::empty.out", lambda size: torch.zeros(size, dtype=dtype), [2, 3])
    check("dim_order_ops::_empty_dim_order.out", lambda size: torch.zeros(size, dtype=dtype), [2, 3])


@pytest.mark.parametrize("dtype", DTYPES[:-1], ids=str)
def test_arange(dtype):
    check("aten::arange.out", lambda end: torch.arange(end, dtype=dtype), 7)
    for bounds in [(2, 11, 3), (1, 1, 1), (0, 10, 10)] + ([] if dtype == torch.uint8 else [(5, -9, -4), (-3, 3, 2)]):
        check("aten::arange.start_out", lambda *b: torch.arange(*b, dtype=dtype), *bounds)
    if dtype == torch.float32:
        for bounds in [(0.0, 1.0, 0.1), (-1.5, 2, 0.25), (3.0, 1.0, -0.3)]:
            check("aten::arange.start_out", lambda *b: torch.arange(*b, dtype=dtype), *bounds)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_permutation_of_any_layout(data):
    rank = data.draw(st.integers(0, 6))
    sizes = data.draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank))
    draw_order = lambda: data.draw(st.permutations(range(rank)))
    x = with_layout(make(sizes, torch.int16), draw_order())
    dims = list(draw_order())
    expected = x.permute(dims)
    out = empty_out(expected.shape, torch.int16, draw_order())
    assert torch.equal(call("aten::permute_copy.out", x, dims, outs=[out])[0], expected)
    flat = empty_out((x.numel(),), torch.int16)
    assert torch.equal(call("aten::view_copy.out", x, [x.numel()], outs=[flat])[0], x.reshape(-1))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_slice(data):
    rank = data.draw(st.integers(1, 5))
    x = make(data.draw(st.lists(st.integers(0, 6), min_size=rank, max_size=rank)), torch.int8)
    x = with_layout(x, data.draw(st.permutations(range(rank))))
    bound = st.one_of(st.none(), st.integers(-8, 8))
    arguments = (
        data.draw(st.integers(-rank, rank - 1)),
        data.draw(bound),
        data.draw(bound),
        data.draw(st.integers(1, 4)),
    )
    expected = aten.slice_copy(x, *arguments)
    out = empty_out(expected.shape, torch.int8, data.draw(st.sampled_from(orders(rank))))
    assert torch.equal(call("aten::slice_copy.Tensor_out", x, *arguments, outs=[out])[0], expected)
