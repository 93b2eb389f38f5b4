"""Runs samples through a prepared graph, node by node, all samples side by side: in float, or rounded as int8 will be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import MinMaxObserver, PerChannelMinMaxObserver

from cortex_m.quantizer.observers import ActivationObserver, InputRecorder
from cortex_m.quantizer.tuning.exact import compute

Samples = dict[Node, list[torch.Tensor]]


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


def activation_observer(model: GraphModule, node: Node) -> ActivationObserver | None:
    module = model.get_submodule(node.target) if node.op == "call_module" else None
    return module if isinstance(module, ActivationObserver) else None


def recorded_inputs(model: GraphModule) -> Samples | None:
    """The samples of each placeholder; None if one was not recorded or the numbers of samples differ."""
    samples: Samples = {}
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


def select(samples: Samples, indices: list[int]) -> Samples:
    return {node: [values[index] for index in indices] for node, values in samples.items()}


def count(samples: Samples) -> int:
    return len(next(iter(samples.values())))


def rounded(module: torch.nn.Module, value: torch.Tensor) -> torch.Tensor:
    """float64: `value` on the int8 grid of an observer; as it is behind a module that is none of one activation or weight."""
    if not isinstance(module, (MinMaxObserver, PerChannelMinMaxObserver)):
        return value
    scale, zero_point = (parameter.double() for parameter in module.calculate_qparams())
    if isinstance(module, PerChannelMinMaxObserver):
        shape = [1] * value.dim()
        shape[module.ch_axis] = -1
        scale, zero_point = scale.view(shape), zero_point.view(shape)
    steps = (value.double() / scale).round_().add_(zero_point)
    return steps.clamp_(module.quant_min, module.quant_max).sub_(zero_point).mul_(scale)


def replay(
    model: GraphModule, inputs: Samples, *, quantized: bool = False, constants: dict[str, torch.Tensor] | None = None
) -> Iterator[tuple[Node, list]]:
    """Yields (node, its value for each sample) for every node that depends on an input, in graph order.

    Values are float64 and the same on every machine (`exact`). Constants are read when a node that uses them runs, so a
    caller may change those of the nodes still to come. Values are dropped after their last user.

    Args:
        quantized: round activations and weights as their observers say; biases stay.
        constants: take the place of the model's constants of these names.
    """
    size = count(inputs)
    values: dict[Node, list] = {}
    remaining = {node: len(node.users) for node in model.graph.nodes}

    def constant(node: Node) -> torch.Tensor:
        if node.op == "get_attr":
            return (constants or {}).get(node.target, attribute(model, node.target))
        value = constant(node.args[0])
        return rounded(model.get_submodule(node.target), value) if quantized else value

    for node in model.graph.nodes:
        if node.op in ("get_attr", "output") or observed(model, node).op == "get_attr":
            continue
        if node.op == "placeholder":
            values[node] = [_wide(value) for value in inputs[node]]
        elif node.op == "call_module":
            module = model.get_submodule(node.target)
            values[node] = [rounded(module, value) if quantized else value for value in values[node.args[0]]]
        else:
            fixed = {used: constant(used) for used in node.all_input_nodes if observed(model, used).op == "get_attr"}
            values[node] = [_call(node, fixed, values, sample) for sample in range(size)]
        yield node, values[node]
        for used in node.all_input_nodes:
            remaining[used] -= 1
            if not remaining[used]:
                values.pop(used, None)
        if not node.users:
            values.pop(node, None)


def outputs(model: GraphModule, inputs: Samples, **options: Any) -> list[list[torch.Tensor]]:
    """The floating-point outputs, for each sample; options as of `replay`."""
    wanted = set(model.graph.output_node().all_input_nodes)
    found: dict[Node, list] = {}
    for node, values in replay(model, inputs, **options):
        if node in wanted:
            found[node] = list(values)
    real = [
        values for values in found.values() if isinstance(values[0], torch.Tensor) and values[0].is_floating_point()
    ]
    return [[values[sample] for values in real] for sample in range(count(inputs))]


def _wide(value: torch.Tensor) -> torch.Tensor:
    return value.double() if value.is_floating_point() else value


def _call(node: Node, fixed: dict[Node, torch.Tensor], values: dict[Node, list], sample: int) -> Any:
    def value_of(used: Node) -> Any:
        return fixed[used] if used in fixed else values[used][sample]

    return compute(node.target, torch.fx.map_arg(node.args, value_of), torch.fx.map_arg(node.kwargs, value_of))
