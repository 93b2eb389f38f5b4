"""aten.mul and aten.div of two tensors: quantized_mul, quantized_div.

Neither has activation bounds. The range of the output's quantization is a bound of its own, and with min-max observers behind
the activation the same one; where it is wider, a table clamps.
"""

import torch
from torch.fx import Node

from cortex_m.ops.reference.fixed_point import INT32_MAX, quantize_multiplier
from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.registry import Refusal, lowers
from cortex_m.passes.lowering.table import emit_clamp

_LARGEST_PRODUCT = 255 * 255


@lowers(torch.ops.aten.mul.Tensor)
def lower_mul(lowering: Lowering, node: Node) -> None:
    left, left_params = lowering.quantized_input(node, 0)
    right, right_params = lowering.quantized_input(node, 1)
    result = lowering.quantized_output(node)
    try:
        multiplier, shift = quantize_multiplier(left_params.scale * right_params.scale / result.params.scale)
    except ValueError as error:
        raise Refusal(str(error)) from error
    if _LARGEST_PRODUCT << max(shift, 0) > INT32_MAX - 256:
        raise Refusal("its output scale is so small against the inputs' that the shifted product leaves int32")
    call = lowering.emit(
        "cortex_m::quantized_mul",
        (left, left_params.zero_point, right, right_params.zero_point, result.params.zero_point, multiplier, shift),
        node,
    )
    lowering.replace(result, emit_clamp(lowering.editor, call, *result.bounds, node))


@lowers(torch.ops.aten.div.Tensor)
def lower_div(lowering: Lowering, node: Node) -> None:
    dtypes = (torch.int8, torch.int16)
    left, left_params = lowering.quantized_input(node, 0, dtypes)
    right, right_params = lowering.quantized_input(node, 1, dtypes)
    result = lowering.quantized_output(node, dtypes)
    if len({left_params.dtype, right_params.dtype, result.params.dtype}) > 1:
        raise Refusal("its operands and its output are quantized to different types")
    wide = result.params.dtype == torch.int16
    if wide and (result.low > result.params.lowest or result.high < result.params.highest):
        raise Refusal(
            f"an int16 division has no bounds, and {result.low}..{result.high} is inside the range of its output"
        )
    scale = left_params.scale / (right_params.scale * result.params.scale)
    if not torch.finfo(torch.float32).tiny <= scale <= torch.finfo(torch.float32).max:
        raise Refusal(f"the scale of its quotient, {scale:g}, is no normal float32 number")
    call = lowering.emit(
        "cortex_m::quantized_div",
        (left, left_params.zero_point, right, right_params.zero_point, result.params.zero_point, scale),
        node,
    )
    lowering.replace(result, call if wide else emit_clamp(lowering.editor, call, *result.bounds, node))
