"""aten.linear: quantized_linear, or quantized_linear_per_channel where each output has a scale of its own.

A linear layer has no padding, so the bias takes the input offset's share, sum((x + offset) * w) = sum(x * w) + offset * sum(w), and the
operator gets an offset of 0: no kernel adds it, or sums weights, at run time.
"""

import torch
from torch.fx import Node

from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.registry import lowers


@lowers(torch.ops.aten.linear.default)
def lower_linear(lowering: Lowering, node: Node) -> None:
    x, source = lowering.quantized_input(node, 0)
    weights = lowering.weights(node, 1)
    result = lowering.quantized_output(node)
    scales = weights.scales * source.scale
    bias = lowering.bias(node.args[2] if len(node.args) > 2 else None, scales)
    multipliers, shifts = lowering.requantization(scales / result.params.scale, weights.values, bias, source)
    if source.zero_point != 0:
        share = -source.zero_point * weights.values.to(torch.int64).sum(
            1
        )  # requantization() saw to it that the sum fits
        bias = (share if bias is None else share + bias).to(torch.int32)
    weight_node = lowering.constant(weights.values, node, "weight")
    bias_node = None if bias is None else lowering.constant(bias, node, "bias")
    low, high = result.bounds
    if weights.per_channel:
        call = lowering.emit(
            "cortex_m::quantized_linear_per_channel",
            (
                x, weight_node, bias_node, 0, result.params.zero_point,
                lowering.int32(multipliers, node, "multipliers"), lowering.int32(shifts, node, "shifts"), low, high,
            ),
            node,
        )  # fmt: skip
    else:
        # Not as kernel_sum, which kernel libraries read on some cores alone.
        call = lowering.emit(
            "cortex_m::quantized_linear",
            (
                x, weight_node, bias_node, None, 0, 0, result.params.zero_point,
                multipliers[:1], shifts[:1], high, low,
            ),
            node,
        )  # fmt: skip
    lowering.replace(result, call)
