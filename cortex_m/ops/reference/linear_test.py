import numpy as np
import pytest
import torch

import cortex_m.ops.operators  # noqa: F401
from cortex_m.ops.reference import naive
from cortex_m.ops.reference.fixed_point import quantize_multiplier

ops = torch.ops.cortex_m


def problem(shape, n, seed):
    rng = np.random.default_rng(seed)
    k = shape[-1]
    x = rng.integers(-128, 128, shape, dtype=np.int8)
    w = rng.integers(-127, 128, (n, k), dtype=np.int8)
    bias = rng.integers(-3000, 3000, n).astype(np.int32)
    pairs = [quantize_multiplier(float(f) * 40 / (75 * 73 * k**0.5)) for f in rng.uniform(0.5, 1.5, n)]
    return x, w, bias, pairs


def expected(x, w, bias, pairs, zero_in, zero_out, low, high):
    rows = x.reshape(-1, x.shape[-1])
    out = np.zeros((len(rows), len(w)), dtype=np.int8)
    for i, row in enumerate(rows):
        for j, weights in enumerate(w):
            total = sum((int(a) - zero_in) * int(b) for a, b in zip(row, weights)) + int(bias[j])
            out[i, j] = min(max(naive.requantized(total, *pairs[j]) + zero_out, low), high)
    assert naive.saturated_share(out, low, high) < 0.5
    return out.reshape(*x.shape[:-1], len(w))


@pytest.mark.parametrize("shape", [(7,), (3, 16), (2, 3, 5)])
@pytest.mark.parametrize("bounds", [(-128, 127), (-45, 60)])
def test_per_channel(shape, bounds):
    x, w, bias, pairs = problem(shape, 4, seed=len(shape))
    result = ops.quantized_linear_per_channel(
        torch.from_numpy(x), torch.from_numpy(w), torch.from_numpy(bias), -9, 4,
        torch.tensor([m for m, _ in pairs], dtype=torch.int32), torch.tensor([s for _, s in pairs], dtype=torch.int32), *bounds,
    )  # fmt: skip
    np.testing.assert_array_equal(result.numpy(), expected(x, w, bias, pairs, 9, 4, *bounds))


@pytest.mark.parametrize("shape", [(7,), (3, 16), (2, 3, 5)])
def test_per_tensor_with_bias_and_with_kernel_sum(shape):
    x, w, bias, pairs = problem(shape, 4, seed=10 + len(shape))
    pairs = pairs[:1] * 4
    want = expected(x, w, bias, pairs, 9, 4, -128, 127)
    (multiplier, shift) = pairs[0]
    with_bias = ops.quantized_linear(
        torch.from_numpy(x),
        torch.from_numpy(w),
        torch.from_numpy(bias),
        None,
        -9,
        0,
        4,
        [multiplier],
        [shift],
        127,
        -128,
    )
    np.testing.assert_array_equal(with_bias.numpy(), want)
    kernel_sum = (-9 * w.astype(np.int64).sum(1) + bias).astype(np.int32)[None]
    with_sum = ops.quantized_linear(
        torch.from_numpy(x),
        torch.from_numpy(w),
        None,
        torch.from_numpy(kernel_sum),
        -9,
        0,
        4,
        [multiplier],
        [shift],
        127,
        -128,
    )
    np.testing.assert_array_equal(with_sum.numpy(), want)


def test_filter_offset_is_the_same_in_both_forms():
    x, w, bias, pairs = problem((3, 8), 4, seed=3)
    (multiplier, shift) = pairs[0]
    shifted = w.astype(np.int64) + 2
    kernel_sum = (-9 * shifted.sum(1) + bias).astype(np.int32)[None]
    tail = (-9, 2, 4, [multiplier], [shift], 127, -128)
    inputs = torch.from_numpy(x), torch.from_numpy(w)
    with_bias = ops.quantized_linear(*inputs, torch.from_numpy(bias), None, *tail)
    with_sum = ops.quantized_linear(*inputs, None, torch.from_numpy(kernel_sum), *tail)
    total = (x.astype(np.int64) - 9) @ shifted.T + bias
    want = [[min(max(naive.requantized(int(v), multiplier, shift) + 4, -128), 127) for v in row] for row in total]
    assert with_bias.tolist() == want
    assert with_sum.tolist() == want


@pytest.mark.parametrize(("left", "right"), [((4, 9), (5, 9)), ((2, 3, 7), (2, 4, 7)), ((2, 1, 3, 6), (1, 3, 2, 6))])
def test_batch_matmul(left, right):
    rng = np.random.default_rng(len(left))
    a, b = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in (left, right))
    multiplier, shift = quantize_multiplier(35 / (75 * 73 * left[-1] ** 0.5))
    if len(left) == 2:
        a, b = a[None], b[None]
    result = ops.quantized_batch_matmul(
        torch.from_numpy(a), -7, torch.from_numpy(b), 12, 3, multiplier, shift, torch.empty(0, dtype=torch.uint8)
    )
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    wide_a, wide_b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    want = np.zeros((*batch, left[-2], right[-2]), dtype=np.int8)
    for index in np.ndindex(*want.shape):
        pairs = zip(wide_a[(*index[:-2], index[-2])], wide_b[(*index[:-2], index[-1])])
        total = sum((int(x) - 7) * (int(y) + 12) for x, y in pairs)
        want[index] = min(max(naive.requantized(total, multiplier, shift) + 3, -128), 127)
    assert naive.saturated_share(want) < 0.5
    np.testing.assert_array_equal(result.numpy(), want)
    assert result.is_contiguous()
