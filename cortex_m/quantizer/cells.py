"""Recurrent cells as the layers that they are: two linear layers, gates, and a new state.

gru_cell       h' = n + z (h - n)       r, z = sigmoid(W x + U h), n = tanh(W x + r (U h))
lstm_cell      c' = f c + i g           h' = o tanh(c'); i, f, o = sigmoid(W x + U h), g = tanh(W x + U h)
rnn_tanh_cell, rnn_relu_cell            h' = tanh(W x + U h), or its relu
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Node

from cortex_m.quantizer.editing import insert_call, replace_call
from cortex_m.quantizer.match import argument, fake

aten = torch.ops.aten


def unfold_cells(model: GraphModule) -> None:
    """Does the above in place."""
    for node in list(model.graph.nodes):
        if node.target is aten.gru_cell.default:
            replace_call(node, _gru(_Calls(model, node)))
        elif node.target in (aten.rnn_tanh_cell.default, aten.rnn_relu_cell.default):
            calls = _Calls(model, node)
            activation = aten.tanh.default if node.target is aten.rnn_tanh_cell.default else aten.relu.default
            replace_call(node, calls(activation, calls(aten.add.Tensor, calls.linear(0), calls.linear(1))))
        elif node.target is aten.lstm_cell.default and all(user.target is operator.getitem for user in node.users):
            results = _lstm(_Calls(model, node))
            for item in list(node.users):
                replace_call(item, results[item.args[1]])
            model.graph.erase_node(node)


class _Calls:
    """Writes calls in the place of a cell (input, state, W, U, bias of W, bias of U)."""

    def __init__(self, model: GraphModule, cell: Node) -> None:
        self._model, self._cell = model, cell

    def __call__(self, target: OpOverload, *args: Any) -> Node:
        item = next((user for user in self._cell.users if user.target is operator.getitem), self._cell)
        return insert_call(self._model, target, args, self._cell, item if fake(self._cell) is None else self._cell)

    @property
    def state(self) -> Any:
        """The state before; of an LSTM a list of two."""
        return self._cell.args[1]

    def linear(self, position: int) -> Node:
        """Of the input, or of the (first) state."""
        operand = self._cell.args[position]
        operand = operand[0] if isinstance(operand, (list, tuple)) else operand
        return self(aten.linear.default, operand, self._cell.args[2 + position], argument(self._cell, 4 + position))

    def parts(self, value: Node, count: int) -> list[Node]:
        size = fake(value).shape[-1] // count
        return [self(aten.slice.Tensor, value, -1, part * size, (part + 1) * size) for part in range(count)]


def _gru(calls: _Calls) -> Node:
    of_input, of_state = (calls.parts(calls.linear(position), 3) for position in (0, 1))
    reset, update = (
        calls(aten.sigmoid.default, calls(aten.add.Tensor, of_input[gate], of_state[gate])) for gate in (0, 1)
    )
    candidate = calls(aten.add.Tensor, of_input[2], calls(aten.mul.Tensor, reset, of_state[2]))
    new = calls(aten.tanh.default, candidate)
    kept = calls(aten.mul.Tensor, update, calls(aten.sub.Tensor, calls.state, new))
    return calls(aten.add.Tensor, new, kept)


def _lstm(calls: _Calls) -> tuple[Node, Node]:
    sums = calls.parts(calls(aten.add.Tensor, calls.linear(0), calls.linear(1)), 4)
    let_in, keep, let_out = (calls(aten.sigmoid.default, sums[gate]) for gate in (0, 1, 3))
    new = calls(aten.mul.Tensor, let_in, calls(aten.tanh.default, sums[2]))
    cell = calls(aten.add.Tensor, calls(aten.mul.Tensor, keep, calls.state[1]), new)
    return calls(aten.mul.Tensor, let_out, calls(aten.tanh.default, cell)), cell
