import itertools
import math
from fractions import Fraction

import pytest
import torch

import cortex_m.ops.operators  # noqa: F401
from cortex_m.ops.reference import naive

ops = torch.ops.cortex_m
NO_SCRATCH = torch.empty(0, dtype=torch.uint8)

CASES = [
    # shape NHWC, kernel, stride, padding, ceil_mode
    ((1, 7, 7, 5), (7, 7), (1, 1), (0, 0), False),
    ((2, 6, 5, 3), (2, 2), (2, 2), (0, 0), False),
    ((1, 6, 5, 3), (3, 2), (2, 3), (1, 1), False),
    ((1, 6, 5, 3), (3, 3), (2, 2), (1, 1), True),
    ((1, 5, 5, 2), (2, 2), (3, 3), (0, 0), True),
]


@pytest.mark.parametrize(("shape", "kernel", "stride", "padding", "ceil_mode"), CASES)
def test_avg_pool2d(shape, kernel, stride, padding, ceil_mode):
    """Integers: nearest, ties away from zero. PyTorch: within 1 LSB of avg_pool2d without the padding."""
    x = torch.randint(-128, 128, shape, generator=torch.Generator().manual_seed(1), dtype=torch.int8)
    tail = (list(kernel), list(stride), list(padding), ceil_mode, 3, 0, 0, NO_SCRATCH)
    result = ops.quantized_avg_pool2d_nhwc(x, *tail)
    real = torch.nn.functional.avg_pool2d(
        x.permute(0, 3, 1, 2).double(), kernel, stride, padding, ceil_mode, count_include_pad=False
    )
    assert result.shape == real.permute(0, 2, 3, 1).shape
    assert float((result - real.permute(0, 2, 3, 1)).abs().max()) <= 0.5
    _n, h, w, _c = shape
    for b, y, z, q in itertools.product(*map(range, result.shape)):
        rows = range(max(y * stride[0] - padding[0], 0), min(y * stride[0] - padding[0] + kernel[0], h))
        columns = range(max(z * stride[1] - padding[1], 0), min(z * stride[1] - padding[1] + kernel[1], w))
        values = [int(x[b, row, column, q]) for row in rows for column in columns]
        mean = Fraction(sum(values), len(values))
        expected = math.floor(abs(mean) + Fraction(1, 2)) * (1 if mean >= 0 else -1)
        assert result[b, y, z, q] == expected
    assert naive.saturated_share(result.numpy()) < 0.5
    nchw = ops.quantized_avg_pool2d(x.permute(0, 3, 1, 2), *tail)
    assert torch.equal(nchw.permute(0, 2, 3, 1), result)


MAX_CASES = [
    # shape NHWC, kernel, stride, padding, dilation, ceil_mode
    ((2, 6, 5, 3), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((1, 7, 6, 3), (3, 2), (2, 1), (1, 1), (1, 1), True),
    ((1, 9, 8, 2), (2, 3), (1, 2), (1, 1), (3, 2), False),
    ((2, 9, 9, 2), (2, 3), (3, 2), (0, 1), (3, 2), True),
]


@pytest.mark.parametrize(("shape", "kernel", "stride", "padding", "dilation", "ceil_mode"), MAX_CASES)
def test_max_pool2d(shape, kernel, stride, padding, dilation, ceil_mode):
    x = torch.randint(-128, 100, shape, generator=torch.Generator().manual_seed(1), dtype=torch.int8)
    tail = (list(kernel), list(stride), list(padding), list(dilation), ceil_mode, 9, 9, -60, 80)
    result = ops.quantized_max_pool2d_nhwc(x, *tail)
    sizes = torch.nn.functional.max_pool2d(
        x.permute(0, 3, 1, 2).double(), kernel, stride, padding, dilation, ceil_mode
    ).shape
    assert result.shape == (shape[0], *sizes[2:], shape[3])
    for b, y, z, q in itertools.product(*map(range, result.shape)):
        rows = [y * stride[0] - padding[0] + k * dilation[0] for k in range(kernel[0])]
        columns = [z * stride[1] - padding[1] + k * dilation[1] for k in range(kernel[1])]
        inside = [int(x[b, r, c, q]) for r in rows for c in columns if 0 <= r < shape[1] and 0 <= c < shape[2]]
        assert result[b, y, z, q] == min(max(*inside, -60), 80)
    assert naive.saturated_share(result.numpy(), -60, 80) < 0.5
    nchw = ops.quantized_max_pool2d(x.permute(0, 3, 1, 2), *tail)
    assert torch.equal(nchw.permute(0, 2, 3, 1), result)


def test_max_pool2d_refuses_what_has_no_answer():
    x = torch.zeros((1, 3, 3, 1), dtype=torch.int8)
    with pytest.raises(ValueError, match="no input in it"):
        ops.quantized_max_pool2d_nhwc(x, [2, 2], [1, 1], [1, 1], [4, 4], False, 0, 0, -128, 127)
    with pytest.raises(ValueError, match="one zero point"):
        ops.quantized_max_pool2d_nhwc(x, [2, 2], [1, 1], [0, 0], [1, 1], False, 0, 1, -128, 127)
