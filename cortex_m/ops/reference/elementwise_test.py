import numpy as np
import pytest
import torch

import cortex_m.ops.operators  # noqa: F401
from cortex_m.ops.reference import naive
from cortex_m.ops.reference.fixed_point import quantize_multiplier

ops = torch.ops.cortex_m


def parameters(scale_a, scale_b, scale_out):
    common = 2 * max(scale_a, scale_b)
    factors = (scale_a / common, scale_b / common, common / (scale_out * 2**20))
    return [quantize_multiplier(factor) for factor in factors]


@pytest.mark.parametrize(
    "scales, zeros",
    [((0.0213, 0.0317, 0.0479), (3, -7, 11)), ((0.513, 0.00117, 0.791), (0, 0, 0)), ((0.0117, 0.0113, 0.0269), (-128, 127, -5))],
)
@pytest.mark.parametrize("bounds", [(-128, 127), (-70, 60)])
def test_add_of_all_pairs(scales, zeros, bounds):
    """All 65,536 pairs within 1 LSB of float64, and every 97th exactly as plain integers give it."""
    a, b = (v.ravel().astype(np.int8) for v in np.meshgrid(np.arange(-128, 128), np.arange(-128, 128)))
    pair_a, pair_b, pair_out = parameters(*scales)
    result = ops.quantized_add(
        torch.from_numpy(a), zeros[0], *pair_a, torch.from_numpy(b), zeros[1], *pair_b, zeros[2], *pair_out, *bounds
    ).numpy()
    real = (a.astype(float) - zeros[0]) * scales[0] + (b.astype(float) - zeros[1]) * scales[1]
    ideal = np.clip(np.round(real / scales[2]) + zeros[2], *bounds)
    assert naive.saturated_share(ideal, *bounds) < 0.5
    assert np.abs(result - ideal).max() <= 1
    assert (result != ideal).mean() < 0.02
    for index in range(0, len(a), 97):
        left = naive.requantized((int(a[index]) - zeros[0]) << 20, *pair_a)
        right = naive.requantized((int(b[index]) - zeros[1]) << 20, *pair_b)
        value = naive.requantized(left + right, *pair_out) + zeros[2]
        assert result[index] == min(max(value, bounds[0]), bounds[1])


def test_add_keeps_the_dim_order():
    x = torch.randint(-50, 50, (1, 3, 4, 5), dtype=torch.int8).to(memory_format=torch.channels_last)
    pair_a, pair_b, pair_out = parameters(0.1, 0.1, 0.2)
    y = ops.quantized_add(x, 0, *pair_a, x, 0, *pair_b, 0, *pair_out, -128, 127)
    assert y.stride() == x.stride()
    assert torch.equal(y, x)
