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


@pytest.mark.parametrize("shape, kernel, stride, padding, ceil_mode", CASES)
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
    n, h, w, c = shape
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
