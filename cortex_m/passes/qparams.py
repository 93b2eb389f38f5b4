"""Quantization parameters of a tensor, and the quantize and dequantize nodes that carry them."""

from dataclasses import dataclass
from typing import Any

import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401  (registers the quantized_decomposed out variants)
import torch
from torch.fx import Node

import cortex_m.ops.operators  # noqa: F401  (registers torch.ops.cortex_m)


@dataclass(frozen=True)
class QParams:
    """real = (stored - zero_point) * scale, stored within [quant_min, quant_max]; one scale for the whole tensor."""

    scale: float
    zero_point: int
    quant_min: int
    quant_max: int
    dtype: torch.dtype

    @property
    def is_int8(self) -> bool:
        return self.dtype == torch.int8 and -128 <= self.quant_min <= self.quant_max <= 127

    @property
    def lowest(self) -> float:
        """The least real value that a stored integer stands for."""
        return (self.quant_min - self.zero_point) * self.scale

    @property
    def highest(self) -> float:
        """The greatest."""
        return (self.quant_max - self.zero_point) * self.scale

    def quantize(self, value: float) -> int:
        """The stored integer of a real value, ties to even; infinities go to the rails."""
        steps = value / self.scale
        if steps >= self.quant_max - self.zero_point:
            return self.quant_max
        if steps <= self.quant_min - self.zero_point:
            return self.quant_min
        return min(max(round(steps) + self.zero_point, self.quant_min), self.quant_max)

    def holds_exactly(self, value: float) -> bool:
        """True if a stored integer stands for `value` itself."""
        steps = value / self.scale
        return steps == round(steps) and self.quant_min <= steps + self.zero_point <= self.quant_max

    def args(self) -> tuple[Any, ...]:
        """Arguments of a quantize or dequantize op after its input."""
        return (self.scale, self.zero_point, self.quant_min, self.quant_max, self.dtype)


def torch_op(node: Node) -> Any:  # torch._ops.OpOverload | None: which of them, many callers know from the target
    """The ATen-level overload of a call, with the edge dialect's wrapper taken off; None for anything else."""
    if node.op != "call_function":
        return None
    # An OpOverload has an `_op` of its own, which is something else than the edge dialect's.
    target = node.target if isinstance(node.target, torch._ops.OpOverload) else getattr(node.target, "_op", None)
    return target if isinstance(target, torch._ops.OpOverload) else None


_QUANTIZE = {
    torch.ops.quantized_decomposed.quantize_per_tensor.default,
    torch.ops.cortex_m.quantize_per_tensor.default,
}
_DEQUANTIZE = {
    torch.ops.quantized_decomposed.dequantize_per_tensor.default,
    torch.ops.cortex_m.dequantize_per_tensor.default,
}


def _read(node: Any, targets: set) -> QParams | None:
    if not isinstance(node, Node) or torch_op(node) not in targets:
        return None
    if len(node.args) < 6 or any(isinstance(arg, Node) for arg in node.args[1:6]) or node.kwargs.get("out_dtype"):
        return None
    scale, zero_point, quant_min, quant_max, dtype = node.args[1:6]
    return QParams(float(scale), int(zero_point), int(quant_min), int(quant_max), dtype)


def quantize_params(node: Any) -> QParams | None:
    """The parameters of a per-tensor quantize node, None for any other object."""
    return _read(node, _QUANTIZE)


def dequantize_params(node: Any) -> QParams | None:
    """The parameters of a per-tensor dequantize node, None for any other object."""
    return _read(node, _DEQUANTIZE)
