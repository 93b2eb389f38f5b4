"""Against scattering loops over Python integers, and against PyTorch's own conv_transpose2d of the real values."""

import numpy as np
import pytest
import torch

import cortex_m.ops.operators  # noqa: F401
from cortex_m.ops.reference import naive
from cortex_m.ops.reference.fixed_point import quantize_multiplier

ops = torch.ops.cortex_m
NO_SCRATCH = torch.empty(0, dtype=torch.uint8)

CASES = [
    # n, h, w, c, o, kernel, stride, padding, output_padding, dilation, groups
    (1, 4, 3, 3, 5, (3, 3), (2, 2), (1, 1), (0, 0), (1, 1), 1),
    (2, 3, 4, 4, 6, (3, 2), (2, 3), (1, 0), (1, 2), (1, 2), 2),
    (1, 4, 4, 5, 5, (4, 4), (2, 1), (1, 2), (1, 0), (1, 1), 5),
    (1, 2, 3, 3, 4, (2, 2), (4, 4), (0, 0), (3, 1), (1, 1), 1),
    (1, 3, 3, 2, 3, (3, 3), (1, 1), (2, 1), (0, 1), (2, 2), 1),
]


@pytest.mark.parametrize("bounds", [(-128, 127), (-60, 70)])
@pytest.mark.parametrize(
    ("n", "h", "w", "c", "o", "kernel", "stride", "padding", "output_padding", "dilation", "groups"), CASES
)
def test_transpose_conv2d(n, h, w, c, o, kernel, stride, padding, output_padding, dilation, groups, bounds):
    rng = np.random.default_rng(c * o)
    x = rng.integers(-128, 128, (n, h, w, c), dtype=np.int8)
    torch_weight = rng.integers(-127, 128, (c, o // groups, *kernel), dtype=np.int8)
    bias = rng.integers(-3000, 3000, o).astype(np.int32)
    zero_in, zero_out, scale_in, scale_out = 5, -11, 0.031, 0.11
    depth = max(1, kernel[0] * kernel[1] * (c // groups) // (stride[0] * stride[1]))
    scale_w = rng.uniform(0.5, 1.5, o) * 35 * scale_out / (scale_in * 75 * 73 * depth**0.5)
    pairs = [quantize_multiplier(float(scale_in * s / scale_out)) for s in scale_w]
    multipliers, shifts = (np.array(column, dtype=np.int32) for column in zip(*pairs))
    # The documented layout: torch's [C, O / groups, kH, kW] by (1, 2, 3, 0), group after group.
    weight = np.concatenate([part.transpose(1, 2, 3, 0) for part in np.split(torch_weight, groups)])
    args = (
        torch.from_numpy(np.ascontiguousarray(weight)), torch.from_numpy(bias), stride, padding, output_padding, dilation,
        -zero_in, zero_out, torch.from_numpy(multipliers), torch.from_numpy(shifts), *bounds, NO_SCRATCH, NO_SCRATCH,
    )  # fmt: skip
    result = ops.quantized_transpose_conv2d_nhwc(torch.from_numpy(x), *args)
    expected = naive.transpose_conv2d_nhwc(
        x, weight, bias, stride, padding, output_padding, dilation, -zero_in, zero_out, multipliers, shifts, *bounds
    )
    assert naive.saturated_share(expected, *bounds) < 0.5
    np.testing.assert_array_equal(result.numpy(), expected)

    scales = torch.from_numpy(scale_w)
    group_scales = scales.view(groups, 1, o // groups, 1, 1)
    real_weight = torch.from_numpy(torch_weight).double().view(groups, c // groups, o // groups, *kernel) * group_scales
    real = torch.nn.functional.conv_transpose2d(
        (torch.from_numpy(x).permute(0, 3, 1, 2).double() - zero_in) * scale_in, real_weight.view(torch_weight.shape),
        torch.from_numpy(bias).double() * scale_in * scales, stride, padding, output_padding, groups, dilation,
    )  # fmt: skip
    rounded = (torch.round(real / scale_out) + zero_out).clamp(*bounds).permute(0, 2, 3, 1)
    assert float((result - rounded).abs().max()) <= 1

    nchw = ops.quantized_transpose_conv2d(torch.from_numpy(x).permute(0, 3, 1, 2), *args)
    assert torch.equal(nchw.permute(0, 2, 3, 1), result)
    assert nchw.is_contiguous(memory_format=torch.channels_last)
    fake = torch.empty((n, h, w, c), dtype=torch.int8, device="meta")
    meta = [arg.to("meta") if isinstance(arg, torch.Tensor) else arg for arg in args]
    assert ops.quantized_transpose_conv2d_nhwc(fake, *meta).shape == result.shape
