"""Parts of a graph that torch.export keeps as graphs of their own.

What stands under `no_grad`, `set_grad_enabled` or `autocast(enabled=False)` in `forward`, and functions that are compiled
once (`invoke_subgraph`), computes the same in its place: it is inlined. Control flow that depends on values (`torch.cond`,
`while_loop`, `map`, `scan`) is refused.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from cortex_m.errors import ModelError
from cortex_m.quantizer.report import source_location

# Where each has its graph among the arguments; the operands begin at the second number.
_INLINED = {
    "wrap_with_set_grad_enabled": (1, 2),
    "wrap_with_autocast": (4, 5),
    "invoke_subgraph": (0, 2),
    "wrap": (0, 1),
}


def inline_regions(model: GraphModule) -> None:
    """Does so in place, for regions in regions, too. Raises ModelError for control flow, and for autocast that is on."""
    inlined: list[str] = []
    for node in list(model.graph.nodes):
        if node.target is torch._C._set_grad_enabled:
            model.graph.erase_node(node)
            continue
        if not isinstance(node.target, HigherOrderOperator):
            continue
        name = node.target.name()
        if name not in _INLINED:
            raise ModelError(
                f"{_location(model, node)}: torch.{_public(name)} is control flow that the values of a run decide; it cannot "
                "be exported. Compute both ways and choose with torch.where, or write a fixed number of steps."
            )
        if name == "wrap_with_autocast" and node.args[2]:
            kind = str(node.args[1]).removeprefix("torch.")
            raise ModelError(
                f"{_location(model, node)}: torch.autocast computes in {kind} here, and int8 is made of float32. Leave it "
                "out, or export the model with autocast(enabled=False)."
            )
        position, first = _INLINED[name]
        graph = node.args[position]
        region = model.get_submodule(graph.target)
        inline_regions(region)
        _inline(model, node, region, node.args[first:])
        inlined.append(graph.target)
    model.graph.eliminate_dead_code()
    used = {node.target for node in model.graph.nodes if node.op in ("get_attr", "call_module")}
    for name in dict.fromkeys(inlined):
        if name not in used:
            model.delete_submodule(name)
    model.recompile()


def _location(model: GraphModule, node: Node) -> str:
    """The source line of `node`, or, where torch.export kept none for it, of the first operator in its graphs that has one."""
    if ":" in (location := source_location(node)):
        return location
    for argument in node.all_input_nodes:
        region = getattr(model, argument.target, None) if argument.op == "get_attr" else None
        for inner in region.graph.nodes if isinstance(region, GraphModule) else ():
            if ":" in (found := _location(region, inner)):
                return found
    return location


def _public(name: str) -> str:
    return {"map_impl": "map"}.get(name, name)


def _inline(model: GraphModule, node: Node, region: GraphModule, operands: tuple[Any, ...]) -> None:
    values: dict[Node, Any] = {}
    inputs = iter(operands)
    results: Any = ()
    for inner in region.graph.nodes:
        if inner.op == "placeholder":
            values[inner] = next(inputs)
        elif inner.op == "output":
            results = map_arg(inner.args[0], values.__getitem__)
        else:
            with model.graph.inserting_before(node):
                values[inner] = model.graph.node_copy(inner, values.__getitem__)
            if inner.op == "get_attr":
                values[inner].target = _adopt(model, region, inner.target)
    for user in list(node.users):
        if user.target is operator.getitem:
            user.replace_all_uses_with(results[user.args[1]])
            model.graph.erase_node(user)
    if node.users:
        node.replace_all_uses_with(results if isinstance(results, Node) else results[0])
    model.graph.erase_node(node)


def _adopt(model: GraphModule, region: GraphModule, name: str) -> str:
    """The name under which `model` has the constant `name` of one of its regions from now on."""
    value: Any = region
    for part in name.split("."):
        value = getattr(value, part)
    count, unique = 0, name.replace(".", "_")
    while hasattr(model, unique):
        count += 1
        unique = f"{name.replace('.', '_')}_{count}"
    if isinstance(value, torch.nn.Parameter):
        model.register_parameter(unique, value)
    elif isinstance(value, torch.Tensor):
        model.register_buffer(unique, value)
    else:
        setattr(model, unique, value)
    return unique
