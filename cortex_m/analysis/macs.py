"""Multiply-accumulates of an operator, from the shapes of its tensors: products of weights (or of two operands) with values.

    convolution             outputs * KH * KW * C_in / groups, windows over padding included
    depthwise convolution   outputs * KH * KW
    transposed convolution  input pixels * weights: each input value meets each weight of its channel, what is cropped included
    linear                  rows * inputs * outputs
    matrix product          outputs * depth

Requantization, additions of a bias, pooling and elementwise operators are not counted: MACs say how long the layers take in
which nearly all time goes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cortex_m.analysis.layers import Layer, TensorFacts

# Operators that are sums of products of two tensors, and no cortex_m ones.
_FLOAT_PRODUCTS = {"aten::mm", "aten::bmm", "aten::matmul", "aten::addmm", "aten::linear", "aten::convolution"}


def multiply_accumulates(layer: Layer, numbers: dict[str, Any]) -> int | None:
    """None for a portable operator whose products are not counted here but may have some.

    numbers: the layer's arguments that are no tensors, by name.
    """
    if not layer.outputs:
        return 0
    name = layer.op.removeprefix("cortex_m::").removesuffix("_nhwc")
    outputs = math.prod(layer.outputs[0].shape)
    if layer.op in _FLOAT_PRODUCTS:
        return _float_products(layer, outputs)
    if not layer.op.startswith("cortex_m::"):
        return 0 if layer.op.startswith(("aten::", "dim_order_ops::")) and not _multiplies(layer.op) else None
    weight = _find(layer, "weight") or _find(layer, "weights")
    if name in ("packed_conv2d", "packed_depthwise_conv2d"):
        return (
            outputs * math.prod(numbers["kernel_size"]) * (layer.inputs[0].shape[3] if name == "packed_conv2d" else 1)
        )
    if name == "packed_linear":
        return outputs * layer.inputs[0].shape[-1]
    if name == "quantized_conv2d" and weight:
        return outputs * math.prod(weight.shape[1:])
    if name.startswith("quantized_depthwise_conv2d") and weight:
        return outputs * weight.shape[-3] * weight.shape[-2]
    if name.startswith("quantized_transpose_conv2d") and weight:
        image = layer.inputs[0].shape  # NCHW-shaped without the suffix, else NHWC
        pixels = image[1] * image[2] if layer.op.endswith("_nhwc") else image[2] * image[3]
        return image[0] * pixels * math.prod(weight.shape)
    if name.startswith("quantized_linear") and weight:
        return outputs * weight.shape[-1]
    if name == "quantized_batch_matmul":
        return outputs * layer.inputs[0].shape[-1]
    return 0


def _find(layer: Layer, role: str) -> TensorFacts | None:
    return next((tensor for tensor in layer.constants + layer.inputs if tensor.role == role), None)


def _multiplies(op: str) -> bool:
    """Whether an ATen operator's name says that it sums products."""
    return any(part in op for part in ("conv", "mm", "matmul", "linear", "einsum", "attention", "lstm", "gru", "fft"))


def _float_products(layer: Layer, outputs: int) -> int | None:
    weight = _find(layer, "weight")
    if layer.op == "aten::convolution":
        return outputs * math.prod(weight.shape[1:]) if weight else None
    if layer.op == "aten::linear":
        return outputs * weight.shape[-1] if weight else None
    left = _find(layer, "mat1") or _find(layer, "self")
    return outputs * left.shape[-1] if left else None
