"""Finds operators that no kernel computes, before or after a program is made that cannot run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from executorch.exir import memory
from executorch.exir.operator.convert import to_out_variant
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node

from cortex_m.host.program import kernels
from cortex_m.passes.qparams import torch_op
from cortex_m.passes.report import Instruction, source_line

# What the runtime says when an operator refuses its arguments: why, and which instruction it is.
_REFUSAL = re.compile(r"(?P<reason>.+) \((?P<op>\w+::\w+) (?P<index>\d+)\)")
_UNDEFINED = ("aten::empty", "aten::empty_strided", "aten::empty_like", "dim_order_ops::_empty_dim_order")


def without_kernel(program: ExportedProgram) -> str | None:
    """One sentence on the first operator of a lowered program that no kernel computes; None if there is none.

    program: in the edge dialect, before memory is planned.
    """
    known = set(kernels())
    for node in program.graph_module.graph.nodes:
        op = torch_op(node) if node.op == "call_function" else None
        if op is None or node.target is memory.alloc:
            continue
        if op._schema.name in _UNDEFINED:
            return f"{source_line(node)}: {node.name} ({op._schema.name}) has values that nobody has set; use zeros or full."
        if _kernel(node) in known:
            continue
        return (
            f"{source_line(node)}: {node.name} stays in float, and the device has no kernel for {op._schema.name}: compute it "
            "from the operators of docs/portable_ops.md, or outside of the model."
        )
    return None


def refused_by_kernel(error: Exception, instructions: Sequence[Instruction]) -> str | None:
    """The sentence for a kernel's refusal of its arguments, with node and source line; None for another error."""
    match = _REFUSAL.fullmatch(str(error))
    if match is None or int(match["index"]) >= len(instructions):
        return None
    found = instructions[int(match["index"])]
    return f"{found.source}: {found.node} has no kernel on the device: {match['reason']} ({match['op']})."


def _kernel(node: Node) -> str | None:
    """Name of the form of a call that writes to memory of the caller; None if there is none."""
    op = torch_op(node)
    if op._schema.is_mutable:  # it is called as it is
        return _name(op)
    try:
        of_edge = op is not node.target
        return _name(node.target.to_out_variant() if of_edge else to_out_variant(op)[0])
    except RuntimeError:  # that torch has none
        return None


def _name(op: OpOverload) -> str:
    overload = op._schema.overload_name
    return f"{op._schema.name}.{overload}" if overload else op._schema.name
