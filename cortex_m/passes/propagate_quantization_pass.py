"""Moves quantize up and dequantize down through ops that only move data, so that these run on int8; then cancels pairs.

    move(dequantize(x))          ->  dequantize(move(x))
    quantize(move(y))            ->  move(quantize(y))
    quantize(dequantize(x))      ->  x with equal parameters, else an int8 requantization
"""

import torch
from torch.fx import Node

from cortex_m.passes.cortex_m_pass import CortexMPass
from cortex_m.passes.graph_editor import GraphEditor
from cortex_m.passes.lowering.movement import MOVEMENTS, rebuild_movement
from cortex_m.passes.lowering.registry import Refusal
from cortex_m.passes.lowering.requantize import emit_requantize
from cortex_m.passes.qparams import dequantize_params, quantize_params, torch_op


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
        if params is None or not params.is_int8:
            return
        while torch_op(quantize.args[0]) in MOVEMENTS:
            move = quantize.args[0]
            if len(move.users) > 1 or editor.constant_value(move) is not None:
                return
            earlier = editor.call_target(quantize.target, (move.args[0], *params.args()), quantize, quantize)
            moved = rebuild_movement(editor, move, earlier, params, quantize)
            if moved is None:
                editor.graph.erase_node(earlier)
                return
            quantize.replace_all_uses_with(moved)
            editor.erase_if_unused(quantize)
            quantize = earlier

    def _sink(self, editor: GraphEditor, move: Node) -> None:
        """move(dequantize(x)) -> dequantize(move(x))."""
        if torch_op(move) not in MOVEMENTS or not isinstance(move.args[0], Node):
            return
        dequantize = move.args[0]
        params = dequantize_params(dequantize)
        if params is None or not params.is_int8 or editor.constant_value(dequantize) is not None:
            return
        moved = rebuild_movement(editor, move, dequantize.args[0], params, move)
        if moved is None:
            return
        later = editor.call_target(dequantize.target, (moved, *params.args()), move, dequantize)
        move.replace_all_uses_with(later)
        editor.erase_if_unused(move)

    def _cancel(self, editor: GraphEditor, quantize: Node) -> None:
        params = quantize_params(quantize)
        source = quantize.args[0] if params is not None else None
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
        quantize.replace_all_uses_with(value)
        editor.erase_if_unused(quantize)
