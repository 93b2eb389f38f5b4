"""`Pattern`, one row of the table, and what the rows of all families share."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch._ops import OpOverload
from torch.fx import Node

from cortex_m.quantizer.match import Match, argument, fake

aten = torch.ops.aten


class Output(enum.Enum):
    """Whose scale and zero point the output of a pattern has."""

    OWN = "own"
    SHARED = "those of the input"
    SOFTMAX = "scale 1/256, zero point -128"
    MASKED = "own, of what the mask lets through"
    NONE = "none: truth values"


@dataclass(frozen=True)
class Pattern:
    """One row of the table.

    Args:
        name: how reports call it.
        heads: the ATen targets that start it.
        tails: targets that may follow as the only user of the head; they become the clamp of the same kernel.
        activations: positions of the head's arguments that are activations (a tensor or a list of tensors).
        weighted: argument 1 is a constant weight and argument 2 a constant bias or None.
        weight_axis: the dimension of the weight that has a scale for each of its indices, where weights are per channel.
        spread_scales: gives the function from those scales to one for each output channel; None where they are that.
        output: whose scale the output has.
        needs_neighbour: computes too little to be worth a quantize and a dequantize: int8 only beside other int8.
        check: returns the reason for a refusal, or None.
        limits: one line for people: what the check demands.
        dtypes: of the activations that the operators compute with.
    """

    name: str
    heads: tuple[OpOverload, ...]
    check: Callable[[Match], str | None]
    limits: str
    tails: tuple[OpOverload, ...] = ()
    activations: tuple[int, ...] = (0,)
    weighted: bool = False
    weight_axis: Callable[[Match], int] = lambda match: 0
    spread_scales: Callable[[Match], Callable[[torch.Tensor], torch.Tensor]] | None = None
    output: Output = Output.OWN
    needs_neighbour: bool = False
    dtypes: tuple[torch.dtype, ...] = (torch.int8,)


# In-place forms are absent: graph preparation turns them into these.
CLAMPS = (aten.relu.default, aten.relu6.default, aten.hardtanh.default, aten.clamp.default)


def common(match: Match) -> str | None:
    """What every pattern demands of its tensors: float32, static shape, not a Python number."""
    if (dtype := match.config.input_activation.dtype) not in match.pattern.dtypes:
        return f"{match.pattern.name} has no {str(dtype).removeprefix('torch.')} operator"
    results = () if match.pattern.output is Output.NONE else match.nodes
    for value in [*match.activations(), *results]:
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


def always(match: Match) -> str | None:
    return None


def constants(match: Match) -> str | None:
    """Check: weight (argument 1) and bias (argument 2) are constants of the model."""
    for position, name in ((1, "weight"), (2, "bias")):
        value = match.argument(position)
        if value is None and name == "bias":
            continue
        if not isinstance(value, Node) or value.op != "get_attr":
            return f"the {name} is not a constant"
    return None
