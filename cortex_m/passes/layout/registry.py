"""How the layout pass treats an op: one rule for its overloads, one family a file.

    @lays_out(torch.ops.cortex_m.quantized_add.default)
    def follow(forms: Forms, node: Node) -> bool:
        forms.nhwc[node] = forms.editor.call_target(node.target, nhwc_args, node, node)
        return True

A rule returns True if it took care of the node: it made a form of its value, or changed it in place. Otherwise the node keeps its place
in the graph and takes NCHW inputs, as does every op without a rule. A rule that returns False has changed nothing.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch.fx import Node

if TYPE_CHECKING:
    from cortex_m.passes.layout.forms import Forms

LayoutRule = Callable[["Forms", Node], bool]

LAYOUT_RULES: dict[torch._ops.OpOverload, LayoutRule] = {}


def lays_out(*targets: torch._ops.OpOverload) -> Callable[[LayoutRule], LayoutRule]:
    """Registers the decorated function for the given overloads."""

    def add(rule: LayoutRule) -> LayoutRule:
        for target in targets:
            if target in LAYOUT_RULES:
                raise ValueError(f"{target} has two layout rules")
            LAYOUT_RULES[target] = rule
        return rule

    return add
