"""What the quantizer's tests share: the PT2E recipe, and a reading of its result."""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cortex_m.quantizer.quantizer import CortexMQuantizer

_decomposed = torch.ops.quantized_decomposed
QUANTIZE = _decomposed.quantize_per_tensor.default
DEQUANTIZE = _decomposed.dequantize_per_tensor.default
DEQUANTIZE_CHANNELS = _decomposed.dequantize_per_channel.default


def quantize(
    model: torch.nn.Module,
    *calibration: tuple[torch.Tensor, ...],
    quantizer: CortexMQuantizer | None = None,
) -> tuple[GraphModule, CortexMQuantizer]:
    """The PT2E recipe up to `convert_pt2e`: calibrated on every tuple of inputs, exported with the first."""
    quantizer = quantizer or CortexMQuantizer()
    captured = torch.export.export(model.eval(), calibration[0]).module()
    prepared = prepare_pt2e(captured, quantizer)
    with torch.no_grad():
        for inputs in calibration:
            prepared(*inputs)
    return convert_pt2e(prepared), quantizer


def nodes(model: GraphModule, target) -> list[Node]:
    return [node for node in model.graph.nodes if node.target is target]


def targets(model: GraphModule) -> list[str]:
    """Names of the ATen calls in graph order, without q/dq: what is left to compute."""
    return [
        node.target._schema.name.removeprefix("aten::")
        for node in model.graph.nodes
        if node.op == "call_function" and node.target._schema.name.startswith("aten::")
    ]


def qparams(node: Node) -> tuple[float, int]:
    """(scale, zero point) of a per-tensor quantize or dequantize node."""
    assert node.target in (QUANTIZE, DEQUANTIZE), node
    return node.args[1], node.args[2]


def input_qparams(node: Node, position: int = 0) -> tuple[float, int]:
    return qparams(node.args[position])


def output_qparams(node: Node) -> tuple[float, int]:
    (user,) = node.users
    return qparams(user)


def sqnr_db(reference: torch.Tensor, other: torch.Tensor) -> float:
    """Signal to quantization noise ratio in dB: power of the reference over power of the difference."""
    reference, other = reference.detach().double(), other.detach().double()
    return float(10 * torch.log10(reference.square().sum() / (reference - other).square().sum()))
