"""Values that a graph computes from its parameters alone: a weight norm, a standardized or scaled weight, a table.

They are the same in every call, so they become constants before annotation, as if the model had stored them. What the
graph changes (a buffer that `forward` writes) and what it draws at random is none. All constants are contiguous.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export.unflatten import _assign_attr, _AttrKind
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from cortex_m.quantizer.aliasing import is_in_place, state
from cortex_m.quantizer.editing import attribute, insert_constant
from cortex_m.quantizer.match import fake

aten = torch.ops.aten

_LAYERS = {
    getattr(getattr(aten, name), overload)
    for name, overload in [
        *((f"conv{dims}d", overload) for dims in (1, 2, 3) for overload in ("default", "padding")),
        ("conv_transpose1d", "default"), ("conv_transpose2d", "input"), ("conv_transpose3d", "input"),
        ("linear", "default"),
    ]
}  # fmt: skip


class Constants:
    """The constants of a graph as it is; a node that is inserted later is looked up like the others."""

    def __init__(self, model: GraphModule) -> None:
        self._model = model
        self._state = state(model)
        self._values: dict[Node, Any] = {}

    def value(self, node: Any) -> Any:
        """What `node` is in every call, a tensor or a tuple of them; None if that depends on an input or on state."""
        if not isinstance(node, Node):
            return None
        if node not in self._values:
            self._values[node] = self._evaluate(node)
        return self._values[node]

    def tensor(self, node: Any) -> torch.Tensor | None:
        """The same where it is one tensor."""
        value = self.value(node)
        return value if isinstance(value, torch.Tensor) else None

    def forget(self, node: Node) -> None:
        """Has the value of `node` looked up again: its parameter was replaced."""
        self._values.pop(node, None)

    def _evaluate(self, node: Node) -> Any:
        if node.op == "get_attr":
            value = attribute(self._model, node.target)
            return value.detach() if isinstance(value, torch.Tensor) and node.target not in self._state else None
        if node.op != "call_function" or not node.all_input_nodes or not _is_function(node):
            return None
        if any(self.value(used) is None for used in node.all_input_nodes):
            return None
        with torch.no_grad():
            return node.target(*map_arg(node.args, self.value), **map_arg(node.kwargs, self.value))


def _is_function(node: Node) -> bool:
    """Whether the value depends on the arguments alone, and they stay as they are."""
    if node.target is operator.getitem:
        return True
    return (
        isinstance(node.target, OpOverload)
        and not is_in_place(node)
        and torch.Tag.nondeterministic_seeded not in node.target.tags
    )


def fold_constants(model: GraphModule) -> None:
    """Replaces what is computed from parameters alone by new parameters, in place.

    A value larger than what it is made of (a bias expanded to an image) stays a computation, unless it is the weight of
    a layer: the program would only grow.
    """
    constants = Constants(model)
    foldable = {
        node: value
        for node in model.graph.nodes
        if node.op == "call_function"
        and (value := constants.tensor(node)) is not None
        and fake(node) is not None
        and (value.numel() <= _stored(model, node) or any(_is_weight(node, user) for user in node.users))
    }
    for node, value in foldable.items():
        readers = [user for user in node.users if user not in foldable]
        if readers:
            constant = insert_constant(model, node.name, value.clone(memory_format=torch.contiguous_format), node, node)
            for user in readers:
                user.replace_input_with(node, constant)
    model.graph.eliminate_dead_code()


def make_constants_contiguous(model: GraphModule) -> bool:
    """Replaces the parameters and buffers that lie in another order by contiguous copies, in place; whether there were any.

    A weight from a channels_last module or from another framework is the same weight, and so becomes the same bytes.
    """
    names = {node.target for node in model.graph.nodes if node.op == "get_attr"}
    found = False
    for name in sorted(names):
        value = attribute(model, name)
        # Strides alone tell: a depthwise weight in channels_last is_contiguous(), and kernels still take another way.
        if isinstance(value, torch.Tensor) and value.stride() != torch.empty(value.shape, device="meta").stride():
            kind = _AttrKind.PARAMETER if isinstance(value, torch.nn.Parameter) else _AttrKind.BUFFER
            copy = value.detach().clone(memory_format=torch.contiguous_format)
            if kind is _AttrKind.PARAMETER:
                copy = torch.nn.Parameter(copy, requires_grad=value.requires_grad)
            _assign_attr(copy, model, name, kind)
            found = True
    return found


def _stored(model: GraphModule, node: Node) -> int:
    """Elements of all the parameters that `node` is made of."""
    seen, pending = {node}, [node]
    while pending:
        new = [used for used in pending.pop().all_input_nodes if used not in seen]
        seen.update(new)
        pending += new
    return sum(attribute(model, used.target).numel() for used in seen if used.op == "get_attr")


def _is_weight(node: Node, user: Node) -> bool:
    return user.target in _LAYERS and any(node is used for used in user.args[1:3])
