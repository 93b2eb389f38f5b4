"""The checks of the pattern table: each returns None, or the reason why a node stays float."""

from __future__ import annotations

import math

import torch
from torch.fx import Node

from cortex_m.quantizer.match import Match, argument, fake

aten = torch.ops.aten


def common(match: Match) -> str | None:
    """What every pattern demands of its tensors: float32, static shape, not a Python number."""
    for value in [*match.activations(), *match.nodes]:
        if not isinstance(value, Node):
            return f"operand {value!r} is a number, not a tensor"
        tensor = fake(value)
        if tensor is None and value.op != "get_attr":
            return f"'{value.name}' is not a single tensor"
        if tensor is None:
            continue
        if tensor.dtype != torch.float32:
            return f"'{value.name}' is {str(tensor.dtype).removeprefix('torch.')}, not float32"
        if any(not isinstance(size, int) for size in tensor.shape):
            return f"'{value.name}' has the dynamic shape {list(tensor.shape)}; export with static shapes"
    return None


def clamp_bounds(node: Node) -> tuple[float | None, float | None]:
    """(lowest, highest) value that an activation of the table lets through; None where it has no bound."""
    if node.target is aten.relu.default:
        return 0.0, None
    if node.target is aten.relu6.default:
        return 0.0, 6.0
    return argument(node, 1), argument(node, 2)


def tail(node: Node) -> str | None:
    """Bounds of an activation: numbers, in order."""
    low, high = clamp_bounds(node)
    if any(isinstance(bound, Node) for bound in (low, high)):
        return "the bounds of the clamp are not constant"
    if low is not None and high is not None and low > high:
        return f"the clamp's lower bound {low} is above its upper bound {high}"
    return None


def activation(match: Match) -> str | None:
    return tail(match.head)


def always(match: Match) -> str | None:
    return None


def _constants(match: Match) -> str | None:
    for position, name in ((1, "weight"), (2, "bias")):
        value = match.argument(position)
        if value is None and name == "bias":
            continue
        if not isinstance(value, Node) or value.op != "get_attr":
            return f"the {name} is not a constant"
    return None


def conv2d(match: Match) -> str | None:
    if (rank := fake(match.head).dim()) != 4:
        return f"its tensors have rank {rank}; add the batch dim, so that they have rank 4"
    return _constants(match)


def linear(match: Match) -> str | None:
    return _constants(match)


def add(match: Match) -> str | None:
    # `alpha` is keyword-only, so graph preparation cannot make it positional.
    if (alpha := match.head.kwargs.get("alpha", 1)) != 1:
        return f"alpha is {alpha}; only 1 is supported"
    shapes = [list(fake(node).shape) for node in match.activations() if fake(node) is not None]
    if any(shape != list(fake(match.head).shape) for shape in shapes):
        return f"its operands have the shapes {shapes[0]} and {shapes[-1]}; broadcasting is not supported"
    return None


def _spatial(node: Node) -> tuple[int, int]:
    return tuple(fake(node).shape[-2:])


def mean(match: Match) -> str | None:
    source, dims = match.argument(0), match.argument(1)
    rank = fake(source).dim()
    if rank != 4 or dims is None or sorted(dim % rank for dim in dims) != [2, 3]:
        return f"a mean over dims {dims} of a tensor of rank {rank}; only over dims [2, 3] of rank 4"
    return None


def adaptive_avg_pool2d(match: Match) -> str | None:
    source = match.argument(0)
    if fake(source).dim() != 4:
        return f"its input has rank {fake(source).dim()}, not 4"
    size, wanted = _spatial(source), _spatial(match.head)
    if any(have % want for have, want in zip(size, wanted)):
        return f"{size[0]}x{size[1]} does not divide into {wanted[0]}x{wanted[1]} windows of one size"
    return None


def avg_pool2d(match: Match) -> str | None:
    source = match.argument(0)
    if fake(source).dim() != 4:
        return f"its input has rank {fake(source).dim()}, not 4"
    if (divisor := match.argument(6)) is not None:
        return f"divisor_override={divisor} is not supported"
    kernel, stride, padding = (match.argument(position) for position in (1, 2, 3))
    kernel, padding = ([*value] * 2 if len(value) == 1 else [*value] for value in (kernel, padding))
    stride = kernel if not stride else [*stride] * 2 if len(stride) == 1 else [*stride]
    if match.argument(4):
        floor = tuple((n + 2 * p - k) // s + 1 for n, p, k, s in zip(_spatial(source), padding, kernel, stride))
        if floor != _spatial(match.head):
            return "ceil_mode=True adds windows that reach beyond the padded input"
    return None


def softmax(match: Match) -> str | None:
    rank = fake(match.head).dim()
    if (dim := match.argument(1)) % rank != rank - 1:
        return f"softmax over dim {dim} of rank {rank}; only over the last dim"
    return None


def permute(match: Match) -> str | None:
    if (rank := fake(match.head).dim()) > 4:
        return f"rank {rank}; at most 4"
    return None


def pad(match: Match) -> str | None:
    if match.head.target is aten.pad.default:
        mode, value = match.argument(2), match.argument(3)
    else:
        mode, value = "constant", match.argument(2)
    if mode != "constant":
        return f"padding mode {mode!r}; only 'constant'"
    if isinstance(value, Node) or not math.isfinite(value or 0):
        return f"padding with {value}; only with a finite constant"
    if any(width < 0 for width in match.argument(1)):
        return "a negative width crops; only padding is supported"
    if (rank := fake(match.head).dim()) > 4:
        return f"rank {rank}; at most 4"
    return None
