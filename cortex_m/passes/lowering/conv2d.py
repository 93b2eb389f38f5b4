"""aten.convolution over one or two spatial dimensions: quantized_conv2d, quantized_depthwise_conv2d or quantized_transpose_conv2d."""

from typing import NamedTuple

import torch
from torch.fx import Node

from cortex_m.host import library
from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.movement import emit_view
from cortex_m.passes.lowering.registry import Refusal, lowers
from cortex_m.passes.qparams import torch_op


class _Geometry(NamedTuple):
    """Spatial arguments of a convolution, {height, width} each."""

    stride: list[int]
    padding: list[int]
    dilation: list[int]
    output_padding: list[int]


@lowers(torch.ops.aten.convolution.default)
def lower_convolution(lowering: Lowering, node: Node) -> None:
    _, _, bias_node, stride, padding, dilation, transposed, output_padding, groups = node.args
    x, source = lowering.quantized_input(node, 0)
    rank = x.meta["val"].dim()
    if rank not in (3, 4):
        raise Refusal(f"only convolutions over one or two spatial dimensions are lowered; its input has rank {rank}")
    # Where there is one dimension, it is the width.
    geometry = _Geometry(
        *(_pair(values, fill) for values, fill in ((stride, 1), (padding, 0), (dilation, 1), (output_padding, 0)))
        if rank == 3
        else (_pair(values) for values in (stride, padding, dilation, output_padding))
    )
    if not transposed:
        x, geometry = _with_pad_before(lowering, node, x, source.zero_point, geometry)
    weights = lowering.weights(node, 1, axes=(0, 1) if transposed else (0,))
    result = lowering.quantized_output(node)
    values = weights.values.unsqueeze(2) if rank == 3 else weights.values
    channel_scales = _spread(weights, groups) if transposed else weights.scales
    scales = channel_scales * source.scale
    bias = lowering.bias(bias_node, scales)

    shape = list(x.meta["val"].shape)
    depthwise = not transposed and groups == shape[1] and shape[1] > 1
    # torch keeps weights as [O, I, kH, kW], transposed ones as [I, O, kH, kW] group after group; a depthwise filter has I = 1.
    if transposed:
        stored = torch.cat([part.permute(1, 2, 3, 0) for part in values.chunk(groups)])
        rows = stored
    else:
        stored, rows = values.permute((1, 2, 3, 0) if depthwise else (0, 2, 3, 1)), values
    multipliers, shifts = lowering.requantization(scales / result.params.scale, rows, bias, source)
    if bias is None:
        bias = torch.zeros(
            len(scales), dtype=torch.int32
        )  # 4 bytes a channel; a kernel without bias is one more path to trust

    if rank == 3:
        x = emit_view(lowering.editor, x, [shape[0], shape[1], 1, shape[2]], node, node)
    constants = (
        lowering.constant(stored.contiguous(), node, "weight"),
        lowering.constant(bias, node, "bias"),
    )
    quantization = (
        -source.zero_point,
        result.params.zero_point,
        lowering.int32(multipliers, node, "multipliers"),
        lowering.int32(shifts, node, "shifts"),
        *result.bounds,
    )
    between: tuple
    n, c, h, w = x.meta["val"].shape
    out = list(node.meta["val"].shape)
    sizes = dict(
        input_nhwc=(n, h, w, c), filter_dims=tuple(stored.shape), output_nhwc=(n, *([1, *out[2:]][-2:]), out[1]),
        stride=geometry.stride, padding=geometry.padding, dilation=geometry.dilation,
    )  # fmt: skip
    if transposed:
        sizes["output_padding"] = geometry.output_padding
        queries = (library.transpose_conv_scratch_size, library.transpose_conv_output_scratch_size)
        scratches: tuple = tuple(lowering.scratch_size(query, **sizes) for query in queries)
        name, between = "quantized_transpose_conv2d", (geometry.output_padding, geometry.dilation)
    elif depthwise:
        multiplier = out[1] // c
        scratch = lowering.scratch_size(library.depthwise_conv_scratch_size, depth_multiplier=multiplier, **sizes)
        name, between, scratches = "quantized_depthwise_conv2d", (geometry.dilation, multiplier), (scratch,)
    else:
        scratch = lowering.scratch_size(library.convolve_scratch_size, **sizes)
        name, between, scratches = "quantized_conv2d", (geometry.dilation,), (scratch,)
    call = lowering.emit(
        f"cortex_m::{name}",
        (
            x, *constants, geometry.stride, geometry.padding, *between, *quantization,
            *(lowering.scratch(size, node) for size in scratches),
        ),
        node,
    )  # fmt: skip
    lowering.replace(result, emit_view(lowering.editor, call, out, node, node))


def _with_pad_before(
    lowering: Lowering, node: Node, x: Node, zero_point: int, geometry: _Geometry
) -> tuple[Node, _Geometry]:
    """The input of `node` without the pad of zeros that `x` is, and a geometry with that padding; as they are for another x.

    A convolution reads its own padding as zero points and pads both ends alike.
    """
    shape = list(x.meta["val"].shape)
    of_rows = torch_op(x) == torch.ops.aten.view_copy.default and shape == _with_height(x.args[0].meta["val"].shape)
    pad = x.args[0] if of_rows else x
    if torch_op(pad) != torch.ops.cortex_m.pad.default:
        return x, geometry
    value, before, after, fill = pad.args
    others = before[: 3 if len(pad.meta["val"].shape) == 3 else 2]
    if fill != zero_point or before != after or any(others):
        return x, geometry
    padding = [own + more for own, more in zip(geometry.padding, before[2:])]
    kernel = _with_height(node.args[1].meta["val"].shape)[2:]
    if any(wide > (size - 1) * dilation for wide, size, dilation in zip(padding, kernel, geometry.dilation)):
        return x, geometry  # there are windows that see padding alone
    if of_rows:
        value = emit_view(lowering.editor, value, _with_height(value.meta["val"].shape), node, node)
    return value, geometry._replace(padding=padding)


def _with_height(shape) -> list[int]:
    """Sizes of an image from those of a row, {n, c, w}; those of an image as they are."""
    sizes = [int(size) for size in shape]
    return [*sizes[:2], 1, sizes[2]] if len(sizes) == 3 else sizes


def _pair(values, fill: int | None = None) -> list[int]:
    """{height, width} of a list of one or two values; `fill` is the height where the only value is the width."""
    values = [int(value) for value in values]
    if len(values) == 2:
        return values
    return [values[0] if fill is None else fill, values[0]]


def _spread(weights, groups: int) -> torch.Tensor:
    """One scale for each output channel of a transposed convolution, from scales along dimension 0 or 1 of its weight."""
    inputs, outputs = weights.values.shape[:2]
    if weights.axis == 1:
        return weights.scales.repeat(groups)
    by_group = weights.scales.view(groups, inputs // groups)
    if bool((by_group != by_group[:, :1]).any()):
        raise Refusal("the weights of one output channel have different scales")
    return by_group[:, 0].repeat_interleave(outputs)
