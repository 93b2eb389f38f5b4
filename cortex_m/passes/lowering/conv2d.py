"""aten.convolution over two spatial dimensions: quantized_conv2d or quantized_depthwise_conv2d."""

import torch
from torch.fx import Node

from cortex_m.host import library
from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.registry import Refusal, lowers


@lowers(torch.ops.aten.convolution.default)
def lower_convolution(lowering: Lowering, node: Node) -> None:
    _, _, bias_node, stride, padding, dilation, transposed, _, groups = node.args
    if transposed:
        raise Refusal("transposed convolution has no lowering")
    x, source = lowering.quantized_input(node, 0)
    if x.meta["val"].dim() != 4:
        raise Refusal(f"only convolutions over two spatial dimensions are lowered; its input has rank {x.meta['val'].dim()}")
    stride, padding, dilation = (list(map(int, _pair(values))) for values in (stride, padding, dilation))
    weights = lowering.weights(node, 1)
    result = lowering.quantized_output(node)
    scales = weights.scales * source.scale
    bias = lowering.bias(bias_node, scales)
    multipliers, shifts = lowering.requantization(scales / result.params.scale, weights.values, bias, source)

    channels = x.meta["val"].shape[1]
    depthwise = groups == channels and channels > 1
    # torch keeps weights as [O, I, kH, kW]; a depthwise filter has I = 1.
    stored = weights.values.permute((1, 2, 3, 0) if depthwise else (0, 2, 3, 1)).contiguous()
    n, c, h, w = x.meta["val"].shape
    _, o, oh, ow = node.meta["val"].shape
    geometry = dict(
        input_nhwc=(n, h, w, c), filter_dims=tuple(stored.shape), output_nhwc=(n, oh, ow, o),
        stride=stride, padding=padding, dilation=dilation,
    )  # fmt: skip
    if depthwise:
        size = lowering.scratch_size(library.depthwise_conv_scratch_size, depth_multiplier=o // c, **geometry)
    else:
        size = lowering.scratch_size(library.convolve_scratch_size, **geometry)
    if bias is None:
        bias = torch.zeros(o, dtype=torch.int32)  # 4 bytes a channel; a kernel without bias is one more path to trust
    call = lowering.emit(
        "cortex_m::quantized_depthwise_conv2d" if depthwise else "cortex_m::quantized_conv2d",
        (
            x,
            lowering.constant(stored, node, "weight"),
            lowering.constant(bias, node, "bias"),
            stride, padding, dilation,
            *((o // c,) if depthwise else ()),
            -source.zero_point,
            result.params.zero_point,
            lowering.int32(multipliers, node, "multipliers"),
            lowering.int32(shifts, node, "shifts"),
            *result.bounds,
            lowering.scratch(size, node),
        ),
        node,
    )  # fmt: skip
    lowering.replace(result, call)


def _pair(values) -> list[int]:
    values = list(values)
    return values * 2 if len(values) == 1 else values
