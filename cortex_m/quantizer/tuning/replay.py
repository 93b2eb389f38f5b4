"""Runs the calibration samples through a prepared graph again, node by node, all samples side by side."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.observers import InputRecorder


def is_observer(model: GraphModule, node: Node) -> bool:
    """Every module call in a prepared graph is an observer: it returns its input."""
    return node.op == "call_module"


def observed(model: GraphModule, node: Node) -> Node:
    """The node whose value reaches `node`, seen through observers."""
    while node.op == "call_module":
        node = node.args[0]
    return node


def attribute(model: torch.nn.Module, name: str) -> torch.Tensor:
    """The parameter or buffer `name`, dots included."""
    value = model
    for part in name.split("."):
        value = getattr(value, part)
    return value


def recorded_inputs(model: GraphModule) -> dict[Node, list[torch.Tensor]] | None:
    """The samples of each placeholder; None if one was not recorded or the numbers of samples differ."""
    samples: dict[Node, list[torch.Tensor]] = {}
    for node in model.graph.nodes:
        if node.op != "placeholder":
            continue
        recorders = [model.get_submodule(user.target) for user in node.users if user.op == "call_module"]
        recorders = [module for module in recorders if isinstance(module, InputRecorder)]
        if not recorders:
            return None
        samples[node] = recorders[0].samples
    counts = {len(values) for values in samples.values()}
    return samples if len(counts) == 1 else None


def replay(model: GraphModule, inputs: dict[Node, list[torch.Tensor]]) -> Iterator[tuple[Node, list]]:
    """Yields (node, its value for each sample) for every computed node, in graph order.

    Constants are read when a node that uses them runs, so a caller may change those of the nodes still to come.
    Values are dropped after their last user.
    """
    count = len(next(iter(inputs.values())))
    values: dict[Node, list] = {}
    remaining = {node: len(node.users) for node in model.graph.nodes}

    def value_of(node: Node, sample: int):
        return attribute(model, node.target) if node.op == "get_attr" else values[node][sample]

    for node in model.graph.nodes:
        if node.op in ("get_attr", "output"):
            continue
        if node.op == "placeholder":
            values[node] = inputs[node]
        elif node.op == "call_module":
            values[node] = [value_of(node.args[0], sample) for sample in range(count)]
        else:
            values[node] = [
                node.target(
                    *torch.fx.map_arg(node.args, lambda used: value_of(used, sample)),
                    **torch.fx.map_arg(node.kwargs, lambda used: value_of(used, sample)),
                )
                for sample in range(count)
            ]
        yield node, values[node]
        for used in node.all_input_nodes:
            remaining[used] -= 1
            if not remaining[used]:
                values.pop(used, None)
