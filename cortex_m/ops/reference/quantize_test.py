import math

import numpy as np
import pytest
import torch

import cortex_m.ops.operators  # noqa: F401

ops = torch.ops.cortex_m
INT8 = (-128, 127, torch.int8)


@pytest.mark.parametrize(("scale", "zero_point"), [(0.02, 3), (1.0, 0), (0.3, -128), (7.7, 100)])
def test_quantize_multiplies_by_the_float32_inverse_and_rounds_half_to_even(scale, zero_point):
    x = torch.linspace(-130 * scale, 130 * scale, 1001)
    inverse = np.float32(1.0) / np.float32(scale)
    expected = [min(max(int(np.rint(np.float32(v) * inverse)) + zero_point, -128), 127) for v in x.numpy()]
    assert ops.quantize_per_tensor(x, scale, zero_point, *INT8).tolist() == expected


def test_quantize_ties_and_infinities():
    x = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, math.inf, -math.inf])
    assert ops.quantize_per_tensor(x, 1.0, 0, *INT8).tolist() == [0, 2, 2, 0, -2, 127, -128]


@pytest.mark.parametrize(("dtype", "low", "high"), [(torch.int8, -128, 127), (torch.int16, -32767, 32767)])
@pytest.mark.parametrize("zero_point", [0, -7, 101])
def test_nan_is_the_real_zero(dtype, low, high, zero_point):
    x = torch.tensor([[math.nan, 1.0, -math.nan, math.inf]])
    q = ops.quantize_per_tensor(x, 0.5, zero_point, low, high, dtype)
    assert q.tolist() == [[zero_point, zero_point + 2, zero_point, high]]
    image = ops.quantize_to_nhwc(x[None, None], 0.5, zero_point, low, high, dtype)
    assert image.flatten().tolist() == q.flatten().tolist()


def test_int16_keeps_to_its_symmetric_range():
    x = torch.tensor([-2.0, -1.0, 0.25, 1.0, 2.0])
    q = ops.quantize_per_tensor(x, 1 / 32767, 0, -32767, 32767, torch.int16)
    assert q.tolist() == [-32767, -32767, 8192, 32767, 32767]


@pytest.mark.parametrize(("dtype", "low", "high"), [(torch.int8, -128, 127), (torch.int16, -32768, 32767)])
def test_dequantize_is_the_inverse_on_every_integer(dtype, low, high):
    stored = torch.arange(low, high + 1, dtype=torch.int32).to(dtype)
    real = ops.dequantize_per_tensor(stored, 0.0371, 5, low, high, dtype)
    scale = np.float32(0.0371)
    assert real.tolist() == [float(np.float32(int(q) - 5) * scale) for q in stored]
    assert torch.equal(ops.quantize_per_tensor(real, 0.0371, 5, low, high, dtype), stored)


@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_layout_twins_give_the_same_values(memory_format):
    x = torch.randn(2, 3, 4, 5).to(memory_format=memory_format)
    plain = ops.quantize_per_tensor(x, 0.02, 3, *INT8)
    assert plain.stride() == x.stride()
    nhwc = ops.quantize_to_nhwc(x, 0.02, 3, *INT8)
    assert nhwc.is_contiguous()
    assert torch.equal(nhwc.permute(0, 3, 1, 2), plain)
    back = ops.dequantize_from_nhwc(nhwc, 0.02, 3, *INT8)
    assert back.is_contiguous()
    assert torch.equal(back, ops.dequantize_per_tensor(plain, 0.02, 3, *INT8))
