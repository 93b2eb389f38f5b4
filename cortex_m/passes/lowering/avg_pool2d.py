"""Means: avg_pool2d and adaptive_avg_pool2d over windows of an image, mean over any dims.

quantized_avg_pool2d serves where input and output share their parameters. Otherwise, and with a divisor_override, a depthwise
convolution with ones does it exactly, with one rounding, as long as every window has the same divisor.
"""

import math
from dataclasses import dataclass

import torch
from torch.fx import Node

from cortex_m.host import library
from cortex_m.ops.reference.fixed_point import quantize_multiplier
from cortex_m.ops.reference.pooling import pooled_size
from cortex_m.passes.lowering.context import Lowering
from cortex_m.passes.lowering.movement import emit_pad, emit_transpose, emit_view
from cortex_m.passes.lowering.registry import Refusal, lowers
from cortex_m.passes.lowering.requantize import emit_requantize

aten = torch.ops.aten

_LARGEST_WINDOW = 32767  # along one axis


@dataclass(frozen=True)
class Window:
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int] = (0, 0)
    ceil_mode: bool = False
    count_include_pad: bool = False
    divisor_override: int | None = None


@dataclass(frozen=True)
class _Image:
    """An int8 tensor of rank 4 and how its dimensions are to be read."""

    node: Node
    is_nhwc: bool

    @property
    def nchw(self) -> list[int]:
        shape = list(self.node.meta["val"].shape)
        return [shape[0], shape[3], shape[1], shape[2]] if self.is_nhwc else shape

    def op(self, name: str) -> str:
        return f"cortex_m::{name}_nhwc" if self.is_nhwc else f"cortex_m::{name}"


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


@lowers(aten.mean.dim, aten.mean.default)
def lower_mean(lowering: Lowering, node: Node) -> None:
    x, _ = lowering.quantized_input(node, 0)
    shape = list(x.meta["val"].shape)
    dims = node.args[1] if len(node.args) > 1 else None
    reduced = sorted({dim % len(shape) for dim in ([dims] if isinstance(dims, int) else dims or range(len(shape)))})
    if node.kwargs.get("dtype") not in (None, torch.float32):
        raise Refusal("a mean with a dtype of its own has no lowering")
    if not shape or not all(shape):
        raise Refusal("a mean of nothing, or of one number, has no lowering")
    if len(shape) == 4 and set(reduced) <= {2, 3}:
        kernel = (shape[2] if 2 in reduced else 1, shape[3] if 3 in reduced else 1)
        _lower_window(lowering, node, Window(kernel, kernel))
        return
    if reduced != list(range(reduced[0], reduced[-1] + 1)):
        if len(shape) > 4:
            raise Refusal(
                f"a mean over dims {reduced} of rank {len(shape)} has no lowering; above rank 4 they must be neighbours"
            )
        perm = [dim for dim in range(len(shape)) if dim not in reduced] + reduced
        x = emit_transpose(lowering.editor, x, perm, node, node)
        shape, reduced = [shape[dim] for dim in perm], list(range(len(shape) - len(reduced), len(shape)))
    # As an image [N, H, W, C] the dims before the mean are N, those behind it are C.
    before, count, behind = (
        math.prod(sizes)
        for sizes in (shape[: reduced[0]], shape[reduced[0] : reduced[-1] + 1], shape[reduced[-1] + 1 :])
    )
    height = next((h for h in range(1, _LARGEST_WINDOW + 1) if count % h == 0 and count // h <= _LARGEST_WINDOW), None)
    if height is None:
        raise Refusal(
            f"a mean of {count} values has no lowering: they are no rectangle of sides up to {_LARGEST_WINDOW}"
        )
    image = emit_view(lowering.editor, x, [before, height, count // height, behind], node, node)
    kernel = (height, count // height)
    _lower_window(lowering, node, Window(kernel, kernel), image)


def _lower_window(lowering: Lowering, node: Node, window: Window, image: Node | None = None) -> None:
    """`image`: the input of `node` as NHWC, if it is not what `node` reads."""
    x, source = lowering.quantized_input(node, 0)
    result = lowering.quantized_output(node)
    x = _Image(image, True) if image is not None else _Image(x, False)
    if x.node.meta["val"].dim() != 4:
        raise Refusal(f"only pooling of rank-4 tensors is lowered; its input has rank {x.node.meta['val'].dim()}")
    shape = x.nchw
    sizes = [
        pooled_size(size, *axis, window.ceil_mode)
        for size, axis in zip(shape[2:], zip(window.kernel, window.stride, window.padding))
    ]
    same = (source.scale, source.zero_point) == (result.params.scale, result.params.zero_point)
    whole = not window.ceil_mode or all(
        (count - 1) * stride + kernel <= size + 2 * padding
        for count, size, kernel, stride, padding in zip(sizes, shape[2:], window.kernel, window.stride, window.padding)
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


def _emit_pool(lowering: Lowering, node: Node, x: _Image, source, window: Window, sizes: list[int]) -> Node:
    padding, value = window.padding, x.node
    if any(padding) and window.count_include_pad:
        # Behind the input no more than the last window reaches, so that ceil_mode adds no window that starts there.
        behind = [
            max(0, min(before, (count - 1) * stride + kernel - size - before))
            for count, stride, kernel, size, before in zip(sizes, window.stride, window.kernel, x.nchw[2:], padding)
        ]
        pairs = [padding[1], behind[1], padding[0], behind[0]]
        value = emit_pad(lowering.editor, value, pairs, source.zero_point, node, node)
        padding = (0, 0)
    size = lowering.scratch_size(library.avg_pool_scratch_size, output_width=sizes[1], channels=x.nchw[1])
    return lowering.emit(
        x.op("quantized_avg_pool2d"),
        (
            value, list(window.kernel), list(window.stride), list(padding), window.ceil_mode,
            source.zero_point, *quantize_multiplier(source.scale), lowering.scratch(size, node),
        ),
        node,
    )  # fmt: skip


def _emit_ones(lowering: Lowering, node: Node, x: _Image, source, result, window: Window, sizes: list[int]) -> Node:
    n, c, h, w = x.nchw
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
        x.op("quantized_depthwise_conv2d"),
        (
            x.node,
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
