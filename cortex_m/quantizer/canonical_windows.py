"""Windows in the one form that the pattern table has: two spatial dimensions, a batch, one result.

  - convolutions, pools and batch norms over one dimension become those over two, the first of size 1;
  - layers without a batch dimension get one;
  - a maximum whose indices nobody reads becomes max_pool2d, and an adaptive one with windows of one size too;
  - a divisor of an average of its own becomes the weight of a depthwise convolution.

Each leaves unsqueeze and squeeze around it. Squeezes then move down through what works on each element alone, and meet
the next layer's unsqueeze, where both go: a stack of layers over one dimension stays in the two-dimensional form throughout.
"""

from __future__ import annotations

import operator

import torch
from torch.fx import GraphModule, Node

from cortex_m.quantizer.editing import attribute, insert_call, insert_constant, replace_call
from cortex_m.quantizer.match import argument, fake

aten = torch.ops.aten

# target: (the same over two dimensions, {position of a list: what the new dimension has there})
_ONE_DIMENSIONAL = {
    aten.conv1d.default: (aten.conv2d.default, {3: 1, 4: 0, 5: 1}),
    aten.conv1d.padding: (aten.conv2d.padding, {3: 1, 5: 1}),
    aten.conv_transpose1d.default: (aten.conv_transpose2d.input, {3: 1, 4: 0, 5: 0, 7: 1}),
    aten.max_pool1d.default: (aten.max_pool2d.default, {1: 1, 2: 1, 3: 0, 4: 1}),
    aten.avg_pool1d.default: (aten.avg_pool2d.default, {1: 1, 2: 1, 3: 0}),
    aten.adaptive_avg_pool1d.default: (aten.adaptive_avg_pool2d.default, {1: 1}),
    aten.adaptive_max_pool1d.default: (aten.adaptive_max_pool2d.default, {1: 1}),
}
_WEIGHTED = (aten.conv2d.default, aten.conv2d.padding, aten.conv_transpose2d.input)
_TWO_DIMENSIONAL = (
    *_WEIGHTED,
    aten.max_pool2d.default,
    aten.avg_pool2d.default,
    aten.adaptive_avg_pool2d.default,
    aten.adaptive_max_pool2d.default,
)
_WITH_INDICES = {
    aten.max_pool2d_with_indices.default: aten.max_pool2d.default,
    aten.max_pool1d_with_indices.default: aten.max_pool1d.default,
}
_ADAPTIVE_MAX = (aten.adaptive_max_pool1d.default, aten.adaptive_max_pool2d.default)

# Operators on each element alone, or on each channel: they do the same before a squeeze as after it.
_THROUGH_NAMES = (
    "relu", "relu6", "hardtanh", "clamp", "sigmoid", "tanh", "silu", "gelu", "hardswish", "hardsigmoid",
    "leaky_relu", "prelu", "elu", "softplus", "exp", "abs", "neg", "dropout", "batch_norm",
)  # fmt: skip
_THROUGH = {
    getattr(getattr(aten, name), overload)
    for name, overload in [
        *((name, "default") for name in _THROUGH_NAMES),
        *((name, "Tensor") for name in ("add", "sub", "mul")),
    ]
}


def make_windows_canonical(model: GraphModule, training: bool) -> None:
    """Does all of the above in place; batch norms stay where they are in training."""
    for node in list(model.graph.nodes):
        _drop_indices(model, node)
    for node in list(model.graph.nodes):
        if node.target in _ONE_DIMENSIONAL and fake(node) is not None:
            _add_dimension(model, node)
        elif node.target is aten.batch_norm.default and fake(node).dim() == 3 and not training:
            _around(model, node, node.target, node.args, 2)
    for node in list(model.graph.nodes):
        if node.target in _TWO_DIMENSIONAL and fake(node) is not None and fake(node.args[0]).dim() == 3:
            _around(model, node, node.target, node.args, 0)
    for node in list(model.graph.nodes):
        if node.target is aten.avg_pool2d.default and argument(node, 6) is not None:
            _make_depthwise(model, node)
    _sink_squeezes(model)


def reads_indices(node: Node) -> bool:
    """Whether a maximum's second result has a reader."""
    return any(user.target is operator.getitem and user.args[1] == 1 and user.users for user in node.users)


def _drop_indices(model: GraphModule, node: Node) -> None:
    if (node.target not in _WITH_INDICES and node.target not in _ADAPTIVE_MAX) or reads_indices(node):
        return
    values = [user for user in node.users if user.target is operator.getitem and user.args[1] == 0]
    if not values:
        return
    target, args = _WITH_INDICES.get(node.target), node.args
    if target is None:
        sizes = [(have, want) for have, want in zip(fake(node.args[0]).shape[-len(node.args[1]) :], node.args[1])]
        if any(have % want for have, want in sizes):
            return
        target = aten.max_pool1d.default if len(sizes) == 1 else aten.max_pool2d.default
        kernel = [have // want for have, want in sizes]
        args = (node.args[0], kernel, kernel)
    call = insert_call(model, target, args, node, node if fake(node) is not None else values[0])
    for value in values:
        replace_call(value, call)


def _add_dimension(model: GraphModule, node: Node) -> None:
    target, fill = _ONE_DIMENSIONAL[node.target]
    args = [argument(node, position) for position in range(len(node.target._schema.arguments))]
    for position, value in fill.items():
        if not isinstance(args[position], str) and len(args[position]) == 1:
            args[position] = [value, *args[position]]
    if target in _WEIGHTED:
        weight = args[1]
        if weight.op != "get_attr":
            return  # refused under its own name
        value = attribute(model, weight.target).unsqueeze(-2)
        args[1] = insert_constant(model, f"{weight.target.replace('.', '_')}_2d", value, node, node)
    if fake(node).dim() == 2:  # no batch
        source = insert_call(model, aten.unsqueeze.default, (args[0], 0), node, node)
        source = insert_call(model, aten.unsqueeze.default, (source, 2), node, node)
        value = insert_call(model, target, (source, *args[1:]), node, node)
        value = insert_call(model, aten.squeeze.dim, (value, 2), node, node)
        replace_call(node, insert_call(model, aten.squeeze.dim, (value, 0), node, node))
    else:
        _around(model, node, target, tuple(args), 2)


def _around(model: GraphModule, node: Node, target, args: tuple, dim: int) -> None:
    """`node` becomes `target` between an unsqueeze and a squeeze of `dim`."""
    source = insert_call(model, aten.unsqueeze.default, (args[0], dim), node, node)
    value = insert_call(model, target, (source, *args[1:]), node, node)
    replace_call(node, insert_call(model, aten.squeeze.dim, (value, dim), node, node))


def _make_depthwise(model: GraphModule, node: Node) -> None:
    """sum / divisor is a convolution of each channel with weights 1 / divisor; padding, counted or not, adds nothing."""
    source, kernel, stride, padding = (argument(node, position) for position in range(4))
    kernel, padding = _pair(kernel), _pair(padding)
    stride = _pair(stride) if stride else kernel
    channels = fake(node).shape[1]
    reach = [
        (out - 1) * step + size - have - before  # rows or columns behind the input that the last window needs
        for out, step, size, have, before in zip(fake(node).shape[2:], stride, kernel, fake(source).shape[2:], padding)
    ]
    if any(after > before for after, before in zip(reach, padding)):  # ceil_mode
        after = [max(amount, 0) for amount in reach]
        widths = [padding[1], after[1], padding[0], after[0]]
        source = insert_call(model, aten.constant_pad_nd.default, (source, widths, 0.0), node, node)
        padding = [0, 0]
    weight = insert_constant(
        model, f"{node.name}_weight", torch.full((channels, 1, *kernel), 1.0 / argument(node, 6)), node, node
    )
    args = (source, weight, None, stride, padding, [1, 1], channels)
    replace_call(node, insert_call(model, aten.conv2d.default, args, node, node))


def _pair(values: list[int]) -> list[int]:
    return [*values] * 2 if len(values) == 1 else [*values]


def _sink_squeezes(model: GraphModule) -> None:
    pending = [node for node in model.graph.nodes if node.target is aten.squeeze.dim]
    while pending:
        squeeze = pending.pop()
        source, dim = squeeze.args[0], squeeze.args[1]
        if fake(squeeze) is None or fake(squeeze).dim() == fake(source).dim():
            continue
        for user in list(squeeze.users):
            if user.target is aten.unsqueeze.default and user.args[1] == dim:
                replace_call(user, source)
            elif user.target in _THROUGH and (args := _unsqueezed(user, dim)) is not None:
                value = insert_call(model, user.target, args, user, user)
                value.kwargs = user.kwargs
                moved = insert_call(model, aten.squeeze.dim, (value, dim), user, user)
                replace_call(user, moved)
                pending.append(moved)


def _unsqueezed(user: Node, dim: int) -> tuple | None:
    """The arguments of `user` with what is before their squeezes; None if a tensor has no such squeeze."""
    args = list(user.args)
    by_channel = user.target in (aten.batch_norm.default, aten.prelu.default)
    if by_channel and dim < 2:
        return None  # channels are dimension 1
    count = 1 if by_channel else len(args)
    for position, value in enumerate(args[:count]):
        if not isinstance(value, Node):
            continue
        if value.target is not aten.squeeze.dim or value.args[1] != dim or fake(value).dim() != fake(user).dim():
            return None
        args[position] = value.args[0]
    return tuple(args)
