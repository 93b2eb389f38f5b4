"""New nodes in an exported ATen graph: calls with fake values, and constants."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.unflatten import _assign_attr, _AttrKind
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from cortex_m.quantizer.match import fake

aten = torch.ops.aten


def attribute(model: GraphModule, name: str) -> torch.Tensor:
    """The parameter or buffer that a get_attr node names."""
    value = model
    for part in name.split("."):
        value = getattr(value, part)
    return value


def insert_call(model: GraphModule, target: OpOverload, args: tuple, before: Node, origin: Node) -> Node:
    """target(*args) ahead of `before`; for reports it comes from the source line of `origin`."""
    with model.graph.inserting_before(before):
        node = model.graph.call_function(target, args)
    node.meta = {
        key: value for key, value in origin.meta.items() if key in ("stack_trace", "nn_module_stack", "torch_fn")
    }
    mode = fake(origin).fake_mode if isinstance(fake(origin), FakeTensor) else _fake_mode(model)

    def value_of(used: Node) -> Any:
        if used.op == "get_attr" and fake(used) is None:
            return mode.from_tensor(attribute(model, used.target), static_shapes=True)
        return used.meta["val"]

    with mode, torch.no_grad():
        node.meta["val"] = target(*map_arg(args, value_of))
    return node


def _fake_mode(model: GraphModule):
    return next(fake(node).fake_mode for node in model.graph.nodes if isinstance(fake(node), FakeTensor))


def insert_constant(model: GraphModule, name: str, value: torch.Tensor, before: Node, origin: Node) -> Node:
    """A new parameter of the model under the first free name like `name`; it is trained if `value` asks for a gradient."""
    unique, count = name, 0
    while hasattr(model, unique):
        count += 1
        unique = f"{name}_{count}"
    parameter = torch.nn.Parameter(value.detach(), requires_grad=value.requires_grad)
    _assign_attr(parameter, model, unique, _AttrKind.PARAMETER)
    with model.graph.inserting_before(before):
        node = model.graph.get_attr(unique)
    mode = fake(origin).fake_mode if isinstance(fake(origin), FakeTensor) else _fake_mode(model)
    node.meta["val"] = mode.from_tensor(parameter, static_shapes=True)
    return node


def replace_call(node: Node, value: Node) -> None:
    """Readers of `node` read `value`, and `node` goes."""
    node.replace_all_uses_with(value)
    node.graph.erase_node(node)


_MOVES_OF_CONSTANTS = (
    aten.t.default,
    aten.transpose.int,
    aten.permute.default,
    aten.view.default,
    aten.reshape.default,
    aten.unsqueeze.default,
    aten.squeeze.dim,
    aten.contiguous.default,
    aten.clone.default,
    aten.detach.default,
    aten.numpy_T.default,
)


def is_changed(node: Node) -> bool:
    """Whether a get_attr node names a buffer that the model writes (`cortex_m.quantizer.state`): no constant."""
    return any(user.target is aten.copy_.default and user.args[0] is node for user in node.users)


def constant_value(model: GraphModule, node: Any) -> torch.Tensor | None:
    """The value of a constant of the model, seen through transposes and reshapes; None if `node` is none."""
    if not isinstance(node, Node):
        return None
    if node.op == "get_attr":
        value = attribute(model, node.target)
        return value if isinstance(value, torch.Tensor) and not is_changed(node) else None
    if node.target not in _MOVES_OF_CONSTANTS:
        return None
    source = constant_value(model, node.args[0])
    return None if source is None else node.target(source, *node.args[1:], **node.kwargs)
