"""What is a function of one int8 tensor, element by element, becomes a table: quantized_activation."""

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node
from torch.fx.node import map_arg

from cortex_m.ops.pointwise import FUNCTIONS, POINTWISE, needs_table
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.lowering.registry import Refusal, lowers
from cortex_m.passes.qparams import QParams, dequantize_params, quantize_params, torch_op

aten = torch.ops.aten

# What decompositions leave among the operators of a function.
_TESTS = {aten.isnan.default, aten.isinf.default}
_FILLS = {aten.scalar_tensor.default: 0, aten.full.default: 1, aten.full_like.default: 1}  # position of the value
_CASTS = {torch.ops.dim_order_ops._to_dim_order_copy.default, aten._to_copy.default}

STORED = torch.arange(-128, 128, dtype=torch.int64)


@dataclass(frozen=True)
class Function:
    """`nodes`, in the order of their use, compute a float tensor from the int8 tensor behind the dequantize node `source`."""

    editor: GraphEditor
    source: Node
    nodes: tuple[Node, ...]

    @property
    def params(self) -> QParams:
        params = dequantize_params(self.source)
        assert params is not None, f"{self.source.name} does not dequantize"
        return params

    def values(self) -> torch.Tensor:
        """float64 [256]: the result for each stored value of the source, by PyTorch's operators in float64."""
        x = (STORED - self.params.zero_point).to(torch.float64) * self.params.scale
        known: dict[Node, Any] = {}

        def value(node: Node) -> Any:
            if node in known:
                return known[node]
            constant = _constant(self.editor, node)  # first: it may be quantized, too
            return x if constant is None else constant

        for node in self.nodes:
            op = torch_op(node)
            if op in _CASTS:
                known[node] = value(node.args[0])
            else:
                known[node] = op(*map_arg(node.args, value), **map_arg(node.kwargs, value))
        return known[self.nodes[-1]].expand(256)


def find_function(editor: GraphEditor, result: Node) -> Function | None:
    """How `result` depends on one int8 tensor; None if it does otherwise, or if int8 operators compute it without a table."""
    sources: list[Node] = []
    nodes: dict[Node, None] = {}

    def collect(node: Node) -> bool:
        if node in nodes or node in sources or _constant(editor, node) is not None:
            return True
        if _is_source(node):
            sources.append(node)
            return True
        op = torch_op(node)
        if op not in POINTWISE and op not in _TESTS and not _is_float_cast(node):
            return False
        if not all(collect(operand) for operand in node.all_input_nodes):
            return False
        nodes[node] = None
        return True

    if not collect(result) or not nodes or len({_origin(source) for source in sources}) != 1:
        return None
    shape = sources[0].meta["val"].shape
    if any(node.meta["val"].shape != shape for node in nodes):
        return None
    if not any(needs_table(torch_op(node), _has_constant(editor, node)) for node in nodes):
        return None
    return Function(editor, sources[0], tuple(nodes))


def entries(values: torch.Tensor, params: QParams) -> torch.Tensor:
    """int8 [256]: real values rounded half away from zero; where there is none (NaN), the entry of the nearest that has one.

    Raises Refusal if all are NaN.
    """
    defined = torch.nonzero(~values.isnan()).flatten()
    if len(defined) == 0:
        raise Refusal("it has no value for any value of its input")
    distance = (torch.arange(256)[:, None] - defined[None]).abs()
    values = values[defined[distance.argmin(1)]]
    limit = float(params.quant_max - params.quant_min)
    steps = (values / params.scale).clamp(-limit, limit)
    rounded = torch.copysign(torch.floor(steps.abs() + 0.5), steps).to(torch.int64) + params.zero_point
    return rounded.clamp(params.quant_min, params.quant_max).to(torch.int8)


def emit_clamp(editor: GraphEditor, value: Node, low: int, high: int, node: Node) -> Node:
    """`value` (int8) with stored values within low..high; itself if that is all there are."""
    if low <= -128 and high >= 127:
        return value
    lut = editor.constant(STORED.clamp(low, high).to(torch.int8), f"{node.name}_clamp")
    return editor.call("cortex_m::quantized_activation", (value, lut), node, node)


@lowers(*FUNCTIONS)
def refuse_function(lowering, node: Node) -> None:
    """What is still there after the tables are made: the reason."""
    tensors = [operand for operand in node.all_input_nodes if _constant(lowering.editor, operand) is None]
    if len(tensors) > 1:
        raise Refusal("it is a function of more than one tensor; a table has one")
    params = dequantize_params(tensors[0]) if tensors else None
    if params is None:
        raise Refusal("its input is not quantized")
    if not params.is_int8:
        raise Refusal(f"its input is quantized to {params.dtype}, not int8")
    lowering.quantized_output(node)
    raise Refusal("it changes the shape of its input")


def _is_source(node: Node) -> bool:
    params = dequantize_params(node)
    return params is not None and params.is_int8


def _is_float_cast(node: Node) -> bool:
    return (
        torch_op(node) in _CASTS
        and node.meta["val"].is_floating_point()
        and node.args[0].meta["val"].is_floating_point()
    )


def _origin(source: Node) -> tuple[Node, QParams]:
    """What a dequantize node reads: two quantizations of one float tensor with the same parameters are one."""
    stored, params = source.args[0], dequantize_params(source)
    assert params is not None, f"{source.name} does not dequantize"
    return (stored.args[0] if quantize_params(stored) == params else stored), params


def _constant(editor: GraphEditor, node: Node) -> torch.Tensor | None:
    """float64 [1] (bool stays bool): the one value of a constant, wherever it is written; None for what is no such."""
    op = torch_op(node)
    if op in _FILLS:
        value = node.args[_FILLS[op]]
        return None if isinstance(value, Node) else torch.tensor([value], dtype=torch.float64)
    constant = editor.constant_value(node)
    if constant is None or constant.numel() != 1:
        return None
    return constant.reshape(1) if constant.dtype == torch.bool else constant.reshape(1).to(torch.float64)


def _has_constant(editor: GraphEditor, node: Node) -> bool:
    return any(
        _constant(editor, operand) is not None if isinstance(operand, Node) else isinstance(operand, (int, float))
        for operand in node.args[:2]
    )
