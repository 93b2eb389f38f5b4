"""Against plain loops over Python integers, and against float64 convolutions of the dequantized values."""

import numpy as np
import pytest
import torch

import cortex_m.ops.operators  # noqa: F401
from cortex_m.ops.reference import naive
from cortex_m.ops.reference.fixed_point import quantize_multiplier

ops = torch.ops.cortex_m
NO_SCRATCH = torch.empty(0, dtype=torch.uint8)

CASES = [
    # n, h, w, c, o, kernel, stride, padding, dilation, groups
    (1, 5, 4, 3, 4, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    (2, 6, 5, 4, 6, (3, 2), (2, 1), (1, 0), (1, 2), 2),
    (1, 4, 4, 8, 5, (1, 1), (2, 2), (0, 0), (1, 1), 1),
    (1, 7, 1, 2, 3, (3, 1), (1, 1), (2, 0), (2, 1), 1),
]
DEPTHWISE = [
    (1, 5, 6, 4, 4, (3, 3), (1, 1), (1, 1), (1, 1)),
    (2, 6, 5, 3, 6, (3, 2), (2, 1), (1, 0), (1, 2)),
    (1, 6, 5, 2, 2, (4, 4), (1, 1), (0, 0), (1, 1)),
]


class Problem:
    """Random int8 data with scales that spread the outputs over the int8 range without piling up at its ends."""

    def __init__(self, n, h, w, c, o, kernel, groups, seed):
        rng = np.random.default_rng(seed)
        self.x = rng.integers(-128, 128, (n, h, w, c), dtype=np.int8)
        self.weight = rng.integers(-127, 128, (o, *kernel, c // groups), dtype=np.int8)
        self.bias = rng.integers(-3000, 3000, o).astype(np.int32)
        self.zero_in, self.zero_out = 5, -11
        self.scale_in, self.scale_out = 0.031, 0.11
        depth = kernel[0] * kernel[1] * (c // groups)
        self.scale_w = rng.uniform(0.5, 1.5, o) * 40 * self.scale_out / (self.scale_in * 75 * 73 * depth**0.5)
        pairs = [quantize_multiplier(float(self.scale_in * s / self.scale_out)) for s in self.scale_w]
        self.multipliers = np.array([m for m, _ in pairs], dtype=np.int32)
        self.shifts = np.array([s for _, s in pairs], dtype=np.int32)

    def float64(self, stride, padding, dilation, groups, bounds):
        x = (torch.from_numpy(self.x).permute(0, 3, 1, 2).double() - self.zero_in) * self.scale_in
        scale_w = torch.from_numpy(self.scale_w)
        w = torch.from_numpy(self.weight).permute(0, 3, 1, 2).double() * scale_w[:, None, None, None]
        b = torch.from_numpy(self.bias).double() * self.scale_in * scale_w
        y = torch.nn.functional.conv2d(x, w, b, stride, padding, dilation, groups)
        return (torch.round(y / self.scale_out) + self.zero_out).clamp(*bounds).permute(0, 2, 3, 1).numpy()


def check(result, problem, stride, padding, dilation, groups, bounds):
    expected = naive.conv2d_nhwc(
        problem.x, problem.weight, problem.bias, stride, padding, dilation, -problem.zero_in, problem.zero_out,
        problem.multipliers, problem.shifts, *bounds,
    )  # fmt: skip
    assert naive.saturated_share(expected, *bounds) < 0.5
    np.testing.assert_array_equal(result.numpy(), expected)
    assert np.abs(result.numpy() - problem.float64(stride, padding, dilation, groups, bounds)).max() <= 1


@pytest.mark.parametrize("bounds", [(-128, 127), (-60, 70)])
@pytest.mark.parametrize(("n", "h", "w", "c", "o", "kernel", "stride", "padding", "dilation", "groups"), CASES)
def test_conv2d(n, h, w, c, o, kernel, stride, padding, dilation, groups, bounds):
    p = Problem(n, h, w, c, o, kernel, groups, seed=c * o)
    args = (
        torch.from_numpy(p.weight), torch.from_numpy(p.bias), stride, padding, dilation, -p.zero_in, p.zero_out,
        torch.from_numpy(p.multipliers), torch.from_numpy(p.shifts), *bounds, NO_SCRATCH,
    )  # fmt: skip
    x = torch.from_numpy(p.x)
    result = ops.quantized_conv2d_nhwc(x, *args)
    check(result, p, stride, padding, dilation, groups, bounds)
    nchw = ops.quantized_conv2d(x.permute(0, 3, 1, 2), *args)
    assert torch.equal(nchw.permute(0, 2, 3, 1), result)
    assert nchw.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("bounds", [(-128, 127), (-60, 70)])
@pytest.mark.parametrize(("n", "h", "w", "c", "o", "kernel", "stride", "padding", "dilation"), DEPTHWISE)
def test_depthwise_conv2d(n, h, w, c, o, kernel, stride, padding, dilation, bounds):
    p = Problem(n, h, w, c, o, kernel, c, seed=c + o)
    args = (
        torch.from_numpy(p.weight).permute(3, 1, 2, 0).contiguous(), torch.from_numpy(p.bias), stride, padding, dilation,
        o // c, -p.zero_in, p.zero_out, torch.from_numpy(p.multipliers), torch.from_numpy(p.shifts), *bounds, NO_SCRATCH,
    )  # fmt: skip
    x = torch.from_numpy(p.x)
    result = ops.quantized_depthwise_conv2d_nhwc(x, *args)
    check(result, p, stride, padding, dilation, c, bounds)
    assert torch.equal(ops.quantized_depthwise_conv2d(x.permute(0, 3, 1, 2), *args).permute(0, 2, 3, 1), result)


def test_sums_beyond_2_to_24_are_exact():
    """float32 accumulation would lose the last bits: 255 * 127 * 1025 is odd and above 2^24."""
    c = 1025
    x = torch.full((1, 1, 1, c), 127, dtype=torch.int8)
    weight = torch.full((1, 1, 1, c), 127, dtype=torch.int8)
    total = 255 * 127 * c
    one, shift = quantize_multiplier(1.0)
    result = ops.quantized_conv2d_nhwc(
        x, weight, torch.tensor([-total + 3], dtype=torch.int32), [1, 1], [0, 0], [1, 1], 128, 0,
        torch.tensor([one], dtype=torch.int32), torch.tensor([shift], dtype=torch.int32), -128, 127, NO_SCRATCH,
    )  # fmt: skip
    assert result.tolist() == [[[[3]]]]
