"""What became of each op: the instructions of the lowered program, and what stayed float, with the reason.

`str(report)` is the text for people, `report.to_json()` the same for programs.
"""

import operator
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from executorch.exir import memory
from torch.export import ExportedProgram
from torch.fx import Node

from cortex_m.passes.model_value import ModelValue, model_value
from cortex_m.passes.qparams import torch_op
from cortex_m.passes.refusal_text import qualified
from cortex_m.target_config import CortexMTargetConfig


@dataclass(frozen=True)
class Instruction:
    """One kernel call of the program, in execution order."""

    index: int
    op: str  # "cortex_m::quantized_add"
    node: str
    module: str  # path of the source module, "features.0.0"
    source: str  # "model.py:12, in forward"
    shape: tuple[int, ...]  # of the output
    dtype: str
    portable: bool  # not an op of cortex_m
    value: ModelValue | None = None  # of the float model, that its output stands for


@dataclass(frozen=True)
class Refusal:
    """A node that was not lowered, and why."""

    node: str
    op: str
    reason: str
    module: str
    source: str
    allowed: bool = False  # by allow_fallback


@dataclass(frozen=True)
class BoundaryTensor:
    """An input or output of the program; the last four are None where it is not quantized.

    real = (stored - zero_point) * scale, with stored in [quant_min, quant_max].
    """

    name: str
    shape: tuple[int, ...]
    dtype: str  # "float32", "int8"
    scale: float | None = None
    zero_point: int | None = None
    quant_min: int | None = None
    quant_max: int | None = None

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape)) or "scalar"
        quantized = f", scale {self.scale:.9g}, zero point {self.zero_point}" if self.scale is not None else ""
        return f"{self.name}: {self.dtype} {shape}{quantized}"


@dataclass
class LoweringReport:
    """Filled by the passes, completed by `complete` once the graph is final."""

    target_config: CortexMTargetConfig
    instructions: list[Instruction] = field(default_factory=list)
    left_out: list[Instruction] = field(default_factory=list)  # copies that need no instruction; numbered as with them
    refusals: list[Refusal] = field(default_factory=list)
    output_orders: list[tuple[int, ...] | None] = field(default_factory=list)  # before lowering
    inputs: list[BoundaryTensor] = field(default_factory=list)
    outputs: list[BoundaryTensor] = field(default_factory=list)

    def clear(self) -> None:
        self.instructions.clear()
        self.left_out.clear()
        self.refusals.clear()

    def refuse(self, node: Node, reason: str) -> None:
        """Notes why `node` stays as it is; the first reason for a node is the one that counts."""
        if all(refusal.node != node.name for refusal in self.refusals):
            self.refusals.append(
                Refusal(node.name, str(torch_op(node) or node.target), reason, module_path(node), source_line(node))
            )

    def complete(self, program: ExportedProgram) -> None:
        """Lists the instructions of the final graph; every aten op that computes on float tensors is a refusal afterwards."""
        nodes = program.graph_module.graph.nodes
        present = {node.name for node in nodes}
        self.refusals = [refusal for refusal in self.refusals if refusal.node in present]
        self.instructions = []
        for node in nodes:
            op = torch_op(node)
            if node.op != "call_function" or not _is_instruction(node):
                continue
            value = node.meta.get("val")
            first = (
                value
                if isinstance(value, torch.Tensor)
                else next((item for item in value if isinstance(item, torch.Tensor)), None)
                if isinstance(value, (tuple, list))
                else None
            )
            name = op._schema.name if op is not None else str(node.target)
            portable = not name.startswith("cortex_m::")
            self.instructions.append(
                Instruction(
                    len(self.instructions), name, node.name, module_path(node), source_line(node),
                    tuple(first.shape) if first is not None else (),
                    str(first.dtype).removeprefix("torch.") if first is not None else "", portable, model_value(node),
                )
            )  # fmt: skip
            if portable and _touches_float(node) and not _orders_an_output(node):
                self.refuse(node, "no lowering to a cortex_m op is registered for it")

    def leave_out(self, positions: Collection[int]) -> None:
        """Takes instructions off the list that memory planning made unnecessary, and numbers the others anew."""
        self.left_out = [instruction for instruction in self.instructions if instruction.index in positions]
        kept = [instruction for instruction in self.instructions if instruction.index not in positions]
        self.instructions = [replace(instruction, index=index) for index, instruction in enumerate(kept)]

    def allow(self, names: Sequence[str]) -> list[str]:
        """Marks the refusals of those operators, "aten::cumsum", as allowed; returns the names that none is of."""
        used = {qualified(refusal.op) for refusal in self.refusals}
        self.refusals = [replace(refusal, allowed=qualified(refusal.op) in names) for refusal in self.refusals]
        return [name for name in names if name not in used]

    @property
    def layout_copies(self) -> list[Instruction]:
        """Transposes that remain: each moves a whole tensor."""
        return [instruction for instruction in self.instructions if instruction.op == "cortex_m::transpose"]

    @property
    def op_counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for instruction in self.instructions:
            counts[instruction.op] = counts.get(instruction.op, 0) + 1
        return dict(sorted(counts.items()))

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target_config.target_string,
            "instruction_sets": [backend.name.lower() for backend in self.target_config.backends],
            "inputs": [asdict(tensor) for tensor in self.inputs],
            "outputs": [asdict(tensor) for tensor in self.outputs],
            "op_counts": self.op_counts,
            "instructions": [asdict(instruction) for instruction in self.instructions],
            "refusals": [asdict(refusal) for refusal in self.refusals],
            "layout_copies": [instruction.node for instruction in self.layout_copies],
            "left_out": [asdict(instruction) for instruction in self.left_out],
        }

    def __str__(self) -> str:
        lines = [f"Lowering for {self.target_config}: {len(self.instructions)} instructions"]
        lines += [f"  in   {tensor}" for tensor in self.inputs]
        lines += [f"  out  {tensor}" for tensor in self.outputs]
        for i in self.instructions:
            shape = "x".join(map(str, i.shape))
            lines.append(f"  {i.index:4}  {i.op:42} {i.dtype:8} {shape:18} {i.module or '-':32} {i.source}{_kind(i)}")
        if self.layout_copies:
            lines.append(f"Layout copies: {', '.join(copy.node for copy in self.layout_copies)}")
        if self.left_out:
            names = ", ".join(f"{copy.node} ({copy.op})" for copy in self.left_out)
            lines.append(f"No copy at run time, the bytes lie where they are wanted: {names}")
        if not self.refusals:
            lines.append("Every op was lowered.")
        else:
            lines.append(f"Not lowered: {len(self.refusals)}")
            lines += [
                f"  {r.node} ({r.op}{', allowed' if r.allowed else ''}): {r.reason} [{r.module or '-'}; {r.source}]"
                for r in self.refusals
            ]
        return "\n".join(lines)


def _is_instruction(node: Node) -> bool:
    """Whether a call becomes an instruction of the .pte; a view of planned memory is none, unless it is a result."""
    if torch_op(node) == torch.ops.aten.view_copy.default:
        return any(user.op == "output" for user in node.users)
    return node.target not in (memory.alloc, operator.getitem)


def _kind(instruction: Instruction) -> str:
    return f"  (portable, {instruction.dtype})" if instruction.portable else ""


def _touches_float(node: Node) -> bool:
    """Whether a float tensor goes into `node` or comes out of it; an aten op on integers alone is no fall back to float."""
    values = [node.meta.get("val"), *(source.meta.get("val") for source in node.all_input_nodes)]
    tensors = [item for value in values for item in (value if isinstance(value, (tuple, list)) else [value])]
    return any(isinstance(tensor, torch.Tensor) and tensor.dtype.is_floating_point for tensor in tensors)


def _orders_an_output(node: Node) -> bool:
    """Whether `node` gives a result of the program the memory order it must have (RestoreOutputsPass)."""
    return torch_op(node) == torch.ops.dim_order_ops._clone_dim_order.default and all(
        user.op == "output" for user in node.users
    )


def module_path(node: Node) -> str:
    """Path of the innermost source module, "" for the root or when it is not known."""
    stack = node.meta.get("nn_module_stack") or {}
    return list(stack.values())[-1][0] if stack else ""


def source_line(node: Node) -> str:
    """ "file.py:12, in forward" of the user's own code: the last frame outside torch.

    Layers of an nn.Sequential have no such line: "nn.Linear" then, or "source unknown".
    """
    frames = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines()]
    own = [
        line for line in frames if line.startswith('File "') and not re.match(r'File "(<|.*/(torch|torchao)/)', line)
    ]
    if not own:
        kinds = [kind for _, kind in (node.meta.get("nn_module_stack") or {}).values()]
        name = str(getattr(kinds[-1], "__qualname__", kinds[-1])).rsplit(".", 1)[-1] if kinds else ""
        return f"nn.{name}" if hasattr(torch.nn, name) else "source unknown"
    path, rest = own[-1].removeprefix('File "').split('", line ', 1)
    number, _, function = rest.partition(", ")
    return f"{path.rsplit('/', 1)[-1]}:{number}, {function}"


def find_layer(report: LoweringReport, index: int) -> str | None:
    """Source module of instruction `index` of the .pte; None if the report has no such instruction."""
    return report.instructions[index].module if 0 <= index < len(report.instructions) else None
