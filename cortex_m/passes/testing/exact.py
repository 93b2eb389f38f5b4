"""What a lowered program must give, to the bit: computed from the quantized graph before lowering, after docs/numerics.md.

The graph is walked with integers: a dequantize node hands them on, an operator between dequantize and quantize nodes becomes exact
sums and the roundings that the document states, and what only moves data moves the integers. Nothing here asks the passes,
or cortex_m/ops/reference. `parameters` are the multipliers and shifts that the operators of the program must have.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.node import map_arg

import cortex_m.ops.operators  # noqa: F401  (registers torch.ops.cortex_m)
from cortex_m.passes.testing import elementwise, movement, sums  # noqa: F401  (imported for the rules they register)
from cortex_m.passes.testing.rules import RULES, Call
from cortex_m.passes.testing.values import Params, Record, Value, of_stored, quantized

_decomposed = torch.ops.quantized_decomposed


@dataclass(frozen=True)
class Expected:
    """Outputs, and what the program must know: `needed` parameters, and those it may have besides."""

    outputs: list[torch.Tensor]
    needed: set[tuple]
    permitted: set[tuple]


def expect(exported: ExportedProgram, inputs: Sequence[torch.Tensor]) -> Expected:
    """What the lowered form of `exported`, a graph with quantize and dequantize nodes, must give for `inputs`."""
    module = exported.run_decompositions({}).module()
    walk = _Walk(module)
    with torch.no_grad():
        outputs = walk.run(inputs)
    return Expected([value.real for value in outputs], walk.record.needed, walk.record.permitted)


class _Walk:
    def __init__(self, module: torch.fx.GraphModule) -> None:
        self.module = module
        self.record = Record()
        self.known: dict[Node, Value] = {}
        self.quantized: dict[tuple, Value] = {}  # equal quantizations of one tensor are one value

    def run(self, inputs: Sequence[torch.Tensor]) -> list[Value]:
        given = iter(inputs)
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                self.known[node] = Value(next(given))
            elif node.op == "get_attr":
                self.known[node] = Value(operator.attrgetter(node.target)(self.module), constant=True)
            elif node.op == "call_function":
                self.known[node] = self._call(node)
        results = self.module.graph.output_node().args[0]
        return [self.known[node] for node in (results if isinstance(results, (tuple, list)) else [results])]

    def _call(self, node: Node) -> Value:
        args = map_arg(node.args, lambda arg: self.known[arg])
        kwargs = map_arg(node.kwargs, lambda arg: self.known[arg])
        if node.target is operator.getitem:
            source, index = args
            if source.items is not None:
                return source.items[index]
            return Value(source.real[index], source.constant)
        if node.target == _decomposed.quantize_per_tensor.default:
            return self._quantize(*args)
        if node.target == _decomposed.dequantize_per_tensor.default:
            return self._dequantize(*args)
        if node.target == _decomposed.dequantize_per_channel.default:
            return _dequantize_channels(*args)
        operands = [self.known[operand] for operand in node.all_input_nodes]
        call = Call(node.target, tuple(args), dict(kwargs), all(o.constant for o in operands), self.record)
        if call.constant:
            return call.plain()
        for rule in RULES.get(node.target.overloadpacket, ()):
            result = rule(call)
            if result is not None:
                return result
        return call.plain()

    def _quantize(self, value: Value, scale: Any, zero_point: Any, low: int, high: int, dtype: torch.dtype) -> Value:
        params = Params(float(scale), int(zero_point), low, high, dtype)
        key = (id(value), params)
        if key not in self.quantized:
            stored = np.asarray(quantized(value, params, self.record))  # a scalar is an array, too
            self.quantized[key] = Value(torch.from_numpy(stored).to(dtype), value.constant, stored, params)
        return self.quantized[key]

    def _dequantize(self, value: Value, scale: Any, zero_point: Any, low: int, high: int, dtype: torch.dtype) -> Value:
        params = Params(float(scale), int(zero_point), low, high, dtype)
        stored = value.stored if value.stored is not None else value.real.to(torch.int64).numpy()
        key = (id(value), params, "back")
        if key not in self.quantized:
            self.quantized[key] = of_stored(stored, params, value.constant)
        return self.quantized[key]


def _dequantize_channels(value: Value, scales: Value, zeros: Value, axis: int, *range_: Any) -> Value:
    real = _decomposed.dequantize_per_channel(value.real, scales.real, zeros.real, axis, *range_)
    if bool(zeros.real.any()):
        return Value(real, value.constant)
    stored = value.real.to(torch.int64).numpy()
    return Value(real, value.constant, stored, channels=(scales.real.to(torch.float64).numpy(), axis))
