"""aten.add and aten.sub of two int8 tensors: quantized_add."""

import math

import torch
from torch.fx import Node

from cortex_m.ops.reference.elementwise import ADD_LEFT_SHIFT
from cortex_m.ops.reference.fixed_point import INT32_MAX, quantize_multiplier
from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.registry import Refusal, lowers
from cortex_m.passes.qparams import torch_op


@lowers(torch.ops.aten.add.Tensor, torch.ops.aten.sub.Tensor)
def lower_add(lowering: Lowering, node: Node) -> None:
    left, left_params = lowering.quantized_input(node, 0)
    right, right_params = lowering.quantized_input(node, 1)
    result = lowering.quantized_output(node)
    alpha = float(node.kwargs.get("alpha", 1))
    if not math.isfinite(alpha):
        raise Refusal(f"alpha is {alpha}")
    if torch_op(node) == torch.ops.aten.sub.Tensor:
        alpha = -alpha
    left_scale, right_scale = left_params.scale, right_params.scale * alpha
    common = 2 * max(left_scale, abs(right_scale))
    try:
        left_pair = quantize_multiplier(left_scale / common)
        right_pair = quantize_multiplier(right_scale / common)
        out_pair = quantize_multiplier(common / (result.params.scale * 2**ADD_LEFT_SHIFT))
    except ValueError as error:
        raise Refusal(str(error)) from error
    # Each operand is below 2^8 * 2^20 / 2 after its scaling.
    if 2**28 << max(out_pair[1], 0) > INT32_MAX:
        raise Refusal("its output scale is so small against the inputs' that the shifted sum leaves int32")
    call = lowering.emit(
        "cortex_m::quantized_add",
        (
            left, left_params.zero_point, *left_pair, right, right_params.zero_point, *right_pair,
            result.params.zero_point, *out_pair, *result.bounds,
        ),
        node,
    )  # fmt: skip
    lowering.replace(result, call)
