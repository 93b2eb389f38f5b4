"""What the lowering functions share: reading quantized operands, checking ranges, and putting the new op in place."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from executorch.exir import memory
from torch.fx import Node

from cortex_m.ops.reference.fixed_point import INT32_MAX, quantize_multiplier
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.lowering.clamps import clamp_bounds
from cortex_m.passes.lowering.registry import Refusal
from cortex_m.passes.qparams import QParams, dequantize_params, quantize_params, torch_op
from cortex_m.target_config import CortexMTargetConfig


@dataclass(frozen=True)
class Result:
    """Where an op's float result goes: through clamps, if any, into quantize nodes of equal parameters."""

    params: QParams
    quantizers: tuple[Node, ...]
    low: float
    high: float

    @property
    def bounds(self) -> tuple[int, int]:
        """activation_min and activation_max as stored integers."""
        return self.params.quantize(self.low), self.params.quantize(self.high)


@dataclass(frozen=True)
class Weights:
    """An int8 constant with zero point 0 and one scale for each index of its dimension `axis`."""

    values: torch.Tensor
    scales: torch.Tensor  # float64 [size of that dimension]
    per_channel: bool
    axis: int = 0


class Lowering:
    """One run over a graph; handed to every lowering function."""

    def __init__(self, editor: GraphEditor, target: CortexMTargetConfig) -> None:
        self.editor = editor
        self.target = target

    # Reading

    def quantized_input(
        self, node: Node, index: int, dtypes: tuple[torch.dtype, ...] = (torch.int8,)
    ) -> tuple[Node, QParams]:
        """The quantized tensor behind argument `index`, and its parameters."""
        source = node.args[index]
        params = dequantize_params(source)
        if params is None:
            raise Refusal(f"its input {index} is not quantized")
        if not params.is_int8 and params.dtype not in dtypes:
            raise Refusal(f"its input {index} is quantized to {params.dtype}, not int8")
        return source.args[0], params

    def quantized_output(self, node: Node, dtypes: tuple[torch.dtype, ...] = (torch.int8,)) -> Result:
        """The quantized tensor that `node`, with the clamps after it, is rounded to."""
        low, high = -math.inf, math.inf
        value = node
        while True:
            users = list(value.users)
            params = quantize_params(users[0]) if users else None
            if params is not None and all(quantize_params(user) == params for user in users):
                break
            bounds = clamp_bounds(users[0]) if len(users) == 1 else None
            if bounds is None:
                raise Refusal("its output is not quantized, or not with one set of parameters for all readers")
            low, high = (min(max(bound, bounds[0]), bounds[1]) for bound in (low, high))
            value = users[0]
        if not params.is_int8 and params.dtype not in dtypes:
            raise Refusal(f"its output is quantized to {params.dtype}, not int8")
        return Result(params, tuple(users), low, high)

    def weights(self, node: Node, index: int, axes: tuple[int, ...] = (0,)) -> Weights:
        """Argument `index` as int8 weights; refuses what is not constant, int8, symmetric, and scaled along one of `axes`."""
        source = node.args[index]
        op = torch_op(source) if isinstance(source, Node) else None
        per_channel = op == torch.ops.quantized_decomposed.dequantize_per_channel.default
        params = dequantize_params(source)
        if not per_channel and params is None:
            raise Refusal("its weights are not quantized")
        values = self.editor.constant_value(source.args[0])
        if values is None:
            raise Refusal("its weights are not constant")
        if values.dtype != torch.int8:
            raise Refusal(f"its weights are {values.dtype}, not int8")
        if params is None:  # per channel
            scales = self.editor.constant_value(source.args[1])
            zeros = self.editor.constant_value(source.args[2])
            axis = source.args[3]
            if scales is None or axis not in axes:
                raise Refusal(f"its weights are not scaled by constants along dimension {' or '.join(map(str, axes))}")
            symmetric = zeros is None or not bool(zeros.any())
            scales = scales.to(torch.float64)
        else:
            symmetric, axis = params.zero_point == 0, 0
            scales = torch.full((values.shape[0],), params.scale, dtype=torch.float64)
        if not symmetric:
            raise Refusal("its weights have a zero point other than 0")
        return Weights(values, scales, per_channel, axis)

    def bias(self, source: Node | None, scales: torch.Tensor) -> torch.Tensor | None:
        """Argument `source` as int32 [channels] in units of `scales` (float64, input scale * weight scales), or None."""
        if source is None:
            return None
        real = self.editor.constant_value(source)
        if real is None:
            raise Refusal("its bias is not constant")
        stored = self._stored_bias(source, scales)
        if stored is None:
            stored = torch.round(real.detach().to(torch.float64) / scales)
        if float(stored.abs().max()) > INT32_MAX:
            raise Refusal("its bias does not fit an int32 in units of input scale times weight scale")
        return stored.to(torch.int32)

    def _stored_bias(self, source: Node, scales: torch.Tensor) -> torch.Tensor | None:
        """The int32 values of a dequantize node whose scales are `scales` up to float32 rounding."""
        op = torch_op(source)
        if op == torch.ops.quantized_decomposed.dequantize_per_channel.default:
            given = self.editor.constant_value(source.args[1])
            zeros = self.editor.constant_value(source.args[2])
        elif op == torch.ops.quantized_decomposed.dequantize_per_tensor.default:
            given, zeros = torch.tensor(source.args[1]), torch.tensor(source.args[2])
        else:
            return None
        stored = self.editor.constant_value(source.args[0])
        if given is None or stored is None or (zeros is not None and bool(zeros.any())):
            return None
        close = torch.allclose(given.to(torch.float64).expand_as(scales), scales, rtol=1e-5, atol=0.0)
        return stored.to(torch.float64) if close else None

    # Checking

    def requantization(
        self, factors: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor | None, source: QParams
    ) -> tuple[list[int], list[int]]:
        """Multipliers and shifts for sums over rows of `weights`; refuses a row whose sum can leave int32."""
        try:
            pairs = [quantize_multiplier(float(factor)) for factor in factors]
        except ValueError as error:
            raise Refusal(str(error)) from error
        farthest = max(source.quant_max - source.zero_point, source.zero_point - source.quant_min)
        sums = weights.to(torch.int64).abs().flatten(1).sum(1) * farthest
        if bias is not None:
            sums = sums + bias.to(torch.int64).abs()
        for channel, (total, (_, shift)) in enumerate(zip(sums.tolist(), pairs)):
            if total << max(shift, 0) > INT32_MAX - 256:
                raise Refusal(
                    f"the sum of output channel {channel} can reach {total}, and shifted by {max(shift, 0)} bits it leaves int32"
                )
        return [multiplier for multiplier, _ in pairs], [shift for _, shift in pairs]

    # Writing

    def emit(self, name: str, args: tuple, node: Node) -> Node:
        """A call of `name` in the place of `node`."""
        return self.editor.call(name, args, node, node)

    def constant(self, tensor: torch.Tensor, node: Node, role: str) -> Node:
        """A constant that belongs to `node`, named after it."""
        return self.editor.constant(tensor, f"{node.name}_{role}")

    def int32(self, values: list[int], node: Node, role: str) -> Node:
        return self.constant(torch.tensor(values, dtype=torch.int32), node, role)

    def scratch_size(self, query: Callable[..., int], **geometry: Any) -> int:
        """What a query of cortex_m.host.library says for the target; refuses what no kernel takes."""
        try:
            return max(query(backend, **geometry) for backend in self.target.backends)
        except ValueError as error:
            raise Refusal(str(error)) from error

    def scratch(self, size: int, node: Node) -> Node:
        """`size` bytes of planned memory, free again after the one call that takes them."""
        return self.editor.call_target(memory.alloc, (((size,), torch.uint8),), node, node)

    def replace(self, result: Result, value: Node) -> None:
        """Readers of the quantized result read `value` instead."""
        for quantizer in result.quantizers:
            self.editor.replace(quantizer, value)
            self.editor.erase_if_unused(quantizer)
