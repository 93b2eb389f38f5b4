"""How an ATen op becomes cortex_m ops: one function for its overloads, one family a file.

    @lowers(torch.ops.aten.add.Tensor)
    def lower_add(lowering: Lowering, node: Node) -> None:
        left = lowering.quantized_input(node, 0)
        result = lowering.quantized_output(node)
        lowering.replace(result, node, lowering.emit("cortex_m::quantized_add", (...), node))

A function that cannot lower a node exactly raises Refusal with the reason, and changes nothing before it does.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch.fx import Node

if TYPE_CHECKING:
    from cortex_m.passes.lowering.context import Lowering

LoweringFunction = Callable[["Lowering", Node], None]

LOWERINGS: dict[torch._ops.OpOverload, LoweringFunction] = {}


class Refusal(Exception):
    """A node stays as it is; the message is the reason, for the report."""


def lowers(*targets: torch._ops.OpOverload) -> Callable[[LoweringFunction], LoweringFunction]:
    """Registers the decorated function for the given overloads."""

    def add(function: LoweringFunction) -> LoweringFunction:
        for target in targets:
            if target in LOWERINGS:
                raise ValueError(f"{target} has two lowerings")
            LOWERINGS[target] = function
        return function

    return add
