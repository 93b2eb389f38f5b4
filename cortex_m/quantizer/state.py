"""State: buffers that a model's `forward` changes, brought into one form before anything else is done to the graph.

Afterwards each is read once, by a clone at the beginning, and written once, by a copy_ at the end; between the two nothing is
changed in place. So a value is what it was when it was computed, whatever is put between the operators (an observer stands
behind the value, not before its reader), and no reader takes a buffer for a constant. The model has copies of its buffers:
calibration moves these, and not those of the module that was captured.
"""

from __future__ import annotations

import operator

import torch
from torch.export.unflatten import _assign_attr, _AttrKind
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree

from cortex_m.quantizer.editing import attribute, insert_call, is_changed, replace_call
from cortex_m.quantizer.match import argument, fake

aten = torch.ops.aten

# Layers: sums of products with weights, which keep their inputs and outputs in a range.
_MIXING = {
    aten.conv1d.default,
    aten.conv2d.default,
    aten.conv3d.default,
    aten.conv1d.padding,
    aten.conv2d.padding,
    aten.conv_transpose1d.default,
    aten.conv_transpose2d.input,
    aten.linear.default,
    aten.matmul.default,
    aten.mm.default,
    aten.bmm.default,
    aten.addmm.default,
    aten.softmax.int,
    aten.sigmoid.default,
    aten.tanh.default,
}


def make_state_explicit(model: GraphModule) -> GraphModule:
    """`model` itself if it changes no buffer, else a new one of the form above that computes the same.

    A model with inputs of dynamic shape is left as it is: lowering refuses it.
    """
    inputs = [node for node in model.graph.nodes if node.op == "placeholder"]
    if not any(_changes_buffer(node) for node in model.graph.nodes) or not all(map(_is_static, inputs)):
        return model
    args, kwargs = pytree.tree_unflatten([_example(node) for node in inputs], model.graph._codegen.pytree_info.in_spec)
    # Without decompositions: what is left of it is that changes in place become values of their own.
    functional = torch.export.export(model, args, kwargs).run_decompositions({}).module()
    _make_parts_cat(functional)
    _restore_names(functional)
    _read_and_write_once(functional)
    functional.graph.lint()
    functional.recompile()
    return functional


def initial_state(model: GraphModule) -> dict[str, torch.Tensor]:
    """Copies of the buffers that `model`, of the form above, changes, by name."""
    changed = [node.target for node in model.graph.nodes if node.op == "get_attr" and is_changed(node)]
    return {name: attribute(model, name).detach().clone() for name in changed}


def reset_state(model: GraphModule, initial: dict[str, torch.Tensor]) -> None:
    """Gives the buffers of `model` the values that `initial_state` has seen."""
    with torch.no_grad():
        for name, value in initial.items():
            attribute(model, name).copy_(value)


def find_feedback(graph: Graph) -> set[Node]:
    """Calls between what a buffer was and what it becomes, with nothing on the way there and back but operators that work element
    by element or move elements: an accumulator, a filter's decay. In int8 their roundings would add up from run to run."""
    nodes = list(graph.nodes)
    read = {node for node in nodes if node.op == "get_attr" and is_changed(node)}
    for node in nodes:
        if _keeps_elements(node) and any(used in read for used in node.all_input_nodes):
            read.add(node)
    written: set[Node] = set()
    for node in reversed(nodes):
        if any(user in written or _takes_over(user, node) for user in node.users if _keeps_elements(user)):
            written.add(node)
    return {node for node in read & written if node.op == "call_function"}


def _takes_over(copy: Node, value: Node) -> bool:
    return copy.target is aten.copy_.default and copy.args[1] is value and copy.args[0].op == "get_attr"


def _keeps_elements(node: Node) -> bool:
    return node.op == "call_function" and node.target not in _MIXING


def _changes_buffer(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    written = [a.alias_info is not None and a.alias_info.is_write for a in schema.arguments] if schema else []
    bases = [value for value, is_written in zip(node.args, written) if is_written and isinstance(value, Node)]
    return any(_owner(base).op == "get_attr" for base in bases)


def _owner(node: Node) -> Node:
    """The tensor whose memory `node` has: itself, or what it is a view of."""
    while node.op == "call_function" and node.args and isinstance(node.args[0], Node):
        returns = node.target._schema.returns if hasattr(node.target, "_schema") else []
        if not returns or returns[0].alias_info is None:
            break
        node = node.args[0]
    return node


def _is_static(node: Node) -> bool:
    value = fake(node)
    return value is None or all(isinstance(size, int) for size in value.shape)


def _example(node: Node):
    value = fake(node)
    if value is None:
        return node.meta.get("val")
    return (
        torch.zeros(value.shape, dtype=value.dtype).as_strided(value.shape, value.stride())
        if _is_dense(value)
        else (torch.zeros(value.shape, dtype=value.dtype))
    )


def _is_dense(value: torch.Tensor) -> bool:
    return (
        value.numel() > 0 and sum((n - 1) * step for n, step in zip(value.shape, value.stride())) == value.numel() - 1
    )


def _make_parts_cat(model: GraphModule) -> None:
    """A write to a slice is a cat of what is before it, what is written, and what is behind it: int8 knows cat."""
    for node in list(model.graph.nodes):
        if node.target is aten.copy.default:
            base, source = node.args[:2]
            if fake(source).dtype != fake(node).dtype:
                source = insert_call(model, aten.to.dtype, (source, fake(node).dtype), node, node)
            if fake(source).shape != fake(node).shape:
                source = insert_call(model, aten.expand.default, (source, list(fake(node).shape)), node, node)
            replace_call(node, source)
        elif node.target is aten.select_scatter.default:
            base, source, dim, index = node.args
            size, dim = fake(base).shape[dim], dim % fake(base).dim()
            source = insert_call(model, aten.unsqueeze.default, (source, dim), node, node)
            _replace_part(model, node, source, dim, index % size, index % size + 1)
        elif node.target is aten.slice_scatter.default and argument(node, 5) == 1:
            base, source, dim = node.args[0], node.args[1], argument(node, 2) % fake(node).dim()
            start, end, _ = slice(argument(node, 3), argument(node, 4)).indices(fake(base).shape[dim])
            _replace_part(model, node, source, dim, start, max(start, end))


def _replace_part(model: GraphModule, node: Node, part: Node, dim: int, start: int, end: int) -> None:
    base, size = node.args[0], fake(node).shape[dim]
    ends = [(0, start), (end, size)]
    before, after = (
        [insert_call(model, aten.slice.Tensor, (base, dim, low, high), node, node)] if low < high else []
        for low, high in ends
    )
    pieces = [*before, *([part] if start < end else []), *after]
    whole = pieces[0] if len(pieces) == 1 else insert_call(model, aten.cat.default, (pieces, dim), node, node)
    replace_call(node, whole)


def _restore_names(model: GraphModule) -> None:
    """Batch norm as the pattern table and the folding of layers know it."""
    for node in list(model.graph.nodes):
        if node.target is not aten._native_batch_norm_legit_no_training.default:
            continue
        if any(user.target is not operator.getitem or user.args[1] != 0 for user in node.users):
            continue
        values, (momentum, eps) = node.args[:5], node.args[5:7]
        norm = insert_call(model, aten.batch_norm.default, (*values, False, momentum, eps, False), node, node)
        for user in list(node.users):
            replace_call(user, norm)
        model.graph.erase_node(node)


def _read_and_write_once(model: GraphModule) -> None:
    first = next(node for node in model.graph.nodes if node.op not in ("placeholder", "get_attr"))
    for buffer in [node for node in model.graph.nodes if node.op == "get_attr" and is_changed(node)]:
        _assign_attr(attribute(model, buffer.target).detach().clone(), model, buffer.target, _AttrKind.BUFFER)
        readers = [user for user in buffer.users if not (user.target is aten.copy_.default and user.args[0] is buffer)]
        read = insert_call(model, aten.clone.default, (buffer,), first, first if fake(first) is not None else buffer)
        for reader in readers:
            reader.replace_input_with(buffer, read)
        if not readers:
            model.graph.erase_node(read)
    for node in list(model.graph.nodes):
        # A buffer that takes over an input as it is: torch.export loses the name of such a result when q and dq go between.
        if node.target is aten.copy_.default and node.args[1].op == "placeholder":
            node.replace_input_with(node.args[1], insert_call(model, aten.clone.default, (node.args[1],), node, node))
