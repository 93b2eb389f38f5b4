"""Means over windows of an image: avg_pool2d, adaptive_avg_pool2d and mean over height and width.

quantized_avg_pool2d serves where input and output share their parameters. Otherwise, and with a divisor_override, a depthwise
convolution with ones does it exactly, with one rounding, as long as every window has the same divisor.
"""

from dataclasses import dataclass

import torch
from torch.fx import Node

from cortex_m.host import library
from cortex_m.ops.reference.fixed_point import quantize_multiplier
from cortex_m.ops.reference.pooling import pooled_size
from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.movement import emit_pad, emit_view
from cortex_m.passes.lowering.registry import Refusal, lowers
from cortex_m.passes.lowering.requantize import emit_requantize

aten = torch.ops.aten


@dataclass(frozen=True)
class Window:
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int] = (0, 0)
    ceil_mode: bool = False
    count_include_pad: bool = False
    divisor_override: int | None = None


def _pair(value) -> tuple[int, int]:
    values = [value] if isinstance(value, int) else list(value)
    return (int(values[0]), int(values[-1]))


@lowers(aten.avg_pool2d.default)
def lower_avg_pool2d(lowering: Lowering, node: Node) -> None:
    names = [argument.name for argument in aten.avg_pool2d.default._schema.arguments]
    given = dict(zip(names, node.args)) | node.kwargs
    kernel = _pair(given["kernel_size"])
    window = Window(
        kernel,
        _pair(given["stride"]) if given.get("stride") else kernel,
        _pair(given.get("padding", 0)),
        bool(given.get("ceil_mode", False)),
        bool(given.get("count_include_pad", True)),
        given.get("divisor_override"),
    )
    _lower_window(lowering, node, window)


@lowers(aten._adaptive_avg_pool2d.default, aten.adaptive_avg_pool2d.default)
def lower_adaptive_avg_pool2d(lowering: Lowering, node: Node) -> None:
    h, w = node.args[0].meta["val"].shape[-2:]
    oh, ow = _pair(node.args[1])
    if h % oh or w % ow:
        raise Refusal(f"adaptive pooling of {h}x{w} to {oh}x{ow} has windows of different sizes")
    _lower_window(lowering, node, Window((h // oh, w // ow), (h // oh, w // ow)))


@lowers(aten.mean.dim)
def lower_mean(lowering: Lowering, node: Node) -> None:
    shape = node.args[0].meta["val"].shape
    dims = node.args[1]
    reduced = {dim % len(shape) for dim in ([dims] if isinstance(dims, int) else dims or ())}
    if len(shape) != 4 or not reduced or not reduced <= {2, 3}:
        raise Refusal("only a mean over height, width or both of a rank-4 tensor is lowered")
    if node.kwargs.get("dtype") not in (None, torch.float32):
        raise Refusal("a mean with a dtype of its own has no lowering")
    kernel = (shape[2] if 2 in reduced else 1, shape[3] if 3 in reduced else 1)
    _lower_window(lowering, node, Window(kernel, kernel))


def _lower_window(lowering: Lowering, node: Node, window: Window) -> None:
    x, source = lowering.quantized_input(node, 0)
    result = lowering.quantized_output(node)
    if x.meta["val"].dim() != 4:
        raise Refusal(f"only pooling of rank-4 tensors is lowered; its input has rank {x.meta['val'].dim()}")
    shape = x.meta["val"].shape
    sizes = [
        pooled_size(size, *axis, window.ceil_mode)
        for size, axis in zip(shape[2:], zip(window.kernel, window.stride, window.padding))
    ]
    same = (source.scale, source.zero_point) == (result.params.scale, result.params.zero_point)
    whole = not window.ceil_mode or all(
        (count - 1) * stride + kernel <= size + 2 * padding
        for count, size, kernel, stride, padding in zip(
            sizes, shape[2:], window.kernel, window.stride, window.padding
        )
    )
    padded = any(window.padding)
    constant_divisor = whole and (window.divisor_override is not None or not padded or window.count_include_pad)
    if window.divisor_override is not None and not constant_divisor:
        raise Refusal("divisor_override with a last window that reaches beyond the padded input has no lowering")
    if constant_divisor and (not same or window.divisor_override is not None):
        value = _emit_ones(lowering, node, x, source, result, window, sizes)
    else:
        value = _emit_pool(lowering, node, x, source, window, sizes)
        value = emit_requantize(lowering.editor, value, source, result.params, node, node, result.low, result.high)
    value = emit_view(lowering.editor, value, list(node.meta["val"].shape), node, node)
    lowering.replace(result, value)


def _emit_pool(lowering: Lowering, node: Node, x: Node, source, window: Window, sizes: list[int]) -> Node:
    padding = window.padding
    if any(padding) and window.count_include_pad:
        x_padded_sizes = [size + 2 * amount for size, amount in zip(x.meta["val"].shape[2:], padding)]
        if sizes != [
            pooled_size(size, kernel, stride, 0, window.ceil_mode)
            for size, kernel, stride in zip(x_padded_sizes, window.kernel, window.stride)
        ]:
            raise Refusal("ceil_mode with count_include_pad gives a window that starts in the padding; it has no lowering")
        pairs = [padding[1], padding[1], padding[0], padding[0]]
        x = emit_pad(lowering.editor, x, pairs, source.zero_point, node, node)
        padding = (0, 0)
    n, c, h, w = x.meta["val"].shape
    size = lowering.scratch_size(library.avg_pool_scratch_size, output_width=sizes[1], channels=c)
    return lowering.emit(
        "cortex_m::quantized_avg_pool2d",
        (
            x, list(window.kernel), list(window.stride), list(padding), window.ceil_mode,
            source.zero_point, *quantize_multiplier(source.scale), lowering.scratch(size, node),
        ),
        node,
    )  # fmt: skip


def _emit_ones(lowering: Lowering, node: Node, x: Node, source, result, window: Window, sizes: list[int]) -> Node:
    n, c, h, w = x.meta["val"].shape
    divisor = window.divisor_override or window.kernel[0] * window.kernel[1]
    ones = torch.ones((1, *window.kernel, c), dtype=torch.int8)
    factors = torch.full((c,), source.scale / (divisor * result.params.scale), dtype=torch.float64)
    multipliers, shifts = lowering.requantization(factors, ones[0].permute(2, 0, 1), None, source)
    geometry = dict(
        input_nhwc=(n, h, w, c), filter_dims=tuple(ones.shape), output_nhwc=(n, *sizes, c),
        stride=list(window.stride), padding=list(window.padding), dilation=[1, 1],
    )  # fmt: skip
    size = lowering.scratch_size(library.depthwise_conv_scratch_size, depth_multiplier=1, **geometry)
    return lowering.emit(
        "cortex_m::quantized_depthwise_conv2d",
        (
            x,
            lowering.constant(ones, node, "ones"),
            lowering.int32([0] * c, node, "bias"),
            list(window.stride), list(window.padding), [1, 1], 1,
            -source.zero_point, result.params.zero_point,
            lowering.int32(multipliers, node, "multipliers"),
            lowering.int32(shifts, node, "shifts"),
            *result.bounds,
            lowering.scratch(size, node),
        ),
        node,
    )  # fmt: skip
