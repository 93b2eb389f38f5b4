"""quantize_per_tensor, dequantize_per_tensor and their twins that change the layout on the way."""

import torch

from cortex_m.ops.reference.registry import fake, reference


def _quantize(input, scale, zero_point, quant_min, quant_max, dtype):
    # float32 throughout, as on the device: multiply by the float32 inverse, round half to even, then offset and clamp.
    inverse = torch.tensor(1.0, dtype=torch.float32) / torch.tensor(scale, dtype=torch.float32)
    rounded = torch.round(input.to(torch.float32) * inverse).to(torch.float64)
    rounded = torch.where(rounded.isnan(), 0.0, rounded)  # NaN becomes the zero point
    return (rounded + zero_point).clamp(quant_min, quant_max).to(dtype)


def _dequantize(input, scale, zero_point):
    return (input.to(torch.int32) - zero_point).to(torch.float32) * torch.tensor(scale, dtype=torch.float32)


@reference("quantize_per_tensor")
def quantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    """clamp(round(input / scale) + zero_point): float32 of any shape to int8 or int16 in the same dim order."""
    result = _quantize(input, scale, zero_point, quant_min, quant_max, dtype)
    return quantize_per_tensor_fake(input, scale, zero_point, quant_min, quant_max, dtype).copy_(result)


@fake("quantize_per_tensor")
def quantize_per_tensor_fake(input, scale, zero_point, quant_min, quant_max, dtype):
    return torch.empty_like(input, dtype=dtype)


@reference("dequantize_per_tensor")
def dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    """(input - zero_point) * scale: int8 or int16 of any shape to float32 in the same dim order."""
    return torch.empty_like(input, dtype=torch.float32).copy_(_dequantize(input, scale, zero_point))


@fake("dequantize_per_tensor")
def dequantize_per_tensor_fake(input, scale, zero_point, quant_min, quant_max, dtype):
    return torch.empty_like(input, dtype=torch.float32)


@reference("quantize_to_nhwc")
def quantize_to_nhwc(input, scale, zero_point, quant_min, quant_max, dtype):
    """float32 [N, C, H, W] in any dim order to contiguous [N, H, W, C]."""
    return _quantize(input, scale, zero_point, quant_min, quant_max, dtype).permute(0, 2, 3, 1).contiguous()


@fake("quantize_to_nhwc")
def quantize_to_nhwc_fake(input, scale, zero_point, quant_min, quant_max, dtype):
    n, c, h, w = input.shape
    return input.new_empty((n, h, w, c), dtype=dtype)


@reference("dequantize_from_nhwc")
def dequantize_from_nhwc(input, scale, zero_point, quant_min, quant_max, dtype):
    """[N, H, W, C] contiguous to float32 [N, C, H, W]."""
    return _dequantize(input, scale, zero_point).permute(0, 3, 1, 2).contiguous()


@fake("dequantize_from_nhwc")
def dequantize_from_nhwc_fake(input, scale, zero_point, quant_min, quant_max, dtype):
    n, h, w, c = input.shape
    return input.new_empty((n, c, h, w), dtype=torch.float32)
