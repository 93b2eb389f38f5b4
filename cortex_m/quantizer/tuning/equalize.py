"""Cross-layer equalization: gives the channels of a tensor similar ranges, without changing what the model computes.

Per-tensor quantization spends its 255 steps on the widest channel. A channel c may be multiplied by s[c] > 0 where
the layers that make it (convolution, linear) take the factor into their weights and bias, and those that read it
divide their weights by it (Nagel et al., "Data-free quantization through weight equalization and bias correction",
2019, arXiv:1906.04721; here the ranges are measured, not derived from the weights). Tensors that must share factors,
through add, pooling and clamps, form a group.

Which factors are best, `cortex_m.quantizer.tuning.factors` decides; here is what may be scaled together, and how.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.match import argument, fake
from cortex_m.quantizer.patterns import CLAMPS, clamp_bounds
from cortex_m.quantizer.tuning.replay import attribute, observed

aten = torch.ops.aten

_LAYERS = (aten.conv2d.default, aten.linear.default)
# Each output channel is a linear function, without offset, of the same input channel.
_CHANNELWISE = (aten.mean.dim, aten.adaptive_avg_pool2d.default, aten.avg_pool2d.default)
_RESHAPES = (aten.flatten.using_ints, aten.view.default, aten.reshape.default, aten.squeeze.dims)


@dataclass
class Group:
    """Tensors that share channel factors.

    Attributes:
        makers, readers: layers whose output or input is one of them.
        tensors: the nodes.
        clamps: (clamp node, upper bound) inside the group; the bound is infinite for relu.
    """

    tensors: list[Node] = field(default_factory=list)
    makers: list[Node] = field(default_factory=list)
    readers: list[Node] = field(default_factory=list)
    clamps: list[tuple[Node, float]] = field(default_factory=list)


class _Builder:
    def __init__(self, model: GraphModule):
        self.model = model
        self._parent: dict[Node, Node] = {}
        self._frozen: set[Node] = set()

    def find(self, node: Node) -> Node:
        self._parent.setdefault(node, node)
        while self._parent[node] is not node:
            node = self._parent[node]
        return node

    def join(self, a: Node, b: Node) -> None:
        a, b = self.find(a), self.find(b)
        self._parent[b] = a

    def freeze(self, *nodes: Node) -> None:
        self._frozen.update(nodes)

    def groups(self) -> dict[Node, Group]:
        frozen = {self.find(node) for node in self._frozen}
        found: dict[Node, Group] = {}
        for node in list(self._parent):
            if (root := self.find(node)) not in frozen:
                found.setdefault(root, Group()).tensors.append(node)
        return found


def _is_one_pixel(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether a reshape only drops the spatial dims of size one: [N, C, 1, 1] to [N, C]."""
    return before.dim() == 4 and tuple(before.shape[2:]) == (1, 1) and tuple(after.shape) == tuple(before.shape[:2])


def _has_channels(node: Node) -> bool:
    """Dim 1 is the channel dim: images, and rows of features."""
    tensor = fake(node)
    return tensor is not None and tensor.dim() == (2 if node.target is aten.linear.default else 4)


def find_groups(model: GraphModule) -> list[Group]:
    """The groups of a prepared graph whose channels can be rescaled."""
    build = _Builder(model)
    layers: list[Node] = []
    clamps: list[tuple[Node, float]] = []
    for node in model.graph.nodes:
        sources = [observed(model, used) for used in node.all_input_nodes]
        if node.op in ("call_module", "get_attr"):
            continue
        if node.op == "call_function" and node.target in _LAYERS:
            constants = [observed(model, used) for used in node.args[1:3] if isinstance(used, Node)]
            source = sources[0]
            if all(constant.op == "get_attr" for constant in constants) and len(constants) == 2 and _has_channels(node):
                build.find(node), build.find(source)
                layers.append(node)
                if fake(source) is None or fake(source).dim() != fake(node).dim():
                    build.freeze(source)
                continue
        elif node.target in CLAMPS:
            low, high = clamp_bounds(node)
            if low == 0 and (high is None or high > 0):
                build.join(sources[0], node)
                clamps.append((node, float("inf") if high is None else float(high)))
                continue
        elif node.target is aten.add.Tensor and len(node.args) == 2 and not node.kwargs:
            scalable = [source for source in sources if source.op != "get_attr" and fake(source) is not None]
            if len(scalable) == len(sources) and all(fake(source).shape == fake(node).shape for source in sources):
                for source in sources:
                    build.join(source, node)
                continue
        elif node.target in _CHANNELWISE and fake(sources[0]).dim() == 4:
            if node.target is not aten.mean.dim or sorted(dim % 4 for dim in argument(node, 1)) == [2, 3]:
                build.join(sources[0], node)
                continue
        elif node.target in _RESHAPES and _is_one_pixel(fake(sources[0]), fake(node)):
            build.join(sources[0], node)
            continue
        build.freeze(node, *sources)
    groups = build.groups()
    for layer in layers:
        if (group := groups.get(build.find(layer))) is not None:
            group.makers.append(layer)
        if (group := groups.get(build.find(observed(model, layer.args[0])))) is not None:
            group.readers.append(layer)
    for clamp, bound in clamps:
        if (group := groups.get(build.find(clamp))) is not None:
            group.clamps.append((clamp, bound))
    return [group for group in groups.values() if group.makers and group.readers]


def rescale(model: GraphModule, group: Group, scale: torch.Tensor) -> None:
    """Multiplies the channels of a group by `scale`: changes weights and biases in place."""
    for layer in group.makers:
        weight, bias = (attribute(model, observed(model, layer.args[position]).target) for position in (1, 2))
        weight.data.mul_(scale.view(-1, *[1] * (weight.dim() - 1)))
        bias.data.mul_(scale)
    for layer in group.readers:
        weight = weight_of(model, layer)
        weight.div_(scale.view(weight.shape[0], 1, weight.shape[2], 1))


def weight_of(model: GraphModule, layer: Node) -> torch.Tensor:
    """float32 [groups, outputs of a group, inputs of a group, taps] view of the weight of a conv2d or linear layer."""
    weight = attribute(model, observed(model, layer.args[1]).target)
    groups = argument(layer, 6) if layer.target is aten.conv2d.default else 1
    return weight.detach().view(groups, weight.shape[0] // groups, weight.shape[1], -1)
