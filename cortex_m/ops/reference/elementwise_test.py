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
    ("scales", "zeros"),
    [
        ((0.0213, 0.0317, 0.0479), (3, -7, 11)),
        ((0.513, 0.00117, 0.791), (0, 0, 0)),
        ((0.0117, 0.0113, 0.0269), (-128, 127, -5)),
    ],
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


ALL = torch.arange(-128, 128, dtype=torch.int8)
ROWS, COLUMNS = ALL[:, None], ALL[None, :]


@pytest.mark.parametrize(("zeros", "factor"), [((3, -7, 11), 0.0119), ((-128, 127, -5), -0.0037), ((0, 0, 0), 0.0071)])
def test_mul_of_all_pairs(zeros, factor):
    pair = quantize_multiplier(factor)
    result = ops.quantized_mul(ROWS, zeros[0], COLUMNS, zeros[1], zeros[2], *pair).numpy()
    products = (np.arange(-128, 128)[:, None] - zeros[0]) * (np.arange(-128, 128) - zeros[1])
    ideal = np.clip(np.round(products * factor) + zeros[2], -128, 127)
    assert naive.saturated_share(ideal) < 0.5
    assert np.abs(result - ideal).max() <= 1 and (result != ideal).mean() < 0.03  # near ties: two roundings
    for row in range(0, 256, 5):
        for column in range(0, 256, 7):
            value = naive.requantized(int(products[row, column]), *pair) + zeros[2]
            assert result[row, column] == min(max(value, -128), 127)


def divided(a: np.ndarray, b: np.ndarray, scale: float, zero: int, low: int, high: int) -> np.ndarray:
    """By numpy's float32, and halves away from zero in integers."""
    with np.errstate(all="ignore"):
        real = (a.astype(np.float32) / b.astype(np.float32) * np.float32(scale)).astype(np.float64)
    nearest = np.trunc(real) + np.sign(real) * (np.abs(real - np.trunc(real)) >= 0.5)
    return np.clip(np.where(b == 0, 0, np.nan_to_num(nearest, posinf=1e9, neginf=-1e9)) + zero, low, high)


@pytest.mark.parametrize(
    ("zeros", "scale"), [((3, -7, 11), 37.3), ((-128, 127, -5), 91.7), ((0, 0, 0), 0.5), ((0, 0, 0), 3e38)]
)
def test_div_of_all_pairs(zeros, scale):
    result = ops.quantized_div(ROWS, zeros[0], COLUMNS, zeros[1], zeros[2], scale).numpy()
    values = np.arange(-128, 128)
    expected = divided(values[:, None] - zeros[0], values[None] - zeros[1], scale, zeros[2], -128, 127)
    assert scale > 1e38 or naive.saturated_share(expected) < 0.5
    np.testing.assert_array_equal(result, expected)
    assert (result[:, zeros[1] + 128] == zeros[2]).all()


def test_div_of_int16():
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randint(-32768, 32768, (64, 64), generator=generator, dtype=torch.int16) for _ in range(2))
    result = ops.quantized_div(a, -5, b, 7, 9, 4111.3)
    assert result.dtype == torch.int16
    expected = divided(a.numpy().astype(int) + 5, b.numpy().astype(int) - 7, 4111.3, 9, -32768, 32767)
    assert naive.saturated_share(expected, -32768, 32767) < 0.5
    np.testing.assert_array_equal(result.numpy(), expected)


def test_div_rounds_halves_away_from_zero():
    a, b = torch.tensor([1, -1, 3, -3], dtype=torch.int8), torch.tensor([2, 2, 2, 2], dtype=torch.int8)
    assert ops.quantized_div(a, 0, b, 0, 0, 1.0).tolist() == [1, -1, 2, -2]


def test_minimum_and_maximum_of_all_pairs():
    values = np.arange(-128, 128)
    np.testing.assert_array_equal(ops.minimum(ROWS, COLUMNS).numpy(), np.minimum(values[:, None], values))
    np.testing.assert_array_equal(ops.maximum(ROWS, COLUMNS).numpy(), np.maximum(values[:, None], values))


def test_activation_reads_its_table():
    table = torch.randperm(256, generator=torch.Generator().manual_seed(2)).sub(128).to(torch.int8)
    x = ALL.reshape(2, 4, 8, 4).to(memory_format=torch.channels_last)
    y = ops.quantized_activation(x, table)
    assert y.stride() == x.stride()
    assert y.flatten().tolist() == [table[q + 128] for q in range(-128, 128)]


SLOPES = [0.25, -0.5, 0.0, 1.6, 1.0, 1e-4]


@pytest.mark.parametrize(("zeros", "ratio"), [((3, -7), 0.71), ((-128, 0), 0.43), ((127, 20), 0.83)])
def test_prelu_of_all_values_of_each_channel(zeros, ratio):
    """Within 1 LSB of float64, and exactly what plain integers give."""
    pairs = [quantize_multiplier(slope * ratio) for slope in SLOPES]
    multipliers, shifts = (torch.tensor(column, dtype=torch.int32) for column in zip(*pairs))
    positive = quantize_multiplier(ratio)
    x = ROWS.expand(256, len(SLOPES))
    result = ops.quantized_prelu(x, 1, *zeros, *positive, multipliers, shifts)
    differences = np.arange(-128, 128)[:, None] - zeros[0]
    ideal = np.clip(np.round(np.where(differences > 0, 1.0, SLOPES) * differences * ratio) + zeros[1], -128, 127)
    assert naive.saturated_share(ideal) < 0.5
    assert np.abs(result.numpy() - ideal).max() <= 1
    for row in range(256):
        for channel, pair in enumerate(pairs):
            difference = row - 128 - zeros[0]
            value = naive.requantized(difference, *(positive if difference >= 0 else pair)) + zeros[1]
            assert result[row, channel] == min(max(value, -128), 127)
    image = x.reshape(4, 8, 8, 6)
    rest = (*zeros, *positive, multipliers, shifts)
    assert torch.equal(ops.quantized_prelu(image, -1, *rest), result.reshape(4, 8, 8, 6))
    nchw = ops.quantized_prelu(image.permute(0, 3, 1, 2), 1, *rest)
    assert torch.equal(nchw, result.reshape(4, 8, 8, 6).permute(0, 3, 1, 2))
    with torch.device("meta"):
        fake = ops.quantized_prelu(image.permute(0, 3, 1, 2).to("meta"), 1, *rest)
    assert fake.shape == nchw.shape and fake.stride() == nchw.stride()


def test_prelu_has_a_factor_for_each_channel():
    one = torch.tensor([1 << 30], dtype=torch.int32)
    with pytest.raises(ValueError, match="1 multipliers and 1 shifts for 6 channels"):
        ops.quantized_prelu(ROWS.expand(256, 6), 1, 0, 0, 1 << 30, 1, one, one)


@pytest.mark.parametrize("name", ["add", "mul", "div", "minimum", "maximum"])
@pytest.mark.parametrize(
    "shapes", [((2, 3, 4, 5), (3, 1, 1)), ((1,), (2, 3)), ((4, 1), (1, 6)), ((2, 1, 2, 1, 3), (4, 1, 2, 1))]
)
def test_shapes_broadcast_by_logical_index(name, shapes):
    generator = torch.Generator().manual_seed(3)
    a, b = (torch.randint(-90, 90, shape, generator=generator, dtype=torch.int8) for shape in shapes)
    if a.dim() == 4:
        a = a.to(memory_format=torch.channels_last)
    pair = quantize_multiplier(0.5)
    calls = {
        "add": lambda x, y: ops.quantized_add(x, 1, *pair, y, 2, *pair, 3, *quantize_multiplier(2**-20), -128, 127),
        "mul": lambda x, y: ops.quantized_mul(x, 1, y, 2, 3, *quantize_multiplier(0.01)),
        "div": lambda x, y: ops.quantized_div(x, 1, y, 2, 3, 20.0),
        "minimum": ops.minimum,
        "maximum": ops.maximum,
    }
    full = [tensor.contiguous() for tensor in torch.broadcast_tensors(a, b)]
    for left, right in ((a, b), (b, a)):
        wide = full if left is a else full[::-1]
        result = calls[name](left, right)
        assert torch.equal(result, calls[name](*wide))
        with torch.device("meta"):
            fake = calls[name](left.to("meta"), right.to("meta"))
        assert fake.shape == result.shape and fake.stride() == result.stride()
