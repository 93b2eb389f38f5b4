"""aten.linear: quantized_linear, or quantized_linear_per_channel where each output has a scale of its own."""

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
    weight_node = lowering.constant(weights.values, node, "weight")
    bias_node = None if bias is None else lowering.constant(bias, node, "bias")
    low, high = result.bounds
    if weights.per_channel:
        call = lowering.emit(
            "cortex_m::quantized_linear_per_channel",
            (
                x, weight_node, bias_node, -source.zero_point, result.params.zero_point,
                lowering.int32(multipliers, node, "multipliers"), lowering.int32(shifts, node, "shifts"), low, high,
            ),
            node,
        )  # fmt: skip
    else:
        # The bias stays apart from kernel_sum on every core: one program gives the same result on all of them.
        call = lowering.emit(
            "cortex_m::quantized_linear",
            (
                x, weight_node, bias_node, None, -source.zero_point, 0, result.params.zero_point,
                multipliers[:1], shifts[:1], high, low,
            ),
            node,
        )  # fmt: skip
    lowering.replace(result, call)
