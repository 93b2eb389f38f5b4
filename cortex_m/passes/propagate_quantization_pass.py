"""Moves quantize up and dequantize down through ops that only move data, so that these run on int8; then cancels pairs.

move(dequantize(x), ...)     ->  dequantize(move(x, ...))
quantize(move(y, ...))       ->  move(quantize(y), ...)
read(dequantize(x))          ->  read(x)
quantize(dequantize(x))      ->  x with equal parameters, else an int8 requantization
"""

import operator
from typing import Any

import torch
from torch.fx import Node

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.lowering.movement import MOVEMENTS, READS, Move, operands
from cortex_m.passes.lowering.movements import MULTIPLE, rebuild_result
from cortex_m.passes.lowering.registry import Refusal
from cortex_m.passes.lowering.requantize import emit_requantize
from cortex_m.passes.qparams import QParams, dequantize_params, quantize_params, torch_op


class PropagateQuantizationPass(CortexMPass):
    def run(self, editor: GraphEditor) -> None:
        for node in reversed(list(editor.graph.nodes)):
            if not node._erased:
                self._hoist(editor, node)
        for node in list(editor.graph.nodes):
            if not node._erased:
                self._sink(editor, node)
        for node in list(editor.graph.nodes):
            if not node._erased:
                self._cancel(editor, node)

    def _hoist(self, editor: GraphEditor, quantize: Node) -> None:
        """quantize(move(y)) -> move(quantize(y)), again and again; only where nobody else wants move(y)."""
        params = quantize_params(quantize)
        if params is None or not params.is_int8 or torch_op(quantize.args[0]) not in MOVEMENTS:
            return
        move = quantize.args[0]
        sources = operands(move)
        if len(move.users) > 1 or editor.constant_value(move) is not None or not _keeps_all(editor, move, sources):
            return
        earlier = {
            source: editor.call_target(quantize.target, (source, *params.args()), quantize, quantize)
            for source in sources
        }
        moved = _rebuild(Move(editor, move, tuple(earlier.values()), params, quantize))
        if moved is None:
            for node in earlier.values():
                editor.graph.erase_node(node)
            return
        editor.replace(quantize, moved)
        editor.erase_if_unused(quantize)
        for node in earlier.values():
            if not node._erased:
                self._hoist(editor, node)

    def _sink(self, editor: GraphEditor, move: Node) -> None:
        """move(dequantize(x)) -> dequantize(move(x)), and read(dequantize(x)) -> read(x)."""
        op = torch_op(move)
        if op in MULTIPLE:
            self._sink_results(editor, move)
            return
        if op not in MOVEMENTS and op not in READS:
            return
        found = _stored(editor, move, operands(move))
        if found is None:
            return
        values, params, dequantize = found
        moved = _rebuild(Move(editor, move, values, params, move))
        if moved is None:
            return
        if op in MOVEMENTS:
            moved = editor.call_target(dequantize.target, (moved, *params.args()), move, dequantize)
        editor.replace(move, moved)
        editor.erase_if_unused(move)

    def _sink_results(self, editor: GraphEditor, move: Node) -> None:
        found = _stored(editor, move, [move.args[0]])
        if found is None or any(user.target is not operator.getitem for user in move.users):
            return
        values, params, dequantize = found
        for item in list(move.users):
            result, is_moved = rebuild_result(Move(editor, move, values, params, item), item.args[1])
            if is_moved:
                result = editor.call_target(dequantize.target, (result, *params.args()), item, dequantize)
            editor.replace(item, result)
            editor.erase_if_unused(item)

    def _cancel(self, editor: GraphEditor, quantize: Node) -> None:
        params = quantize_params(quantize)
        if params is None:
            return
        source = quantize.args[0]
        previous = dequantize_params(source)
        if previous is None or not previous.is_int8 or not params.is_int8:
            return
        if editor.constant_value(quantize) is not None:
            return
        try:
            value = emit_requantize(editor, source.args[0], previous, params, quantize, quantize)
        except Refusal as refusal:
            self.report.refuse(quantize, str(refusal))
            return
        editor.replace(quantize, value)
        editor.erase_if_unused(quantize)


def _rebuild(move: Move) -> Node | None:
    op = torch_op(move.node)
    return (MOVEMENTS.get(op) or READS[op]).rule(move)


def _keeps_all(editor: GraphEditor, move: Node, sources: list[Any]) -> bool:
    """False for what passes on a part of its operands alone: less is to be quantized after it than before."""
    if not all(isinstance(source, Node) for source in sources):
        return False
    # Constants are quantized here and now.
    moving = [source for source in sources if editor.constant_value(source) is None]
    return move.meta["val"].numel() >= sum(source.meta["val"].numel() for source in moving)


def _stored(editor: GraphEditor, move: Node, sources: list[Any]) -> tuple[tuple[Node, ...], QParams, Node] | None:
    """The int8 tensors behind operands of one scale, that scale's parameters, and a dequantize node of theirs.

    A constant among them may be float, if its values are numbers of that scale.
    """
    moving = [source for source in sources if editor.constant_value(source) is None]
    first = next((source for source in moving if dequantize_params(source) is not None), None)
    params = dequantize_params(first)
    if params is None or not params.is_int8 or any(dequantize_params(source) != params for source in moving):
        return None
    values = [
        source.args[0] if source in moving else _stored_constant(editor, source, params, move.name)
        for source in sources
    ]
    return None if None in values else (tuple(values), params, first)


def _stored_constant(editor: GraphEditor, source: Node, params: QParams, name: str) -> Node | None:
    if dequantize_params(source) == params:
        return source.args[0]
    value = editor.constant_value(source)
    assert value is not None, f"{source.name} is no constant"
    stored = torch.ops.quantized_decomposed.quantize_per_tensor(value.float(), *params.args())
    exact = torch.ops.quantized_decomposed.dequantize_per_tensor(stored, *params.args())
    return editor.constant(stored, f"{name}_stored") if torch.equal(exact, value) else None
